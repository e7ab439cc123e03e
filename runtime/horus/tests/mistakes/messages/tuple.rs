horus::message! {
    /// How fast the wheels turn.
    pub struct WheelSpeed = "example/WheelSpeed" (f64, f64);
}

fn main() {}
