horus::message! {
    /// A value and whether it counts.
    pub struct Reading = "example/Reading" {
        /// 0 or 1.
        is_valid: u8,
        /// Starts at byte 8.
        value: f64,
        /// Seven bytes follow it.
        sensor: u8,
    }
}

fn main() {}
