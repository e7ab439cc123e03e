//! How a node leaves its safe state: because a user asked for it.

use super::Runner;
use crate::executor::change::ChangeKind;
use crate::figures::State;
use crate::node::Window;

impl Runner<'_> {
    /// Has a node in its safe state run its steps again.
    pub fn rearm(&self) {
        self.figures.rearm();
    }

    /// Leaves the safe state if a user asked for it: misses before count no more.
    pub(super) fn arm_if_asked(&mut self) {
        if self.state == State::Safe && self.figures.take_rearming() {
            self.state = State::Running;
            self.figures.set_state(State::Running);
            self.window = Window::new(&self.parts.on_miss);
            self.tell(ChangeKind::Armed, 0, 1);
        }
    }
}
