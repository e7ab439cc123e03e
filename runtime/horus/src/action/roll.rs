//! Which clients of an action live. Asking the kernel takes system calls, so a step does not: a thread beside the loops looks, and the server
//! reads two words.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ends::observe::{Observation, Start};

/// What the last look found.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    /// How many looks are over.
    looks: AtomicU64,
    /// The lanes that had a living owner.
    living: AtomicU64,
}

impl Roll {
    pub fn looks(&self) -> u64 {
        // Acquire: who sees a look's number sees what it found, or what a later one did.
        self.looks.load(Ordering::Acquire) // SYNC POINT: roll-look
    }

    /// Whether the owner of this lane is gone who was there when so many looks were over. A look that had begun by then may have missed it.
    pub fn is_gone(&self, lane: usize, since: u64) -> bool {
        self.looks() >= since.saturating_add(2) && self.living.load(Ordering::Relaxed) >> (lane & 63) & 1 == 0
    }
}

/// Who looks.
pub(crate) struct Looker {
    file: PathBuf,
    topic: Option<Observation>,
    roll: Arc<Roll>,
}

impl Looker {
    pub fn new(file: PathBuf, roll: Arc<Roll>) -> Self {
        Self { file, topic: None, roll }
    }

    /// Looks who lives. Makes system calls. What cannot be told changes nothing.
    pub fn look(&mut self) {
        if self.topic.as_ref().is_none_or(|topic| !topic.is_current()) {
            self.topic = Observation::open(&self.file, Start::Back(0)).ok().flatten();
        }
        let Some(living) = self.topic.as_ref().and_then(|topic| topic.publishers().ok()) else { return };
        let lanes = living.iter().fold(0_u64, |lanes, (lane, _)| lanes | 1 << (lane & 63));
        self.roll.living.store(lanes, Ordering::Relaxed);
        // Release: the pair of the server's Acquire.
        self.roll.looks.fetch_add(1, Ordering::Release); // SYNC POINT: roll-look
    }
}
