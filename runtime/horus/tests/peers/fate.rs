//! What else a test wants to know of a peer, or to do to it.

use rustix::process::{Pid, Signal, kill_process};

use super::Peer;

impl Peer {
    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the peer ends by itself or by somebody's signal; true if it says that all went well.
    pub fn ended_with_success(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

/// In a peer: ends it with its parent, however that one ends. A peer that loops for ever would otherwise outlive a parent
/// that was killed, or that its test harness aborted.
pub fn end_with_parent() {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
}
