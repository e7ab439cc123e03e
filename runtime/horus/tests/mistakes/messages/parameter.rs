horus::message! {
    /// A measured value.
    pub struct Measured<T> = "example/Measured" {
        value: T,
    }
}

fn main() {}
