//! Kernel images that the boot loader counts starts of: which version is started next, which one is kept, and which is given up.
//!
//! systemd-boot starts a kernel image by its file's name in `EFI/Linux` of the boot partition (systemd's `AUTOMATIC_BOOT_ASSESSMENT`):
//!
//! ```text
//! horus_0.1.0.efi          kept: it is started as often as it is the newest
//! horus_0.2.0+3.efi        on trial: three starts are left
//! horus_0.2.0+2-1.efi      after the first of them
//! horus_0.2.0+0-3.efi      given up: it is started only where nothing else is left
//! ```
//!
//! The loader counts before it starts the kernel, so a version that hangs before its first program counts, too. To keep a version is to take the
//! count out of its name. systemd's own program for that asks the firmware which file was started, and a PREEMPT_RT kernel has no runtime services
//! of the firmware; ours is told the version by the running system, whose kernel image has it in its command line.
//!
//! # Trade-offs
//! A name changes by one rename, which vfat may write as a new name first, and then without the old one. A power cut between the two leaves two names
//! for one content. Either starts the version, so nothing is removed or replaced then: that would free what the other name stands for.
//!
//! vfat makes the new name with nothing behind it, and adds length and place of the content with the file's own data (`vfat_rename` of Linux 6.12).
//! So the file is written to the disk before its folder is. A name with nothing behind it, as a power cut may still leave, is none: the loader reads
//! no version in it, and starts another one.
//!
//! A count of 3 starts is smaller than a trial, which lasts until three boots have a valid report. So each boot of the version that reaches its
//! programs has the count [begin anew](Loader::renew): the loader leaves a version that never gets there three times in a row.

mod version;

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use version::compare;

/// Where the loader looks, below the boot partition.
const PLACE: &str = "EFI/Linux";
/// How often the loader starts a version that never says that it runs.
pub const TRIES: u32 = 3;
/// What the name of a kernel image of ours begins and ends with.
const NAME: (&str, &str) = ("horus_", ".efi");

/// A kernel image on the boot partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelImage {
    /// Its version, and that of the system that it starts.
    pub version: String,
    /// How often the loader may start it; `None` where it does not count.
    pub tries: Option<Tries>,
}

/// The loader's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// Starts that are left.
    pub left: u32,
    /// Starts that were made.
    pub done: u32,
}

impl KernelImage {
    /// Reads a file's name; `None` where it is no kernel image of ours. An installer may have written `+3-0` for `+3`.
    pub fn from_name(name: &str) -> Option<Self> {
        let stem = name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?;
        let counted = stem.rsplit_once('+').and_then(|(version, count)| Some((version, tries(count)?)));
        let (version, tries) = counted.map_or((stem, None), |(version, tries)| (version, Some(tries)));
        (!version.is_empty()).then(|| Self { version: version.to_owned(), tries })
    }

    /// The file's name.
    pub fn name(&self) -> String {
        let count = match self.tries {
            None => String::new(),
            Some(Tries { left, done: 0 }) => format!("+{left}"),
            Some(Tries { left, done }) => format!("+{left}-{done}"),
        };
        format!("{}{}{count}{}", NAME.0, self.version, NAME.1)
    }

    fn counted(&self, tries: Option<Tries>) -> Self {
        Self { tries, ..self.clone() }
    }

    /// Whether the loader has given it up: it is started only where no other is left.
    pub fn is_given_up(&self) -> bool {
        self.tries.is_some_and(|tries| tries.left == 0)
    }

    /// Whether it was given up by other means than its count, which ends with [`TRIES`] starts.
    pub fn is_rejected(&self) -> bool {
        self.tries.is_some_and(|tries| tries.left == 0 && tries.done < TRIES)
    }
}

/// `3`, or `2-1`.
fn tries(count: &str) -> Option<Tries> {
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    let (left, done) = count.split_once('-').unwrap_or((count, "0"));
    Some(Tries { left: number(left)?, done: number(done)? })
}

/// What went wrong with the boot partition. What was there before stays.
#[derive(Debug, Error)]
pub enum LoaderError {
    /// It cannot be read.
    #[error("cannot list {path}: {cause}; is the boot partition mounted there? `findmnt /boot` says so")]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is no such version.
    #[error("no kernel image of version {version} is in {path}; there is {there}")]
    NoSuchVersion {
        /// The version.
        version: String,
        /// The folder.
        path: PathBuf,
        /// The versions that are there.
        there: String,
    },
    /// No other version would start.
    #[error(
        "version {version} is the only one that starts, so it is not given up: nothing was changed. Install another one first"
    )]
    OnlyOne {
        /// The version.
        version: String,
    },
    /// It cannot be written.
    #[error("cannot rename {path}: {cause}; until it can be, the boot loader may choose as before")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// A file of the boot partition.
struct Found {
    image: KernelImage,
    /// As it is there, which need not be how [`KernelImage::name`] writes it.
    name: String,
}

/// The kernel images of a boot partition.
#[derive(Clone, Debug)]
pub struct Loader {
    folder: PathBuf,
}

impl Loader {
    /// That of the boot partition which is mounted at `boot`.
    pub fn at(boot: &Path) -> Self {
        Self { folder: boot.join(PLACE) }
    }

    /// All kernel images of ours, the one that is started next first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn images(&self) -> Result<Vec<KernelImage>, LoaderError> {
        Ok(self.found()?.into_iter().map(|found| found.image).collect())
    }

    fn found(&self) -> Result<Vec<Found>, LoaderError> {
        let unreadable = |cause| LoaderError::Unreadable { path: self.folder.clone(), cause };
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let is_empty = entry.metadata().is_ok_and(|about| about.len() == 0);
            let Some(name) = entry.file_name().into_string().ok().filter(|_| !is_empty) else { continue };
            all.extend(KernelImage::from_name(&name).map(|image| Found { image, name }));
        }
        // systemd-boot's order: what is not given up, the newest version, then the one with most starts left.
        all.sort_by(|Found { image: one, .. }, Found { image: other, .. }| {
            let left = |image: &KernelImage| Reverse(image.tries.map_or(u32::MAX, |tries| tries.left));
            (one.is_given_up().cmp(&other.is_given_up()))
                .then_with(|| compare(&other.version, &one.version))
                .then_with(|| left(one).cmp(&left(other)))
        });
        Ok(all)
    }

    /// Keeps a version: the loader no longer counts its starts. One that is kept already stays so.
    ///
    /// # Errors
    /// When there is none, or the disk does not take the name.
    pub fn keep(&self, version: &str) -> Result<(), LoaderError> {
        let all = self.found()?;
        let found = self.find(&all, version)?;
        if found.image.tries.is_none() {
            return Ok(());
        }
        self.rename(found, None)
    }

    /// Lets the loader count from the beginning: the version has reached its programs. One that is kept is not counted, and stays so; one that
    /// [was given up](Self::give_up) before its last start stays that, too.
    ///
    /// # Errors
    /// When there is none, or the disk does not take the name.
    pub fn renew(&self, version: &str) -> Result<(), LoaderError> {
        let all = self.found()?;
        let found = self.find(&all, version)?;
        let anew = Tries { left: TRIES, done: 0 };
        if found.image.tries.is_none_or(|tries| tries == anew) || found.image.is_rejected() {
            return Ok(());
        }
        self.rename(found, Some(anew))
    }

    /// Gives a version up: the loader starts another one from now on.
    ///
    /// # Errors
    /// When there is none, no other version would start, or the disk does not take the name.
    pub fn give_up(&self, version: &str) -> Result<(), LoaderError> {
        let all = self.found()?;
        self.find(&all, version)?;
        if !all.iter().any(|found| found.image.version != version && !found.image.is_given_up()) {
            return Err(LoaderError::OnlyOne { version: version.to_owned() });
        }
        // After a power cut it may have two names.
        for found in all.iter().filter(|found| found.image.version == version && !found.image.is_given_up()) {
            let done = found.image.tries.map_or(0, |tries| tries.done);
            let counts = (done..).map(|done| Tries { left: 0, done });
            // A name that is taken is the other name's.
            let is_free = |tries: &Tries| !self.folder.join(found.image.counted(Some(*tries)).name()).exists();
            let free = counts.into_iter().find(is_free);
            self.rename(found, Some(free.expect("a folder has fewer files than there are numbers")))?;
        }
        Ok(())
    }

    /// The first of this version in the loader's order.
    fn find<'a>(&self, all: &'a [Found], version: &str) -> Result<&'a Found, LoaderError> {
        all.iter().find(|found| found.image.version == version).ok_or_else(|| {
            let there: Vec<_> = all.iter().map(|found| found.image.version.as_str()).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            LoaderError::NoSuchVersion { version: version.to_owned(), path: self.folder.clone(), there }
        })
    }

    /// Gives a file the name with this count; it is on the disk when this returns.
    fn rename(&self, found: &Found, tries: Option<Tries>) -> Result<(), LoaderError> {
        let path = self.folder.join(&found.name);
        let to = self.folder.join(found.image.counted(tries).name());
        let renamed = File::open(&path).and_then(|file| {
            fs::rename(&path, to)?;
            file.sync_all()?;
            File::open(&self.folder)?.sync_all()
        });
        renamed.map_err(|cause| LoaderError::Unwritable { path, cause })
    }
}

#[cfg(test)]
mod tests;
