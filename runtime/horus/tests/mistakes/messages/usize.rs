horus::message! {
    /// How many parts were counted.
    pub struct Parts = "example/Parts" {
        /// As large as the machine likes.
        count: usize,
    }
}

fn main() {}
