//! Who a peer says it is: for people who look at a topic, and for nothing else.
//!
//! A process number means something only in its own PID namespace, so the namespace's number stands beside it. Whether a
//! peer lives is told by its lock (`peers::locks`), never by these numbers.

use std::fmt;

use crate::sync::{AtomicU64, Ordering};

/// A process, as it calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Process number in its namespace; 0 when it is not known.
    pub pid: u32,
    /// Inode of the PID namespace; 0 when it is not known.
    pub namespace: u64,
}

/// Words of an identity in a segment.
pub(crate) const IDENTITY_WORDS: usize = 2;

impl Identity {
    /// This process.
    pub fn own() -> Self {
        Self { pid: std::process::id(), namespace: own_namespace() }
    }

    /// Whether the number means something to this process.
    pub fn is_of_this_namespace(&self) -> bool {
        self.namespace == own_namespace()
    }

    /// The identity in two words. Relaxed, here and below: nothing follows from it.
    pub(crate) fn load(words: &[AtomicU64]) -> Self {
        let [pid, namespace] = [0, 1].map(|word: usize| words[word].load(Ordering::Relaxed));
        Self { pid: u32::try_from(pid).unwrap_or(0), namespace }
    }

    pub(crate) fn store(&self, words: &[AtomicU64]) {
        words[0].store(self.pid.into(), Ordering::Relaxed);
        words[1].store(self.namespace, Ordering::Relaxed);
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { pid: 0, .. } => out.write_str("a process that has not said its number yet"),
            Self { pid, .. } if self.is_of_this_namespace() => write!(out, "process {pid}"),
            Self { pid, namespace } => {
                write!(out, "process {pid} of another PID namespace, pid:[{namespace}]: a container's, see lsns")
            }
        }
    }
}

/// Inode of this process's PID namespace; 0 where `/proc` is not mounted.
fn own_namespace() -> u64 {
    rustix::fs::stat(c"/proc/self/ns/pid").map_or(0, |stat| stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_come_back_as_they_were_stored() {
        let words: Vec<_> = (0..IDENTITY_WORDS).map(|_| AtomicU64::new(0)).collect();
        let own = Identity::own();
        own.store(&words);
        assert_eq!(Identity::load(&words), own);
        words[0].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(Identity::load(&words).pid, 0, "no process number");
    }

    #[test]
    fn a_number_of_another_namespace_is_told_apart() {
        let own = Identity::own();
        assert_eq!(own.to_string(), format!("process {}", own.pid));
        let other = Identity { namespace: own.namespace + 1, ..own };
        assert!(other.to_string().contains("another PID namespace"), "{other}");
    }
}
