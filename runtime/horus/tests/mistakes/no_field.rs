horus::message! {
    /// Something happened.
    pub struct Event = "example/Event" {}
}

fn main() {}
