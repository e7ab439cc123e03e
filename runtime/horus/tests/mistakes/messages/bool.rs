horus::message! {
    /// Whether a lamp is on.
    pub struct Lamp = "example/Lamp" {
        /// Not every byte is `true` or `false`.
        is_on: bool,
    }
}

fn main() {}
