//! Removes what killed processes left behind.
//!
//! Every peer that opens a topic tidies up the topic's directory first, so that a topic whose peers were killed and that
//! nobody opens again does not occupy memory until the next boot. [`sweep`] does the same and says what it found.

use std::path::{Path, PathBuf};

use crate::directory::{Directory, EXTENSION};
use crate::error::OpenError;
use crate::map::{self, Residency};
use crate::members::Locked;
use crate::segment::Segment;

/// What a sweep found.
#[derive(Debug, Default)]
pub struct Swept {
    /// Topics that nobody living used: removed.
    pub removed: Vec<PathBuf>,
    /// Topics in use.
    pub kept: Vec<PathBuf>,
    /// Files named like topics that could not be judged, each with the reason. They are left alone.
    pub unjudged: Vec<OpenError>,
}

/// Removes every topic in `directory` that no living process uses.
///
/// Files that are no segments are reported and never removed: this directory may hold what is not ours.
pub fn sweep(directory: &Directory) -> Result<Swept, OpenError> {
    let io = |error: std::io::Error| OpenError::Io { doing: "list", path: directory.path().to_owned(), source: error };
    let mut swept = Swept::default();
    for entry in std::fs::read_dir(directory.path()).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        match sweep_one(&path, Patience::Bounded) {
            Ok(true) => swept.removed.push(path),
            Ok(false) => swept.kept.push(path),
            Err(error) => swept.unjudged.push(error),
        }
    }
    Ok(swept)
}

/// Most directory entries that are looked at before a topic is opened: some microseconds each.
const MAX_TIDIED: usize = 1024;

/// As [`sweep`], for those who want to open a topic: looks at [`MAX_TIDIED`] entries at most and waits for no lock.
///
/// Says nothing about what it cannot judge. A file of another user, a foreign file, a directory that cannot be listed or
/// a topic that somebody is joining at this moment is no obstacle to the topic that the caller wants; what is wrong with
/// that one, opening it will tell.
pub(crate) fn tidy(directory: &Directory) {
    let entries = std::fs::read_dir(directory.path()).into_iter().flatten().take(MAX_TIDIED).flatten();
    let topics =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|found| found == EXTENSION));
    for path in topics {
        let _unjudged = sweep_one(&path, Patience::None);
    }
}

/// Whether to wait for a segment's lock.
enum Patience {
    None,
    Bounded,
}

/// True if the topic was unused and is gone.
fn sweep_one(path: &Path, patience: Patience) -> Result<bool, OpenError> {
    let Some(file) = map::open(path)? else { return Ok(true) };
    let segment = Segment::map(path, file, Residency::OnDemand)?;
    let locked = match patience {
        Patience::Bounded => Locked::new(&segment)?,
        Patience::None => match Locked::try_new(&segment) {
            Some(locked) => locked,
            None => return Ok(false),
        },
    };
    Ok(!locked.is_named() || locked.remove_if_unused())
}
