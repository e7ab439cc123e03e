//! What a log promises of messages, and what it says when the disk does not take them.
//!
//! The kernel tells a failure of writing once. If it is asked again it may say that all is well, and what it could not write is not on
//! the disk. So nothing is asked twice: the segment takes no more, and what was not promised is said to be lost.

use horus_sys::clock::monotonic_ns;
use horus_sys::failpoint;
use rustix::io::Errno;

use super::sync::Syncer;
use super::{Durability, Log, LogError};

/// How often it is looked whether segments are too old.
const CLEAN_UP_NS: u64 = 1_000_000_000;

impl Log {
    /// To be called when a few messages were appended: what [`Durability`] promises of them is done. Also looks after old segments.
    ///
    /// # Errors
    /// With [`Durability::Each`], when the disk did not take something since the last commit. What was appended since then may be
    /// lost in a power cut, and no later commit promises it.
    pub fn commit(&mut self) -> Result<(), LogError> {
        let now = monotonic_ns();
        let kept = self.keep_promise(now);
        failpoint!("commit:kept");
        if now.saturating_sub(self.cleaned_up_ns) >= CLEAN_UP_NS {
            self.cleaned_up_ns = now;
            if let Err(error) = self.clean_up() {
                self.trouble = Some(error);
            }
        }
        kept
    }

    fn keep_promise(&mut self, now: u64) -> Result<(), LogError> {
        match self.options.durability {
            Durability::None => {}
            Durability::Each => {
                self.sync_active();
                let doubtful = self.counts.appended - std::mem::replace(&mut self.promised, self.counts.appended);
                if let Some(error) = self.broken.take() {
                    self.counts.doubtful += doubtful;
                    return Err(error);
                }
            }
            Durability::Interval(interval) => {
                self.look_at_syncer();
                let is_due = self.unsynced && now.saturating_sub(self.synced_ns) >= interval.as_nanos() as u64;
                if is_due && self.syncer.as_ref().is_some_and(|syncer| syncer.order(&self.active.segment, false)) {
                    (self.synced_ns, self.unsynced) = (now, false);
                }
            }
        }
        Ok(())
    }

    /// Has the active segment written, and waits for it; where the disk did not take it, it is closed.
    pub(super) fn sync_active(&mut self) {
        if !std::mem::replace(&mut self.unsynced, false) {
            return;
        }
        failpoint!("sync:before");
        let synced = self.active.segment.sync();
        failpoint!("sync:after");
        if let Err(error) = synced {
            self.counts.sync_failures += 1;
            self.broken = Some(LogError::disk(&self.active.path, error));
            self.active.close();
        }
    }

    /// Takes up what the thread could not have written.
    fn look_at_syncer(&mut self) {
        let failures = self.syncer.as_ref().map_or(0, Syncer::failures);
        if failures > self.syncer_failures {
            self.syncer_failures = failures;
            let error = self.syncer.as_ref().and_then(Syncer::error).unwrap_or(Errno::IO);
            self.trouble = Some(LogError::disk(&self.directory, error));
            self.active.close();
        }
    }

    /// What went wrong since this was asked last, and broke no promise of [`append`](Self::append) or [`commit`](Self::commit).
    pub fn trouble(&mut self) -> Option<LogError> {
        self.look_at_syncer();
        self.trouble.take()
    }

    /// The end: everything is on the disk, whatever the durability but for none.
    ///
    /// # Errors
    /// When the disk did not take it.
    pub fn end(&mut self) -> Result<(), LogError> {
        self.unsynced = true;
        let ended = match self.options.durability {
            Durability::None => Ok(()),
            Durability::Each => self.keep_promise(monotonic_ns()),
            Durability::Interval(_) => {
                if let Some(syncer) = &mut self.syncer {
                    syncer.finish();
                }
                self.look_at_syncer();
                self.sync_active();
                self.broken.take().or(self.trouble.take()).map_or(Ok(()), Err)
            }
        };
        failpoint!("end:synced");
        ended
    }
}
