use horus::zerocopy;

// All that zerocopy derives for an enum, so that the errors are about the variants alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[derive(zerocopy::FromZeros, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
#[zerocopy(crate = "horus::zerocopy")]
#[repr(u8)]
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
