horus::message! {
    /// Something happened.
    pub struct Nudge = "example/Nudge" {}
}

fn main() {}
