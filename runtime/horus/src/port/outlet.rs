//! The executor's half of an output, and what it shares with the step's: the topic, in whose slots the messages of a step wait.
//!
//! Step and executor take turns with it, behind a [`Gate`] that makes no thread wait. When the executor's half is dropped, which
//! is the program's end, it takes the topic with it: an output that lives longer holds neither a publisher's place nor the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus_shm::ends::{Payload as Size, Publication};
use horus_shm::ring::NotStaged;
use horus_sys::gate::{Gate, Inside};

use super::lost::{Counts, Set};

/// What is done with a message that is set.
enum Use {
    /// It is remembered as what is safe: before the program runs.
    Learning(Publication),
    /// It is staged.
    Running(Publication),
    /// Nothing: the program has ended.
    Ended,
}

/// What the step and the executor use in turn.
struct Desk {
    is_used_for: Use,
    /// What is safe, if that is known.
    safe: Option<Box<[u8]>>,
}

/// What both halves of an output hold.
pub(super) struct Shared {
    desk: Gate<Desk>,
    /// Whether something is staged: what the executor looks at after each step. Written inside of the gate only, and it guards nothing.
    is_staged: AtomicBool,
    pub counts: Arc<Counts>,
}

impl Shared {
    /// Has `stage` put a message behind those that are staged. `payload` gives its bytes, which are asked for only before the program runs.
    #[inline(always)]
    pub fn set(
        &self,
        stage: impl FnOnce(&mut Publication) -> Result<(), NotStaged>,
        payload: impl FnOnce(Size) -> Box<[u8]>,
    ) -> Set {
        let Some(mut desk) = self.desk.enter() else { return self.counts.refuse(Set::Outside) };
        let Use::Running(publication) = &mut desk.is_used_for else { return self.learn(desk, payload) };
        match stage(publication) {
            Ok(()) => {
                self.is_staged.store(true, Ordering::Relaxed);
                Set::Taken
            }
            Err(NotStaged::Full) => self.counts.refuse(Set::Full),
            Err(NotStaged::Beyond) => self.counts.refuse(Set::Beyond),
        }
    }

    /// The size is looked up here: a step that had it at hand would keep a register for it.
    #[cold]
    #[inline(never)]
    fn learn(&self, mut desk: Inside<'_, Desk>, payload: impl FnOnce(Size) -> Box<[u8]>) -> Set {
        let Use::Learning(publication) = &desk.is_used_for else { return self.counts.refuse(Set::Outside) };
        let payload = payload(publication.payload());
        desk.safe = Some(payload);
        Set::Taken
    }
}

/// An output, seen by its executor.
pub(crate) struct Outlet {
    topic: String,
    shared: Arc<Shared>,
}

impl Outlet {
    /// An outlet of a topic that is open.
    pub(super) fn new(topic: &str, publication: Publication) -> Self {
        let desk = Gate::new(Desk { is_used_for: Use::Learning(publication), safe: None });
        let shared = Shared { desk, is_staged: AtomicBool::new(false), counts: Arc::default() };
        Self { topic: topic.to_owned(), shared: Arc::new(shared) }
    }

    /// For the step's half.
    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// The topic's name.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// What it did not publish.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.shared.counts
    }

    /// What was set so far is not published: the last of it is what is safe. From now on it is.
    pub fn learn_safe(&mut self) {
        let mut desk = self.wait_for_desk();
        desk.is_used_for = match std::mem::replace(&mut desk.is_used_for, Use::Ended) {
            Use::Learning(publication) | Use::Running(publication) => Use::Running(publication),
            Use::Ended => Use::Ended,
        };
    }

    /// The bytes of what is safe.
    pub fn safe(&self) -> Option<Box<[u8]>> {
        self.wait_for_desk().safe.clone()
    }

    /// Publishes what was set since the last time. A cycle that sets nothing costs one look.
    #[inline(always)]
    pub fn publish(&mut self, stamp_ns: u64) {
        if self.shared.is_staged.load(Ordering::Relaxed) {
            self.release(stamp_ns);
        }
    }

    #[inline]
    fn release(&mut self, stamp_ns: u64) {
        // Where another thread sets at this moment, what is staged goes with the next cycle.
        let Some(mut desk) = self.shared.desk.enter() else { return };
        if let Use::Running(publication) = &mut desk.is_used_for {
            publication.release_staged(stamp_ns);
            self.shared.is_staged.store(false, Ordering::Relaxed);
        }
    }

    /// Forgets what was set since the last time, and counts it.
    #[cold]
    pub fn discard(&mut self) {
        if !self.shared.is_staged.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut desk) = self.shared.desk.enter() else { return };
        if let Use::Running(publication) = &mut desk.is_used_for {
            self.shared.counts.discard(publication.take_back_staged());
            self.shared.is_staged.store(false, Ordering::Relaxed);
        }
    }

    /// Publishes what is safe, if that is known, in place of what was set since the last time.
    pub fn publish_safe(&mut self, stamp_ns: u64) {
        self.discard();
        let Some(mut desk) = self.shared.desk.enter() else { return };
        let Desk { is_used_for: Use::Running(publication), safe: Some(safe) } = &mut *desk else { return };
        match publication.stage_payload(safe) {
            Ok(()) => drop(publication.release_staged(stamp_ns)),
            Err(_) => drop(self.shared.counts.refuse(Set::Full)),
        }
    }

    /// For who is in no loop. Who is inside leaves at once; a nap lets it, whatever its priority is.
    fn wait_for_desk(&self) -> Inside<'_, Desk> {
        loop {
            if let Some(desk) = self.shared.desk.enter() {
                return desk;
            }
            std::thread::park_timeout(Duration::from_micros(100));
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        let ended = std::mem::replace(&mut self.wait_for_desk().is_used_for, Use::Ended);
        drop(ended); // outside of the gate: it makes system calls
    }
}
