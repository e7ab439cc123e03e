//! What else a test wants to know of a peer, or to do to it.

use std::os::unix::process::ExitStatusExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::time::Timespec;

use super::Peer;

impl Peer {
    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the peer ends by itself or by a signal; true if it says that all went well.
    pub fn ended_with_success(mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Whether no thread of the peer executes any more, in whatever namespace, and nothing of its memory is left. It stays a
    /// zombie.
    ///
    /// A process that ends gives up its memory before its files, so the end of its output is the later of the two.
    pub fn is_dead(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let is_over = waitid(WaitId::Pid(Pid::from_child(&self.child)), options).unwrap().is_some();
        let mut output = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        let immediately = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut output, Some(&immediately)).unwrap();
        is_over && output[0].revents().contains(PollFlags::HUP)
    }

    /// Reaps a dead peer and expects that it died of SIGKILL: one that found something wrong ends otherwise. A shell between
    /// tells of the signal by 128 and its number.
    pub fn was_killed(mut self) {
        let status = self.child.wait().unwrap();
        let kill = Signal::KILL.as_raw();
        let was_killed = status.signal() == Some(kill) || status.code() == Some(128 + kill);
        assert!(was_killed, "the peer ended by itself: {status}");
    }
}

/// In a peer: ends it with its parent, however that one ends. A peer that loops for ever would otherwise outlive a parent
/// that was killed, or that its test harness aborted.
pub fn end_with_parent() {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
}
