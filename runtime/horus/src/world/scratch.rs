//! The directory of a world: in memory, gone with its owner, and swept by the next one if its owner was killed.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

/// Where worlds are.
const PARENT: &str = "/dev/shm";

/// What their directories are called.
const PREFIX: &str = "horus-world-";

/// A directory is made before it is locked. No process takes so long between the two.
const YOUNG: Duration = Duration::from_secs(10);

/// A directory in memory that goes with its owner.
pub struct Scratch {
    directory: TempDir,
    /// Locked as long as the owner lives, which the kernel sees to.
    _lock: File,
}

impl Scratch {
    /// A new one; removes those whose owners are gone.
    ///
    /// # Errors
    /// When the kernel has no directory or lock to give.
    pub fn new() -> io::Result<Self> {
        sweep();
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(PARENT)?;
        let lock = File::open(directory.path())?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { directory, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes the directories of this user's virtual worlds whose owners were killed; returns which. [`VirtualWorld`](super::VirtualWorld) does
/// so when it is made.
pub fn sweep() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(PARENT).into_iter().flatten().flatten();
    let worlds = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    worlds.map(|entry| entry.path()).filter(|path| is_abandoned(path).unwrap_or(false) && remove(path)).collect()
}

fn remove(path: &Path) -> bool {
    std::fs::remove_dir_all(path).is_ok()
}

/// Whether a directory is this user's, and no living process has it.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    // Every user may write to the parent: a link, or what belongs to another user, is no world.
    let found = path.symlink_metadata()?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    if found.modified()?.elapsed().is_ok_and(|age| age < YOUNG) {
        return Ok(false);
    }
    Ok(flock(File::open(path)?, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    /// As if nothing had been made or removed in it for a minute.
    fn age(path: &Path) {
        let times = std::fs::FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(60));
        File::open(path).unwrap().set_times(times).unwrap();
    }

    #[test]
    fn what_a_killed_world_left_is_swept_and_a_living_one_is_not() {
        let living = Scratch::new().unwrap();
        // Its owner is gone, and took the lock with it.
        let left = tempfile::Builder::new().prefix(PREFIX).tempdir_in(PARENT).unwrap().keep();
        std::fs::write(left.join("imu.topic"), "").unwrap();
        assert!(!is_abandoned(&left).unwrap(), "it may be in the making");
        age(&left);
        age(living.path());
        drop(Scratch::new().unwrap());
        assert!(!left.exists() && living.path().exists());
    }

    #[test]
    fn a_link_is_nobodys_world() {
        let target = tempfile::tempdir_in(PARENT).unwrap();
        let link = Path::new(PARENT).join(format!("{PREFIX}link-{}", std::process::id()));
        std::os::unix::fs::symlink(target.path(), &link).unwrap();
        age(target.path());
        let answer = is_abandoned(&link);
        std::fs::remove_file(&link).unwrap();
        assert!(!answer.unwrap() && target.path().exists());
    }
}
