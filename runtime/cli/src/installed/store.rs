//! The folders of installed nodes, and how one takes the place of another: whole, and back again.
//!
//! ```text
//! /var/lib/horus/nodes/NAME/             program and node.toml of what is installed
//!                     /.incoming/        what is being received
//!                     /.previous/NAME/   what NAME was before the trial that runs now; empty if it was nothing
//!                     /.removed/         what is needed no more
//! ```
//!
//! A trial begins with two renames and ends with one. Whatever ends this process or the machine between them, [`Store::settle`] finds
//! `.previous/NAME`, which exists only during a trial, and puts it back.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use horus::app::Installation;
use rustix::fs::{FlockOperation, flock};

/// Where nodes are installed.
const PLACE: &str = "var/lib/horus/nodes";
/// The settings of a node, in its folder.
pub const SETTINGS: &str = "node.toml";

/// The folders of installed nodes.
#[derive(Debug)]
pub struct Store {
    place: PathBuf,
}

/// Held while a node is installed or removed; another process waits for it.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the kernel's lock lasts as long as the file is open")] File);

/// What went wrong with a file.
pub fn context(what: &str, path: &Path) -> impl FnOnce(io::Error) -> String {
    let place = path.display().to_string();
    let what = what.to_owned();
    move |error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
            "cannot {what} {place}: the disk is full. `df -h /var` shows it; `horus node remove` and `journalctl --vacuum-size=50M` make room"
        ),
        _ => format!("cannot {what} {place}: {error}"),
    }
}

impl Store {
    /// That of the machine whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { place: root.join(PLACE) }
    }

    /// Makes the folders, and waits for the process that changes them now.
    pub fn lock(&self) -> Result<Lock, String> {
        let previous = self.place.join(".previous");
        fs::create_dir_all(&previous).map_err(context("make", &previous))?;
        let place = self.place.join(".lock");
        let file = File::create(&place).map_err(context("make", &place))?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| context("lock", &place)(error.into()))?;
        Ok(Lock(file))
    }

    /// The folder of a node.
    pub fn node(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// What is installed under a name, if it can be read.
    pub fn installation(&self, name: &str) -> Option<Installation> {
        Installation::read(&self.node(name).join(SETTINGS)).ok()
    }

    /// The names of all installed nodes, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        names(&self.place)
    }

    /// An empty folder for what is being received.
    pub fn incoming(&self) -> Result<PathBuf, String> {
        let place = self.place.join(".incoming");
        remove(&place)?;
        fs::create_dir_all(&place).map_err(context("make", &place))?;
        Ok(place)
    }

    /// Removes what was received and is refused.
    pub fn refuse_incoming(&self) -> Result<(), String> {
        remove(&self.place.join(".incoming"))
    }

    /// Puts what was received in the place of node `name`, on trial: until [`confirm`](Self::confirm), what was there can come back.
    pub fn start_trial(&self, name: &str) -> Result<(), String> {
        let (node, previous, incoming) = (self.node(name), self.previous(name), self.place.join(".incoming"));
        for file in fs::read_dir(&incoming).map_err(context("read", &incoming))? {
            let path = file.map_err(context("read", &incoming))?.path();
            File::open(&path).and_then(|file| file.sync_all()).map_err(context("write", &path))?;
        }
        sync(&incoming)?;
        match node.exists() {
            true => rename(&node, &previous)?,
            false => fs::create_dir(&previous).map_err(context("make", &previous))?,
        }
        // What was there is safe before what is new takes its place.
        self.sync()?;
        rename(&incoming, &node)?;
        self.sync()
    }

    /// Ends a trial: what was there before is given up.
    pub fn confirm(&self, name: &str) -> Result<(), String> {
        self.discard(&self.previous(name), name)?;
        self.sync()
    }

    /// Ends a trial: what was there before comes back. Says whether there was anything.
    pub fn roll_back(&self, name: &str) -> Result<bool, String> {
        let (node, previous) = (self.node(name), self.previous(name));
        self.discard(&node, name)?;
        // A folder that is not empty cannot be removed: it is a node's.
        let had_any = fs::remove_dir(&previous).is_err();
        if had_any {
            rename(&previous, &node)?;
        }
        self.sync()?;
        Ok(had_any)
    }

    /// Removes a node.
    pub fn remove(&self, name: &str) -> Result<(), String> {
        self.discard(&self.node(name), name)?;
        self.sync()
    }

    /// Ends what was cut off: trials that were not confirmed go back, the names of which are returned, and half a transfer goes.
    pub fn settle(&self) -> Result<Vec<String>, String> {
        let unconfirmed = names(&self.place.join(".previous"));
        for name in &unconfirmed {
            self.roll_back(name)?;
        }
        remove(&self.place.join(".incoming"))?;
        remove(&self.place.join(".removed"))?;
        Ok(unconfirmed)
    }

    fn previous(&self, name: &str) -> PathBuf {
        self.place.join(".previous").join(name)
    }

    /// Takes a folder away at once, and then its files.
    fn discard(&self, folder: &Path, name: &str) -> Result<(), String> {
        if !folder.exists() {
            return Ok(());
        }
        let all = self.place.join(".removed");
        fs::create_dir_all(&all).map_err(context("make", &all))?;
        let removed = all.join(name);
        remove(&removed)?;
        rename(folder, &removed)?;
        remove(&removed)
    }

    /// Makes all renames last.
    fn sync(&self) -> Result<(), String> {
        sync(&self.place.join(".previous"))?;
        sync(&self.place)
    }
}

/// The folders of a folder but for hidden ones.
fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<_> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

/// Moves a folder.
pub fn rename(from: &Path, to: &Path) -> Result<(), String> {
    fs::rename(from, to).map_err(context("move", from))
}

/// Removes a folder with all that is in it, if it is there.
pub fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(context("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Makes what was done in a folder last.
pub fn sync(folder: &Path) -> Result<(), String> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(context("write", folder))
}

/// As [`context`], for the files of a package.
pub fn cannot_write(path: &Path, error: io::Error) -> String {
    context("write", path)(error)
}
