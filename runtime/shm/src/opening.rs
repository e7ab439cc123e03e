//! Finds or makes the segment of a topic, and sees to it that stale ones do not last.
//!
//! # Who removes the file
//! The last living peer to leave removes it. Peers that were killed cannot, so whoever opens the topic next first looks
//! whether anybody living uses it, and if not, removes the file and starts with a fresh one. Whoever opens
//! another topic of the directory does the same for those that nobody opens again ([`crate::sweep`]).
//!
//! # Why nobody is left with a file that has no name
//! A name is taken away under the segment's lock only, and whoever has opened a file takes its lock and then looks
//! whether it still has a name. A new file has a living member before it has a name.

use std::path::Path;
use std::time::Duration;

use crate::error::OpenError;
use crate::failpoint::failpoint;
use crate::header::{Expected, Header};
use crate::layout::Policy;
use crate::map::{self, Access, Residency};
use crate::members::Locked;
use crate::rejected::{Reason, Rejected};
use crate::segment::Segment;
use crate::sync::Arc;
use crate::wait::Waiting;

/// Files that vanish between finding and opening are looked for again this often before that is an error.
pub(crate) const OPEN_ATTEMPTS: usize = 100;

/// How a publisher's topic is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// Messages that the lane holds, a power of two.
    pub capacity: usize,
    /// What happens when it is full.
    pub policy: Policy,
    /// Who may open it.
    pub access: Access,
    /// Publishers that it has room for: each has a lane of `capacity` messages.
    pub publishers: usize,
}

/// What the messages of a topic are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind<'a> {
    /// Name of the message type.
    pub type_name: &'a str,
    /// Hash of the message's layout, 0 where none is computed.
    pub layout_hash: u64,
    /// The fields, a line each: `offset bytes name type`. For people; may be empty.
    pub description: &'a str,
}

/// How a subscriber joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// How long to wait for somebody to publish.
    pub wait: Duration,
    /// Messages sent before joining that are wanted of each publisher, as far as they are still there.
    pub history: u64,
    /// How to wait for messages.
    pub waiting: Waiting,
}

/// Size and alignment of a message, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub bytes: usize,
    pub align: usize,
}

impl Payload {
    pub fn of<T>() -> Self {
        Self { bytes: size_of::<T>(), align: align_of::<T>() }
    }
}

impl Kind<'_> {
    pub(crate) fn expected(&self, payload: Payload, making: Option<&Making>) -> Expected {
        Expected {
            type_name: self.type_name.to_owned(),
            payload_bytes: payload.bytes,
            payload_align: payload.align,
            layout_hash: self.layout_hash,
            policy: making.map(|making| making.policy),
            capacity: making.map(|making| making.capacity),
            lanes: making.map(|making| making.publishers),
            description: self.description.to_owned(),
        }
    }
}

/// Opens the topic's segment if living peers use it, and lets `enter` join it under the lock. Removes a segment that
/// nobody living uses, and returns `None` when there is none (any more).
pub(crate) fn open_existing<R>(
    path: &Path,
    expected: &Expected,
    enter: impl Fn(&Arc<Segment>, &Locked<'_>) -> Result<R, OpenError>,
) -> Result<Option<R>, OpenError> {
    for _attempt in 0..OPEN_ATTEMPTS {
        let Some(file) = map::open(path)? else { return Ok(None) };
        let segment = Arc::new(Segment::map(path, file, Residency::Locked)?);
        let locked = Locked::new(&segment)?;
        if !locked.is_named() || locked.remove_if_unused() {
            continue; // removed before or by us: look what stands there now
        }
        let checked = segment.header().check(expected);
        checked.map_err(|reason| Rejected { path: path.to_owned(), reason })?;
        return enter(&segment, &locked).map(Some);
    }
    Err(OpenError::Busy { path: path.to_owned(), waited: Duration::ZERO })
}

/// Makes the topic's segment, lets `enter` join it, and gives it its name; `None` when somebody else was faster.
pub(crate) fn make<R>(
    path: &Path,
    header: Header,
    access: Access,
    enter: impl Fn(&Arc<Segment>, &Locked<'_>) -> Result<R, OpenError>,
) -> Result<Option<R>, OpenError> {
    let segment = Arc::new(Segment::make(path, header, access)?);
    let locked = Locked::new(&segment)?;
    // Join first: once named, a segment without a living peer may be removed by anybody.
    let entered = enter(&segment, &locked)?;
    failpoint!("create:joined");
    let named = map::link(segment.file(), path)?;
    failpoint!("create:named");
    Ok(named.then_some(entered))
}

/// The error for a segment whose lane holds what no publisher leaves behind.
pub(crate) fn damaged(segment: &Segment, found: u64) -> OpenError {
    let reason = Reason::Position { found };
    Rejected { path: segment.path().to_owned(), reason }.into()
}

/// The process that joined. After `fork`, the child holds copies of its parent's handles; dropping those must not make
/// the parent leave.
pub(crate) struct Process(u32);

impl Process {
    pub fn this() -> Self {
        Self(std::process::id())
    }

    pub fn is_this(&self) -> bool {
        self.0 == std::process::id()
    }
}
