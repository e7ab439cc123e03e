horus::message! {
    /// A measured distance.
    pub struct Distance = "example/Distance" {
        /// Without a value there are bytes that mean nothing.
        metres: Option<f32>,
    }
}

fn main() {}
