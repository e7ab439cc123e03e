#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Idle,
    Running,
}

horus::message! {
    /// What a gripper does.
    pub struct Gripper = "example/Gripper" {
        /// Not every byte is a variant.
        mode: Mode,
    }
}

fn main() {
    let _ = (Mode::Idle, Mode::Running);
}
