//! One determinism run at a time: two would measure each other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::time::MonotonicTime;
use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

use horus::time::pause;

/// Where the lock of a machine's runs is.
pub const DEFAULT_FILE: &str = "/run/horus/determinism.lock";

/// How long a run waits for the watch to stand aside: it looks every second, and is the last to get a busy CPU.
const WATCH_PATIENCE: Duration = Duration::from_secs(15);

/// Held as long as the run; the kernel gives it back however the process ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "open, therefore locked")] File);

/// The lock cannot be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another run has it.
    #[error(
        "another determinism run ({holder}) is measuring, and two would measure each other; wait for it or end it: \
         systemctl stop horus-determinism"
    )]
    Held {
        /// The other process, as far as it is known.
        holder: String,
    },
    /// No lock file could be opened.
    #[error("cannot lock {path}: {cause}; run as root or name a lock file with --lock")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Takes the lock at `path`, and writes our process number into it for the process that is refused.
pub fn take(path: &Path) -> Result<Lock, LockError> {
    let unusable = |cause: io::Error| LockError::Unusable { path: path.to_owned(), cause };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(unusable)?;
    }
    // An ordinary user may not write the machine's lock file, and reading it is enough to see and to take the lock.
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .or_else(|cause| File::open(path).map_err(|_| cause))
        .map_err(unusable)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut holder = String::new();
            let _ = file.take(20).read_to_string(&mut holder);
            // A holder that could only read has not written its number, and an earlier one's may still stand there.
            let alive = holder.trim().parse::<u32>().ok().filter(|pid| Path::new(&format!("/proc/{pid}")).exists());
            let holder = alive.map_or("unknown process".to_owned(), |pid| format!("process {pid}"));
            return Err(LockError::Held { holder });
        }
        Err(cause) => return Err(unusable(cause.into())),
    }
    // Only information: a lock without it still locks.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock(file))
}

/// The lock that the watch holds while it measures, beside the one of the runs at `path`.
pub fn of_watch(path: &Path) -> PathBuf {
    path.with_extension("watch")
}

/// Waits until the watch stands aside, and keeps it there as long as the lock is held. `None` where there is nothing to lock, and so no
/// watch.
///
/// # Errors
/// When the watch does not stand aside: then two measure each other.
pub fn quiet_watch(path: &Path) -> Result<Option<Lock>, LockError> {
    let end = MonotonicTime::now().plus(WATCH_PATIENCE);
    loop {
        match take(&of_watch(path)) {
            Ok(lock) => return Ok(Some(lock)),
            Err(LockError::Unusable { .. }) => return Ok(None),
            Err(held) if MonotonicTime::now() >= end => return Err(held),
            Err(_) => pause(Duration::from_millis(20)),
        }
    }
}

/// Whether a process holds the lock at `path`. It is looked up and not tried: a try would refuse a run that begins at that moment.
pub fn is_held(path: &Path) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let (device, inode) = (about.dev(), about.ino());
    let name = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    locks.lines().any(|line| line.contains("FLOCK") && line.split_whitespace().any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_and_told_who_is_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run/determinism.lock");
        let first = take(&path).unwrap();
        let error = take(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(first);
        take(&path).unwrap();
    }

    #[test]
    fn a_lock_file_that_can_only_be_read_still_locks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("determinism.lock");
        let first = take(&path).unwrap();
        // Root may write whatever the mode says, so this is what an ordinary user's second try comes down to.
        let read_only = File::open(&path).unwrap();
        assert_eq!(flock(&read_only, FlockOperation::NonBlockingLockExclusive), Err(rustix::io::Errno::WOULDBLOCK));
        drop(first);
        flock(&read_only, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(matches!(take(&path), Err(LockError::Held { .. })), "and it keeps others out");
    }

    #[test]
    fn a_held_lock_is_seen_without_a_try() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().join("determinism.lock");
        assert!(!is_held(&path), "never locked");
        let held = take(&path).unwrap();
        assert!(is_held(&path));
        drop(held);
        assert!(!is_held(&path));
    }

    #[test]
    fn a_run_keeps_the_watch_away_and_waits_until_it_has_gone() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().join("determinism.lock");
        let watch = take(&of_watch(&path)).unwrap();
        let run = std::thread::spawn({
            let path = path.clone();
            move || quiet_watch(&path)
        });
        drop(watch);
        let quiet = run.join().unwrap().unwrap();
        assert!(matches!(take(&of_watch(&path)), Err(LockError::Held { .. })));
        drop(quiet);
        assert!(quiet_watch(Path::new("/proc/no/lock")).unwrap().is_none());
    }

    #[test]
    fn an_unusable_lock_file_is_named() {
        let error = take(Path::new("/proc/no/lock")).unwrap_err().to_string();
        assert!(error.contains("/proc/no/lock") && error.contains("--lock"), "{error}");
    }
}
