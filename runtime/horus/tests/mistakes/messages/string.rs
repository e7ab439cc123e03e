horus::message! {
    /// What a robot is called.
    pub struct Name = "example/Name" {
        /// The text stands elsewhere, where no other process can read it.
        text: String,
    }
}

fn main() {}
