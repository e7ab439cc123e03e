//! Told by the kernel when a topic's file gets its name: a topic is read from its first message on, also if it holds few.
//!
//! Where the kernel has no watch to give, the gateway looks every tenth of a second, and counts what it missed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use horus_shm::directory::Directory;
use rustix::fs::inotify;

/// A watch over the directory of the topics.
pub struct Arrivals(OwnedFd);

impl Arrivals {
    /// Begins to watch; `None` where the kernel refuses.
    pub fn watch(directory: &Directory) -> Option<Self> {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).ok()?;
        let names = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        inotify::add_watch(&watch, directory.path(), names).ok()?;
        Some(Self(watch))
    }

    /// Forgets what came so far: the caller looks at all topics now.
    pub fn clear(&self) {
        let mut bytes = [0; 4096];
        while rustix::io::read(&self.0, &mut bytes).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for Arrivals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
