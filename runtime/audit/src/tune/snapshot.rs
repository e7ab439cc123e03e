//! What was there before: one index and one file for each contents, in `/var/lib/horus/tune`.
//!
//! ```text
//! /var/lib/horus/tune/index.json     what stood where, in words; replaced by renaming, so it is the old one or the new one
//!                     contents/7     bytes that the index names; never changed once the index names them
//!                     parent-is-ours whether /var/lib/horus was made for this
//! ```
//! The index is on the medium before the first change of the machine is made, and it goes last. A first original stays, however
//! often `apply` runs; what `apply` wrote is kept beside it, so that a change by another hand is told from ours.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::live::KeptValue;
use crate::root::{Bytes, Root, Steps, Thing};

/// Where snapshots are.
pub const DIRECTORY: &str = "/var/lib/horus/tune";
const PARENT: &str = "/var/lib/horus";
const INDEX: &str = "/var/lib/horus/tune/index.json";
/// Changes when an older program could not restore from the index.
const VERSION: u32 = 1;
/// In the directory when `/var/lib/horus` was made for it.
const PARENT_IS_OURS: &str = "parent-is-ours";
/// The name of `/var/lib/horus` while it is made and while it is removed.
const PREPARED: &str = "/var/lib/.horus-tune";

/// Whose file a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A file of the profile.
    Ours,
    /// A boot loader's file, of which lines were changed; other programs change it too.
    Boot,
}

/// The index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    version: u32,
    /// The boot in which `apply` ran last.
    pub boot_id: String,
    /// The kernel parameters of the last `apply`.
    pub parameters: Vec<String>,
    /// Units that ran and were stopped.
    pub stopped: Vec<String>,
    /// Directories that were missing, the highest first.
    pub directories: Vec<String>,
    /// Files and links.
    pub entries: Vec<Entry>,
    /// Values of the running kernel.
    pub values: Vec<KeptValue>,
}

/// A path and what stood there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Absolute, below the root.
    pub path: String,
    /// Whose file it is.
    pub role: Role,
    before: Stored,
    ours: Vec<Stored>,
}

/// A [`Thing`] whose bytes are in a file of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stored {
    Absent,
    Link { target: String },
    File { contents: u32, mode: u32, owner: (u32, u32) },
}

/// The snapshot of a machine, held by this process alone.
pub struct Snapshot<'a> {
    root: &'a Root,
    steps: &'a Steps,
    /// What it says.
    pub index: Index,
    stored: Option<Index>,
    _lock: File,
}

impl Index {
    fn new() -> Self {
        let none = Vec::new;
        Self {
            version: VERSION,
            boot_id: String::new(),
            parameters: none(),
            stopped: none(),
            directories: none(),
            entries: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The index of `root`; none where nothing is applied.
    ///
    /// # Errors
    /// When it cannot be read or is of a newer program.
    pub fn load(root: &Root) -> Result<Option<Self>, String> {
        let path = root.place(INDEX).map_err(|error| format!("{INDEX}: {error}"))?;
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(format!("{INDEX}: {error}; run as root")),
        };
        let version =
            serde_json::from_slice::<serde_json::Value>(&bytes).ok().and_then(|index| index["version"].as_u64());
        if version != Some(VERSION.into()) {
            return Err(format!("{INDEX} is of another version of this program; use the one that applied the profile"));
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            format!("{INDEX} is damaged ({error}); the originals are in {DIRECTORY}/contents, restore them by hand")
        })
    }
}

impl<'a> Snapshot<'a> {
    /// The snapshot of `root`; a new and empty one where there is none, of which nothing is stored yet.
    ///
    /// # Errors
    /// When it cannot be read, or another process works on it.
    pub fn open(root: &'a Root, steps: &'a Steps) -> Result<Self, String> {
        let failed = |error: io::Error| format!("{DIRECTORY}: {error}; the snapshot needs a place that can be written");
        prepare(root, steps).map_err(failed)?;
        let lock = root.place(DIRECTORY).and_then(File::open).map_err(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| "another 'horus tune' works on this machine; wait until it is done".to_owned())?;
        let stored = Index::load(root)?;
        Ok(Self { root, steps, index: stored.clone().unwrap_or_else(Index::new), stored, _lock: lock })
    }

    /// Whether an index is on the medium: something may be applied.
    pub fn is_stored(&self) -> bool {
        self.stored.is_some()
    }

    /// Notes what stands at `path` now, if nothing is noted yet, and that `planned` is ours.
    pub fn remember(&mut self, path: &str, role: Role, now: &Thing, planned: &Thing) -> io::Result<()> {
        let known = self.index.entries.iter().position(|entry| entry.path == path);
        let at = match known {
            Some(at) => at,
            None => {
                let missing = self.root.missing_above(path);
                let new: Vec<String> =
                    missing.into_iter().filter(|above| !self.index.directories.contains(above)).collect();
                self.index.directories.extend(new);
                let entry = Entry { path: path.to_owned(), role, before: self.store(now)?, ours: Vec::new() };
                self.index.entries.push(entry);
                self.index.entries.len() - 1
            }
        };
        let entry = self.index.entries[at].clone();
        if !self.is_ours(&entry, planned)? {
            let stored = self.store(planned)?;
            self.index.entries[at].ours.push(stored);
        }
        Ok(())
    }

    /// What stood there before the first `apply`.
    pub fn before(&self, entry: &Entry) -> io::Result<Thing> {
        self.fetch(&entry.before)
    }

    /// Whether `thing` holds what some `apply` wrote there.
    pub fn is_ours(&self, entry: &Entry, thing: &Thing) -> io::Result<bool> {
        for ours in &entry.ours {
            if self.fetch(ours)?.holds_same(thing) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the index on the medium, if it says something new. From here on `revert` restores what it names.
    pub fn commit(&mut self) -> io::Result<()> {
        if self.stored.as_ref() == Some(&self.index) {
            return Ok(());
        }
        let mut text = serde_json::to_vec_pretty(&self.index).map_err(io::Error::from)?;
        text.push(b'\n');
        self.write(INDEX, text, 0o644)?;
        self.stored = Some(self.index.clone());
        Ok(())
    }

    /// Removes the index, and then all else: nothing is applied any more.
    pub fn remove(self) -> io::Result<()> {
        if self.is_stored() {
            self.root.write(INDEX, &Thing::Absent, self.steps)?;
        }
        clear(self.root, self.steps)
    }

    fn store(&self, thing: &Thing) -> io::Result<Stored> {
        Ok(match thing {
            Thing::Absent => Stored::Absent,
            Thing::Link(target) => Stored::Link { target: target.clone() },
            Thing::File(file) => {
                let directory = self.root.place(&format!("{DIRECTORY}/contents"))?;
                fs::create_dir_all(&directory)?;
                let numbers =
                    fs::read_dir(&directory)?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
                let contents = numbers.max().map_or(0, |last| last + 1);
                self.write(&contents_path(contents), file.bytes.clone(), 0o600)?; // root's alone, as an original may be
                Stored::File { contents, mode: file.mode, owner: file.owner }
            }
        })
    }

    fn fetch(&self, stored: &Stored) -> io::Result<Thing> {
        Ok(match stored {
            Stored::Absent => Thing::Absent,
            Stored::Link { target } => Thing::Link(target.clone()),
            Stored::File { contents, mode, owner } => {
                let bytes = fs::read(self.root.place(&contents_path(*contents))?)?;
                Thing::File(Bytes { bytes, mode: *mode, owner: *owner })
            }
        })
    }

    fn write(&self, path: &str, bytes: Vec<u8>, mode: u32) -> io::Result<()> {
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        self.root.write(path, &Thing::File(Bytes { bytes, mode, owner }), self.steps)
    }
}

fn contents_path(number: u32) -> String {
    format!("{DIRECTORY}/contents/{number}")
}

/// Makes the directory. One that is missing above it comes with it in one step, so that it is always known whose it is.
fn prepare(root: &Root, steps: &Steps) -> io::Result<()> {
    if !root.exists(PARENT) {
        let prepared = root.place(PREPARED)?;
        remove_tree(&prepared)?;
        let directory = prepared.join("tune");
        fs::create_dir(&prepared)?; // without /var/lib this is no machine
        fs::create_dir(&directory)?;
        steps.reached();
        File::create(directory.join(PARENT_IS_OURS))?.sync_all()?;
        steps.reached();
        fs::rename(&prepared, root.place(PARENT)?)?;
        steps.reached();
    }
    fs::create_dir_all(root.place(DIRECTORY)?)?;
    steps.reached();
    sync_above(&root.place(DIRECTORY)?)
}

/// Removes all of the directory, of which the index is gone, and what a killed [`prepare`] left.
fn clear(root: &Root, steps: &Steps) -> io::Result<()> {
    let (parent, directory, prepared) = (root.place(PARENT)?, root.place(DIRECTORY)?, root.place(PREPARED)?);
    let is_alone = || fs::read_dir(&parent).is_ok_and(|names| names.count() == 1);
    if directory.join(PARENT_IS_OURS).exists() && is_alone() {
        remove_tree(&prepared)?;
        fs::rename(&parent, &prepared)?; // from here on it is not /var/lib/horus any more, whatever is left of it
        steps.reached();
    } else {
        remove_tree(&directory)?;
        steps.reached();
    }
    remove_tree(&prepared)?;
    steps.reached();
    sync_above(&parent)
}

fn remove_tree(directory: &PathBuf) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn sync_above(path: &Path) -> io::Result<()> {
    match path.parent().filter(|above| above.is_dir()) {
        Some(above) => File::open(above)?.sync_all(),
        None => Ok(()),
    }
}
