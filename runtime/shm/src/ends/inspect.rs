//! A look at a topic from outside: who uses it, and how far it is. For listings; joins nothing and changes nothing.

use std::path::Path;

use rustix::fs::Stat;

use crate::error::OpenError;
use crate::peers::identity::Identity;
use crate::peers::publishers;
use crate::ring::Memory;
use crate::segment::Segment;
use crate::segment::file::TopicFile;
use crate::segment::header::Header;
use crate::segment::lane::MappedLane;
use crate::segment::look::Look;
use crate::segment::map::Residency;
use crate::sync::{Arc, Ordering};

pub use super::readers::Reader;

/// One publisher's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its number.
    pub number: usize,
    /// The living publisher.
    pub publisher: Option<Identity>,
    /// How many messages were sent by it and by its predecessors on this lane.
    pub sent: u64,
}

/// A topic at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Type, policy, capacity, and everything else that does not change.
    pub header: Header,
    /// The lanes that were ever used.
    pub lanes: Vec<Lane>,
    /// The living subscribers.
    pub subscribers: Vec<Reader>,
    /// Bytes of the file: more than the topic needs if it was larger before it was remade.
    pub bytes: u64,
    /// Permission bits of the file.
    pub mode: u32,
    /// The file's owner, by number.
    pub user: u32,
    /// The file's group, by number.
    pub group: u32,
}

/// Looks at the topic in the file `path`; `None` when there is no such file.
///
/// # Errors
/// When the file is no topic, or may not be opened.
pub fn inspect(path: &Path) -> Result<Option<Inspection>, OpenError> {
    let Some((segment, stat)) = map(path)? else { return Ok(None) };
    let used = segment.used_lanes().load(Ordering::Relaxed);
    let living = publishers(&segment)?;
    let lanes = (0..segment.header().shape.lanes()).filter(|lane| used >> lane & 1 == 1).map(|lane| Lane {
        number: lane,
        publisher: living.iter().find(|(owned, _)| *owned == lane).map(|(_, identity)| *identity),
        sent: MappedLane::new(segment.clone(), lane).position().load(Ordering::Relaxed),
    });
    Ok(Some(Inspection {
        lanes: lanes.collect(),
        subscribers: super::readers::readers(&segment)?,
        header: segment.header().clone(),
        bytes: stat.st_size as u64,
        mode: stat.st_mode & 0o7777,
        user: stat.st_uid,
        group: stat.st_gid,
    }))
}

/// Whether a living process publishes the topic in the file `path`; false when there is no such file.
///
/// # Errors
/// As [`inspect`].
pub fn is_published(path: &Path) -> Result<bool, OpenError> {
    map(path)?.map_or(Ok(false), |(segment, _)| crate::peers::is_published(&segment))
}

/// Maps the topic in the file `path` without taking a place in it; with what the kernel says of the file.
pub(super) fn map(path: &Path) -> Result<Option<(Arc<Segment>, Stat)>, OpenError> {
    let Some(file) = TopicFile::open(path)? else { return Ok(None) };
    let file = Arc::new(file);
    let stat = rustix::fs::fstat(file.file()).map_err(|error| OpenError::io("examine", path, error))?;
    let look = Look::steady(file.file(), path)?;
    let (header, generation) = (look.header(path)?, look.generation());
    let segment = Arc::new(Segment::map(file.clone(), file.file(), header, generation, Residency::OnDemand)?);
    Ok(Some((segment, stat)))
}
