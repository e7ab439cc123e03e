//! What else a test wants to know of a peer, or to do to it.

use std::os::unix::process::ExitStatusExt;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

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

    /// Whether no thread of the peer executes any more. It stays a zombie.
    ///
    /// That `/proc/PID/stat` says Z is not enough: it speaks of the main thread, which may end before the others.
    pub fn is_dead(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), options).unwrap().is_some()
    }

    /// Reaps a dead peer and expects that it died of SIGKILL: one that found something wrong ends otherwise.
    pub fn was_killed(mut self) {
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "the peer ended by itself: {status}");
    }
}

/// In a peer: ends it with its parent, however that one ends. A peer that loops for ever would otherwise outlive a parent
/// that was killed, or that its test harness aborted.
pub fn end_with_parent() {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
}
