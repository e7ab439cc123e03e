horus::message! {
    /// How fast the wheels turn.
    pub struct WheelSpeed = "example/WheelSpeed" {
        /// Left wheel, radians per second.
        left: f64,
        /// Right wheel, radians per second.
        pub right: f64,
    }
}

fn main() {}
