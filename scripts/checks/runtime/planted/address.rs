//! A use after free on purpose: a value is read after its box was dropped. The address sanitizer must report it.

fn main() {
    let number = Box::new(std::env::args().count());
    let address: *const usize = &raw const *number;
    drop(number);
    // SAFETY: there is none; that is what must be found.
    println!("{}", unsafe { address.read_volatile() });
}
