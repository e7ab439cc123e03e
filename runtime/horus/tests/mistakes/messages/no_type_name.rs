horus::message! {
    /// How fast the wheels turn.
    pub struct WheelSpeed {
        left: f64,
        right: f64,
    }
}

fn main() {}
