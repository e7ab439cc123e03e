//! Where a thread's topics are, when the environment has no say: in a virtual world.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

thread_local! {
    static HERE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// While it lives, [`Directory::from_environment`](super::Directory::from_environment) gives this directory to the thread that made it,
/// and no other. Scopes may be nested: the innermost counts.
#[must_use = "the scope ends when this is dropped"]
pub struct Scope {
    before: Option<PathBuf>,
    /// Of this thread.
    _bound: PhantomData<*const ()>,
}

impl Scope {
    /// From now on, topics of this thread are in `directory`.
    pub fn enter(directory: &Path) -> Self {
        Self { before: HERE.replace(Some(directory.to_owned())), _bound: PhantomData }
    }
}

impl Scope {
    /// As [`enter`](Self::enter), until [`end_all`](Self::end_all): for who cannot keep a scope.
    pub fn stay(directory: &Path) {
        HERE.set(Some(directory.to_owned()));
    }

    /// Whether this thread is in one.
    pub fn is_entered() -> bool {
        HERE.with_borrow(Option::is_some)
    }

    /// From now on, the environment says where topics of this thread are.
    pub fn end_all() {
        HERE.set(None);
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        HERE.set(self.before.take());
    }
}

/// The directory of the innermost scope of this thread.
pub(super) fn current() -> Option<PathBuf> {
    HERE.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::super::Directory;
    use super::*;

    #[test]
    fn a_scope_is_of_its_thread_and_ends() {
        let (outer, inner) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let here = || Directory::from_environment().unwrap().path().to_owned();
        let scope = Scope::enter(outer.path());
        assert_eq!(here(), outer.path());
        assert!(Scope::is_entered() && !std::thread::spawn(Scope::is_entered).join().unwrap());
        {
            let _nested = Scope::enter(inner.path());
            assert_eq!(here(), inner.path());
        }
        assert_eq!(here(), outer.path());
        assert_eq!(std::thread::spawn(current).join().unwrap(), None);
        drop(scope);
        assert_eq!(current(), None);
    }
}
