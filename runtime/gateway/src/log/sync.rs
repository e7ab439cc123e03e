//! A thread that writes segments to the disk, so that no thread waits for one that need not.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use horus_sys::failpoint;
use rustix::io::Errno;

use super::segment::Segment;

/// What the thread and its owner tell each other.
#[derive(Default)]
struct State {
    is_busy: AtomicBool,
    failures: AtomicU64,
    /// What the kernel said at the last one.
    error: AtomicI32,
}

/// The thread; it ends, when everything is on the disk, with its owner.
pub struct Syncer {
    work: Option<Sender<Arc<Segment>>>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the kernel has no thread to give.
    pub fn start() -> io::Result<Self> {
        let (work, orders) = channel::<Arc<Segment>>();
        let state = Arc::new(State::default());
        let seen = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("log-sync".into()).spawn(move || {
            for segment in orders {
                failpoint!("thread:before");
                let synced = segment.sync();
                failpoint!("thread:after");
                if let Err(error) = synced {
                    seen.error.store(error.raw_os_error(), Ordering::Relaxed); // a word for a person: a newer one serves as well
                    seen.failures.fetch_add(1, Ordering::Relaxed); // a counter
                }
                seen.is_busy.store(false, Ordering::Relaxed); // nothing is handed over by it
            }
        })?;
        Ok(Self { work: Some(work), state, thread: Some(thread) })
    }

    /// Has a segment written; false if the disk is still busy with the one before, and `must` is not said.
    pub fn order(&self, segment: &Arc<Segment>, must: bool) -> bool {
        let was_busy = self.state.is_busy.swap(true, Ordering::Relaxed);
        if was_busy && !must {
            return false;
        }
        self.work.as_ref().is_some_and(|work| work.send(Arc::clone(segment)).is_ok())
    }

    /// How often the kernel could not write a segment.
    pub fn failures(&self) -> u64 {
        self.state.failures.load(Ordering::Relaxed)
    }

    /// What the kernel said when it could not the last time.
    pub fn error(&self) -> Option<Errno> {
        let error = self.state.error.load(Ordering::Relaxed);
        (error != 0).then(|| Errno::from_raw_os_error(error))
    }

    /// Waits until everything that was ordered is written; nothing more is from then on.
    pub fn finish(&mut self) {
        self.work = None; // the thread's loop ends
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there was printed there
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.finish();
    }
}
