horus::message! {
    /// What a gripper does.
    pub enum Mode = "example/Mode" {
        Idle,
        Running,
    }
}

fn main() {}
