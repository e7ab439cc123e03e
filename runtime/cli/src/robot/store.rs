//! The versions of the robot that a machine is, and the link that says which one runs.
//!
//! ```text
//! /var/lib/horus/robot/versions/7/     robot.toml, and programs/NAME/ with a program each
//!                     /current         -> versions/7: what the units run
//!                     /previous        -> versions/6: what `horus robot rollback` takes
//!                     /trial           -> versions/6, or none: what comes back; it is there only while a version is on trial
//!                     /incoming/       what is being received
//! ```
//!
//! A switch is one rename of `current`. A process or a machine that ends during a trial leaves `trial`: the next command or boot takes its word.
//! What no link names is removed.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::installed::store::{context, remove, rename, sync};

/// Where the robot is.
const PLACE: &str = "var/lib/horus/robot";
/// The file of a version.
pub const FILE: &str = "robot.toml";
/// The folder of a version's programs.
pub const PROGRAMS: &str = "programs";

const VERSIONS: &str = "versions";
const CURRENT: &str = "current";
const PREVIOUS: &str = "previous";
const TRIAL: &str = "trial";
const INCOMING: &str = "incoming";
/// What `trial` says where there was nothing before.
const NOTHING: &str = "none";

/// The versions of a machine's robot.
#[derive(Debug)]
pub struct Store {
    place: PathBuf,
}

/// What is put on trial.
#[derive(Clone, Copy, Debug)]
pub enum Candidate {
    /// What was received.
    Incoming,
    /// The version before the one that runs.
    Previous,
}

impl Store {
    /// That of the machine whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { place: root.join(PLACE) }
    }

    /// The folder of what runs, by its link, so that a unit never changes; `None` if there is nothing.
    pub fn current(&self) -> Option<PathBuf> {
        self.linked(CURRENT).map(|_| self.place.join(CURRENT))
    }

    /// The folder of the version before; `None` if there is none.
    pub fn previous(&self) -> Option<PathBuf> {
        self.linked(PREVIOUS).map(|_| self.place.join(PREVIOUS))
    }

    /// An empty folder for what is being received.
    pub fn incoming(&self) -> Result<PathBuf, String> {
        let place = self.place.join(INCOMING);
        remove(&place)?;
        fs::create_dir_all(&place).map_err(context("make", &place))?;
        Ok(place)
    }

    /// Removes what was received and is refused.
    pub fn refuse_incoming(&self) -> Result<(), String> {
        remove(&self.place.join(INCOMING))
    }

    /// Begins a trial of a version, whose number it returns: what runs comes back unless it is [confirmed](Self::confirm).
    pub fn begin_trial(&self, candidate: Candidate) -> Result<u32, String> {
        let number = match candidate {
            Candidate::Previous => self.linked(PREVIOUS).ok_or("there is no version before this one")?,
            Candidate::Incoming => self.keep_incoming()?,
        };
        self.link(TRIAL, self.linked(CURRENT))?;
        Ok(number)
    }

    /// Makes the version on trial the one that runs.
    pub fn switch(&self, number: u32) -> Result<(), String> {
        self.link(CURRENT, Some(number))
    }

    /// Ends a trial: what was there before is the version before.
    pub fn confirm(&self) -> Result<(), String> {
        match self.linked(TRIAL) {
            // One step, so that a power cut leaves either the trial or its end, and `previous` as it was or as it will be.
            Some(_) => {
                rename(&self.place.join(TRIAL), &self.place.join(PREVIOUS))?;
                sync(&self.place)?;
            }
            None => {
                self.unlink(PREVIOUS)?;
                self.unlink(TRIAL)?;
            }
        }
        self.prune()
    }

    /// What was there before a trial takes its place again. Says whether there was anything. The trial is over with [`forget_trial`](Self::forget_trial).
    pub fn take_back(&self) -> Result<bool, String> {
        let before = self.linked(if self.is_on_trial() { TRIAL } else { CURRENT });
        match before {
            Some(_) => self.link(CURRENT, before)?,
            None => self.unlink(CURRENT)?,
        }
        Ok(before.is_some())
    }

    /// The last step of a trial that goes back. What is cut off before this is done anew.
    pub fn forget_trial(&self) -> Result<(), String> {
        self.unlink(TRIAL)?;
        self.prune()
    }

    /// Removes all versions.
    pub fn remove(&self) -> Result<(), String> {
        self.unlink(CURRENT)?;
        self.unlink(PREVIOUS)?;
        self.prune()
    }

    /// Removes what no link names, and half a transfer. Not during a trial: the version that comes back may be named by `trial` alone, and would go.
    pub fn tidy(&self) -> Result<(), String> {
        if !self.place.exists() {
            return Ok(());
        }
        self.prune()?;
        self.refuse_incoming()
    }

    /// Whether a version is on trial, or is about to be.
    pub fn is_on_trial(&self) -> bool {
        self.place.join(TRIAL).symlink_metadata().is_ok()
    }

    /// Whether the version on trial has taken its place.
    pub fn is_switched(&self) -> bool {
        self.is_on_trial() && self.linked(TRIAL) != self.linked(CURRENT)
    }

    /// What was received becomes a version, of the number that is given.
    fn keep_incoming(&self) -> Result<u32, String> {
        let incoming = self.place.join(INCOMING);
        sync_all(&incoming)?;
        let versions = self.place.join(VERSIONS);
        fs::create_dir_all(&versions).map_err(context("make", &versions))?;
        let number = self.numbers().into_iter().max().unwrap_or(0).saturating_add(1);
        rename(&incoming, &versions.join(number.to_string()))?;
        sync(&versions)?;
        Ok(number)
    }

    /// The version that a link names, if that is there. A link to anywhere else names none.
    fn linked(&self, link: &str) -> Option<u32> {
        let target = fs::read_link(self.place.join(link)).ok()?;
        let number = target.strip_prefix(VERSIONS).ok()?.to_str()?.parse().ok()?;
        self.version(number).is_dir().then_some(number)
    }

    fn link(&self, link: &str, number: Option<u32>) -> Result<(), String> {
        let (place, new) = (self.place.join(link), self.place.join(format!(".{link}")));
        let target = number.map_or(PathBuf::from(NOTHING), |number| Path::new(VERSIONS).join(number.to_string()));
        self.unlink(&format!(".{link}"))?;
        symlink(&target, &new).map_err(context("make", &new))?;
        rename(&new, &place)?;
        sync(&self.place)
    }

    fn unlink(&self, link: &str) -> Result<(), String> {
        let place = self.place.join(link);
        match fs::remove_file(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(context("remove", &place)(error)),
            _ => sync(&self.place),
        }
    }

    fn version(&self, number: u32) -> PathBuf {
        self.place.join(VERSIONS).join(number.to_string())
    }

    fn numbers(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.place.join(VERSIONS)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Removes the versions that no link names. Half of one may be left when this is cut off: no link names that either.
    fn prune(&self) -> Result<(), String> {
        let kept = [self.linked(CURRENT), self.linked(PREVIOUS)];
        for number in self.numbers().into_iter().filter(|number| !kept.contains(&Some(*number))) {
            remove(&self.version(number))?;
        }
        sync(&self.place)
    }
}

/// Makes the files of a folder last, and then the folder.
fn sync_all(folder: &Path) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(context("read", folder))? {
        let path = entry.map_err(context("read", folder))?.path();
        match path.is_dir() {
            true => sync_all(&path)?,
            false => File::open(&path).and_then(|file| file.sync_all()).map_err(context("write", &path))?,
        }
    }
    sync(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receives a version with this text, and puts it on trial.
    fn begin(store: &Store, text: &str) {
        let incoming = store.incoming().unwrap();
        fs::create_dir_all(incoming.join(PROGRAMS).join("arm")).unwrap();
        fs::write(incoming.join(FILE), text).unwrap();
        fs::write(incoming.join(PROGRAMS).join("arm/arm"), text).unwrap();
        switch(store, Candidate::Incoming);
    }

    fn switch(store: &Store, candidate: Candidate) {
        store.switch(store.begin_trial(candidate).unwrap()).unwrap();
    }

    fn text(folder: Option<PathBuf>) -> Option<String> {
        let folder = folder?;
        let text = fs::read_to_string(folder.join(FILE)).unwrap();
        assert_eq!(fs::read_to_string(folder.join(PROGRAMS).join("arm/arm")).unwrap(), text);
        Some(text)
    }

    /// As after a cut: whether a version was on trial.
    fn settle(store: &Store) -> bool {
        let was_on_trial = store.is_on_trial();
        if was_on_trial {
            store.take_back().unwrap();
            store.forget_trial().unwrap();
        }
        store.tidy().unwrap();
        was_on_trial
    }

    fn both(store: &Store) -> (Option<String>, Option<String>) {
        (text(store.current()), text(store.previous()))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_version_runs_as_a_whole_and_the_one_before_is_kept_until_the_next() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(root.path());
        assert_eq!((both(&store), settle(&store)), ((None, None), false));
        for (version, before) in [("1", None), ("2", some("1")), ("3", some("2"))] {
            begin(&store, version);
            store.confirm().unwrap();
            assert_eq!(both(&store), (some(version), before));
        }
        assert_eq!(store.numbers().len(), 2, "no more is kept");
        begin(&store, "bad");
        assert_eq!(text(store.current()), some("bad"));
        assert!(store.is_switched() && store.take_back().unwrap());
        // The next command would do it once more, until this is done.
        assert!(store.is_on_trial() && !store.is_switched() && store.take_back().unwrap());
        store.forget_trial().unwrap();
        assert_eq!((both(&store), store.numbers().len()), ((some("3"), some("2")), 2));
        switch(&store, Candidate::Previous);
        store.confirm().unwrap();
        assert_eq!(both(&store), (some("2"), some("3")));
        store.remove().unwrap();
        assert_eq!((both(&store), store.numbers().len()), ((None, None), 0));
    }

    #[test]
    fn a_trial_that_was_cut_off_goes_back_and_a_first_one_to_nothing() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(root.path());
        begin(&store, "1");
        assert!(settle(&Store::at(root.path())));
        assert_eq!((both(&store), store.numbers().len()), ((None, None), 0));
        begin(&store, "1");
        store.confirm().unwrap();
        begin(&store, "2");
        fs::create_dir(store.place.join(INCOMING)).unwrap();
        assert!(settle(&store));
        assert_eq!(both(&store), (some("1"), None));
        assert!(!store.place.join(INCOMING).exists() && !settle(&store));
        // A trial that cannot begin leaves what is there, and one that was cut off before the switch, too.
        store.begin_trial(Candidate::Incoming).unwrap_err();
        assert_eq!((both(&store), store.is_on_trial()), ((some("1"), None), false));
        fs::create_dir(store.incoming().unwrap().join(PROGRAMS)).unwrap();
        store.begin_trial(Candidate::Incoming).unwrap();
        assert!(store.is_on_trial() && !store.is_switched() && settle(&store));
        assert_eq!((both(&store), store.numbers().len()), ((some("1"), None), 1));
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_no_version() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::at(root.path());
        begin(&store, "1");
        store.confirm().unwrap();
        for target in [elsewhere.path(), Path::new("versions/../../.."), Path::new("versions/9")] {
            fs::remove_file(store.place.join(CURRENT)).unwrap();
            symlink(target, store.place.join(CURRENT)).unwrap();
            assert_eq!(store.current(), None, "{}", target.display());
        }
    }
}
