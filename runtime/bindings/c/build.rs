//! Names the shared library as programs look for it: by the first number of the interface, so that a later one stands beside it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Not the file's name, which is Cargo's; `scripts/install-library` installs it under this one.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhorus.so.1");
}
