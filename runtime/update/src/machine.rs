//! The machine as an update finds it: which board it is, which version runs, and where things are.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::time::{MonotonicTime, pause};
use rustix::fs::{FlockOperation, flock, statvfs};
use rustix::io::Errno;

use crate::UpdateError;
use crate::key::Keys;
use crate::loader::Loader;
use crate::trial::Store;

/// Where updates are kept, below the root.
const PLACE: &str = "var/lib/horus/update";
/// What is being installed, in that folder: the transfer files of systemd-sysupdate name it (conf/base, `usr/lib/sysupdate.d`).
const STAGED: &str = "staged";
/// That a user holds the trial.
const HELD: &str = "held";
/// What became of the last update: one sentence.
const LAST: &str = "last";
/// Where udev names partitions, below the root.
const SLOTS: &str = "dev/disk/by-partlabel";
/// How long another process may have the lock.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is asked for meanwhile.
const LOOK: Duration = Duration::from_millis(20);
/// What the command line names the system's partition by.
const LABEL: &str = "root=PARTLABEL=horus_";

/// A machine, by its files.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

/// Held while an update is installed or its trial changes.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the kernel's lock lasts as long as the file is open")] File);

impl Machine {
    /// That whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The root of its files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its board, as its image was made for one.
    ///
    /// # Errors
    /// When the image does not say so.
    pub fn board(&self) -> Result<String, UpdateError> {
        let release = self.root.join("usr/lib/os-release");
        field(&release, "VARIANT_ID=").ok_or(UpdateError::NoBoard(release))
    }

    /// The version that runs: that of the system that the kernel was told to start, else what the system says of itself.
    ///
    /// # Errors
    /// When neither says so.
    pub fn running(&self) -> Result<String, UpdateError> {
        let line = fs::read_to_string(self.root.join("proc/cmdline")).unwrap_or_default();
        let release = self.root.join("usr/lib/os-release");
        let version = version_of(&line).map(str::to_owned).or_else(|| field(&release, "IMAGE_VERSION="));
        version.ok_or(UpdateError::NoVersion(release))
    }

    /// The kernel's identifier of this boot, as reports have it.
    pub fn boot_id(&self) -> String {
        let id = fs::read_to_string(self.root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default();
        id.trim().replace('-', "")
    }

    /// The keys by which it takes updates.
    ///
    /// # Errors
    /// When there is none, or a file that is none.
    pub fn keys(&self) -> Result<Keys, UpdateError> {
        Ok(Keys::read(&self.root)?)
    }

    /// Whether the system of a version is in a slot.
    pub(crate) fn has_system(&self, version: &str) -> bool {
        self.root.join(format!("{SLOTS}/horus_{version}")).exists()
    }

    /// The kernel images of its boot partition.
    pub fn loader(&self) -> Loader {
        Loader::at(&self.root.join("boot"))
    }

    /// The trial that goes on.
    pub fn trial(&self) -> Store {
        Store::at(&self.root)
    }

    /// The folder of what is being installed.
    pub fn staged(&self) -> PathBuf {
        self.folder().join(STAGED)
    }

    fn folder(&self) -> PathBuf {
        self.root.join(PLACE)
    }

    /// Bytes that are free where updates are kept.
    pub(crate) fn free(&self) -> io::Result<u64> {
        let space = statvfs(self.folder())?;
        Ok(space.f_bavail * space.f_frsize)
    }

    /// Takes the lock; who looks at the trial has it for a moment.
    ///
    /// # Errors
    /// When another process keeps it, or there is no place for it.
    pub fn lock(&self) -> Result<Lock, UpdateError> {
        let path = self.folder().join(".lock");
        let unkept = |cause: io::Error| UpdateError::Unkept { path: path.clone(), cause };
        fs::create_dir_all(self.folder()).map_err(unkept)?;
        let file = File::create(&path).map_err(unkept)?;
        let until = MonotonicTime::now().plus(PATIENCE);
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(file)),
                Err(Errno::WOULDBLOCK) if MonotonicTime::now() < until => pause(LOOK),
                Err(Errno::WOULDBLOCK) => return Err(UpdateError::Busy),
                Err(error) => return Err(unkept(error.into())),
            }
        }
    }

    /// Whether a user holds the trial: nothing is decided then.
    pub fn is_held(&self) -> bool {
        self.folder().join(HELD).exists()
    }

    /// Holds the trial, or lets it go on.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn hold(&self, is_held: bool) -> Result<(), UpdateError> {
        let path = self.folder().join(HELD);
        let changed =
            if is_held { File::create(&path).and_then(|file| file.sync_all()) } else { absent(fs::remove_file(&path)) };
        changed.and_then(|()| self.sync()).map_err(|cause| UpdateError::Unkept { path, cause })
    }

    /// What became of the last update, if there was one: one sentence.
    pub fn last(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder().join(LAST)).ok()?;
        text.lines().next().map(horus::outside::printable)
    }

    /// Keeps that sentence.
    pub(crate) fn set_last(&self, sentence: &str) -> Result<(), UpdateError> {
        let path = self.folder().join(LAST);
        let new = path.with_extension("new");
        let kept = fs::write(&new, format!("{sentence}\n"))
            .and_then(|()| File::open(&new)?.sync_all())
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| self.sync());
        kept.map_err(|cause| UpdateError::Unkept { path, cause })
    }

    /// An empty folder for what is being received.
    pub(crate) fn clear_staged(&self) -> Result<PathBuf, UpdateError> {
        let folder = self.staged();
        self.remove_staged()?;
        fs::create_dir_all(&folder).map_err(|cause| UpdateError::Unkept { path: folder.clone(), cause })?;
        Ok(folder)
    }

    pub(crate) fn remove_staged(&self) -> Result<(), UpdateError> {
        let folder = self.staged();
        absent(fs::remove_dir_all(&folder)).map_err(|cause| UpdateError::Unkept { path: folder, cause })
    }

    fn sync(&self) -> io::Result<()> {
        File::open(self.folder())?.sync_all()
    }
}

/// What is not there need not be removed.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// The version whose system a command line starts.
pub(crate) fn version_of(command_line: &str) -> Option<&str> {
    command_line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix(LABEL))
        .filter(|version| !version.is_empty())
}

/// A field of os-release.
fn field(file: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().rev().find_map(|line| line.strip_prefix(key))?;
    Some(value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
}
