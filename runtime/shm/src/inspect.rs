//! A look at a topic from outside: who uses it, and how far it is. For listings; joins nothing and changes nothing.

use std::path::Path;

use crate::error::OpenError;
use crate::header::Header;
use crate::lane::MappedLane;
use crate::map::{self, Residency};
use crate::members::Locked;
use crate::ring::Memory;
use crate::segment::Segment;
use crate::sync::{Arc, Ordering};

/// One publisher's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its number.
    pub number: usize,
    /// Process number of the living publisher.
    pub publisher: Option<u32>,
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
    /// Process numbers of the living subscribers.
    pub subscribers: Vec<u32>,
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
/// When the file is no topic, or may not be opened, or stays locked.
pub fn inspect(path: &Path) -> Result<Option<Inspection>, OpenError> {
    let Some(file) = map::open(path)? else { return Ok(None) };
    let stat = rustix::fs::fstat(&file).map_err(|error| OpenError::io("examine", path, error))?;
    let segment = Arc::new(Segment::map(path, file, Residency::OnDemand)?);
    let locked = Locked::new(&segment)?;
    let used = segment.used_lanes().load(Ordering::Relaxed);
    let publishers = locked.publishers().into_iter().enumerate();
    let lanes = publishers.filter(|(lane, _)| used >> lane & 1 == 1).map(|(lane, publisher)| Lane {
        number: lane,
        publisher: publisher.map(|identity| identity.pid),
        sent: MappedLane::new(segment.clone(), lane).position().load(Ordering::Relaxed),
    });
    Ok(Some(Inspection {
        header: segment.header().clone(),
        lanes: lanes.collect(),
        subscribers: locked.living_subscribers().iter().map(|identity| identity.pid).collect(),
        mode: stat.st_mode & 0o7777,
        user: stat.st_uid,
        group: stat.st_gid,
    }))
}
