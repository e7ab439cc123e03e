//! Builds the program for the processor of another machine, as one file that needs no library there.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use super::project::Project;

/// What to build for, from what `uname -m` says there. With musl a program carries its C library, so it runs on every image,
/// whatever that was built from.
pub fn target_for(machine: &str) -> Result<String, String> {
    match machine {
        "x86_64" | "aarch64" => Ok(format!("{machine}-unknown-linux-musl")),
        other => Err(format!("no program can be built for its processor '{other}'")),
    }
}

/// Builds the program and returns its file.
pub fn build(project: &Project, target: &str) -> Result<PathBuf, String> {
    ensure_standard_library(target)?;
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--bin", &project.name, "--target", target]);
    let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
    if target.ends_with("-musl") && std::env::var_os(&linker).is_none() {
        // Rust brings this one: no compiler for the other processor has to be installed.
        command.env(linker, "rust-lld");
    }
    run(&mut command)?;
    Ok(project.target.join(target).join("release").join(&project.name))
}

/// Rust's own library for that processor.
fn ensure_standard_library(target: &str) -> Result<(), String> {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let output = output.map_err(|error| format!("cannot start rustc: {error}"))?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if folder.is_dir() {
        return Ok(());
    }
    println!("fetching Rust's library for {target}");
    let added = run(Command::new("rustup").args(["target", "add", target]));
    added.map_err(|error| format!("{error}: Rust's library for {target} is missing, and rustup is what fetches it"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let arguments = command.get_args().collect::<Vec<_>>().join(OsStr::new(" ")).to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`{name} {arguments}` failed")),
        Err(error) => Err(format!("cannot start {name}: {error}")),
    }
}
