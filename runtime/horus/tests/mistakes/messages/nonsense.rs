horus::message! {
    WheelSpeed: f64
}

fn main() {}
