//! Whether RustDDS' own threads live.
//!
//! RustDDS 0.15 ends such a thread when its wait is interrupted. That happens to all waits of a process that is stopped and goes on
//! (SIGSTOP and SIGCONT, a debugger, a frozen machine), and nothing tells it: the participant is there, and hears and says nothing more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How the names of its threads begin; the kernel keeps 15 bytes of a name.
const NAME: &str = "RustDDS ";

/// The threads of a participant.
#[derive(Debug, Default)]
pub struct Threads(BTreeSet<PathBuf>);

impl Threads {
    /// Runs what makes a participant, and finds its threads.
    pub fn of<T>(make: impl FnOnce() -> T) -> (T, Self) {
        let before = Self::now();
        let made = make();
        (made, Self(Self::now().0.difference(&before.0).cloned().collect()))
    }

    /// All such threads of this process.
    fn now() -> Self {
        let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let is_one =
            |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with(NAME));
        Self(entries.map(|entry| entry.path()).filter(is_one).collect())
    }

    /// Whether none of them ended. Two calls of the system, a microsecond or two each.
    pub fn live(&self) -> bool {
        self.0.iter().all(|thread| Path::exists(thread))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::Builder;

    use super::*;

    #[test]
    fn a_thread_that_ended_is_missed() {
        let (started, is_started) = channel();
        let (end, is_ended) = channel::<()>();
        let name = "RustDDS of a test".to_owned();
        let begin = move || {
            let thread = Builder::new().name(name).spawn(move || {
                started.send(()).unwrap();
                let _ = is_ended.recv();
            });
            is_started.recv().unwrap();
            thread.unwrap()
        };
        let (thread, threads) = Threads::of(begin);
        assert!(threads.live() && threads.0.len() == 1, "{threads:?}");
        drop(end);
        thread.join().unwrap();
        // The kernel takes it off the list a moment after it let `join` go on.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while threads.live() {
            assert!(std::time::Instant::now() < end, "{threads:?}");
            std::thread::yield_now();
        }
    }
}
