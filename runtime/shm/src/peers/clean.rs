//! Removes what killed processes left behind.
//!
//! A topic whose peers were all killed is removed by the process that opens it next. One that no process opens again occupies
//! memory until [`clean`] finds it: `horus topic clean` calls it, and so does a publisher for whose topic there is no room before
//! it gives up. Opening a topic looks at no other one. Nor does a running node clean: it would map and unmap other topics, and
//! every unmapping interrupts the CPUs of its real-time threads.

use std::path::{Path, PathBuf};

use super::{publishers, reap, subscribers};
use crate::board;
use crate::directory::{Directory, EXTENSION};
use crate::error::OpenError;
use crate::segment::Segment;
use crate::segment::file::TopicFile;
use crate::segment::header::is_kept;
use crate::segment::look::Look;
use crate::segment::map::Residency;
use crate::sync::Arc;

/// What was found.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Topics that no living peer used: removed.
    pub removed: Vec<PathBuf>,
    /// Topics in use.
    pub kept: Vec<PathBuf>,
    /// Topics that no living peer used, and that are latched: kept, unless these were to be removed, too.
    pub latched: Vec<PathBuf>,
    /// Dead subscribers that were taken out of topics in use.
    pub reaped: usize,
    /// Files named like topics that could not be judged, each with the reason. They are left alone.
    pub unjudged: Vec<OpenError>,
}

/// Removes every topic in `directory` that no living process uses, and takes dead subscribers out of the others.
///
/// Files that are no segments are reported and never removed: this directory may hold what is not ours.
pub fn clean(directory: &Directory) -> Result<Cleaned, OpenError> {
    clean_with(directory, Latched::Stay)
}

/// What becomes of latched topics that no living process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latched {
    /// They are for who comes later.
    Stay,
    /// They are removed as others are.
    Go,
}

/// As [`clean`]; `latched` says what becomes of latched topics.
///
/// # Errors
/// When the directory cannot be read.
pub fn clean_with(directory: &Directory, latched: Latched) -> Result<Cleaned, OpenError> {
    let io = |error: std::io::Error| OpenError::Io { doing: "list", path: directory.path().to_owned(), source: error };
    let mut cleaned = Cleaned::default();
    for entry in std::fs::read_dir(directory.path()).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == board::EXTENSION || extension == board::PARAMETERS) {
            clean_board(path, &mut cleaned);
            continue;
        }
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        match clean_one(&path, latched) {
            Ok(Found::Removed) => cleaned.removed.push(path),
            Ok(Found::Latched) => cleaned.latched.push(path),
            Ok(Found::Used { reaped }) => {
                cleaned.reaped += reaped;
                cleaned.kept.push(path);
            }
            Err(error) => cleaned.unjudged.push(error),
        }
    }
    Ok(cleaned)
}

/// Removes a board that its owner left when it was killed.
fn clean_board(path: PathBuf, cleaned: &mut Cleaned) {
    let removed = TopicFile::open(&path).and_then(|file| match file {
        None => Ok(true),
        Some(file) if !board::is_ours(&file) => Err(OpenError::NoRegularFile { path: path.clone() }),
        Some(file) => file.remove_if_unused(),
    });
    match removed {
        Ok(true) => cleaned.removed.push(path),
        Ok(false) => cleaned.kept.push(path),
        Err(error) => cleaned.unjudged.push(error),
    }
}

/// What a topic was found to be.
enum Found {
    /// Unused, and gone.
    Removed,
    /// Unused, and for who comes later.
    Latched,
    /// In use; so many dead subscribers were taken out.
    Used { reaped: usize },
}

fn clean_one(path: &Path, latched: Latched) -> Result<Found, OpenError> {
    let Some(file) = TopicFile::open(path)? else { return Ok(Found::Removed) };
    let file = Arc::new(file);
    let look = Look::at(file.file(), path)?;
    let is_for_later = latched == Latched::Stay && is_kept(file.file()) && look.header(path).is_ok();
    if look.is_ours() && !is_for_later && file.remove_if_unused()? {
        return Ok(Found::Removed);
    }
    let look = Look::steady(file.file(), path)?;
    let header = look.header(path)?;
    let segment = Segment::map(file.clone(), file.file(), header, look.generation(), Residency::OnDemand)?;
    let reaped = reap(&segment);
    let is_used = !publishers(&segment)?.is_empty() || !subscribers(&segment)?.is_empty();
    Ok(if is_for_later && !is_used { Found::Latched } else { Found::Used { reaped } })
}
