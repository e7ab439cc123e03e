horus::message! {
    /// A path.
    pub struct Path = "example/Path" {
        /// The numbers stand elsewhere, where no other process can read them.
        points: Vec<f64>,
    }
}

fn main() {}
