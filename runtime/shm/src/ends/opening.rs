//! Finds or makes the segment of a topic; the caller takes a place in it.
//!
//! # Why nobody is left with a file that has no name
//! A name is taken away by who has the locks of all places ([`crate::segment::file`]), or by a first publisher that makes the
//! topic anew, which its subscribers follow. Whoever opens a file takes a place in it and then looks whether it still has a name. A new file has a place taken before it has a name.

use std::os::fd::OwnedFd;
use std::path::Path;

use crate::directory::Directory;
use crate::error::OpenError;
use crate::failpoint::failpoint;
use crate::patience::Patience;
use crate::peers::Seat;
use crate::peers::clean::clean;
use crate::peers::fork::Opening;
use crate::peers::locks::{self, Place};
use crate::segment::Segment;
use crate::segment::file::{self, Access, LastOut, TopicFile};
use crate::segment::header::{Alleged, Expected, Header, Needs, Terms};
use crate::segment::layout::{HEADER_BYTES, MAX_SUBSCRIBERS, Policy, Shape};
use crate::segment::map::Residency;
use crate::segment::rejected::{Reason, Rejected};
use crate::sync::Arc;
use crate::wait::Waiting;

/// Files that vanish between finding and opening are looked for again this often before that is an error.
const ATTEMPTS: usize = 10_000;

/// How a topic is made.
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
    /// Whether publishers wake subscribers that sleep.
    pub wakes: bool,
}

/// What the messages of a topic are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind<'a> {
    /// Name of the message type.
    pub type_name: &'a str,
    /// Hash of the message's layout, 0 where none is computed.
    pub layout_hash: u64,
    /// The fields, a line each, as [`Header::description`] says. Nothing in this crate depends on it; may be empty.
    pub description: &'a str,
}

/// How a subscriber joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// What the topic must be.
    pub needs: Needs,
    /// How to make the topic, if nobody did yet. A first publisher that wants it otherwise makes it anew.
    pub making: Making,
    /// Messages sent before joining that are wanted of each publisher, as far as they are still there.
    pub history: u64,
    /// How to wait for messages; `None` for what suits the topic.
    pub waiting: Option<Waiting>,
}

/// Size and alignment of a message, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Bytes of a message.
    pub bytes: usize,
    /// Its alignment.
    pub align: usize,
}

impl Payload {
    /// That of messages of type `T`.
    pub const fn of<T>() -> Self {
        Self { bytes: size_of::<T>(), align: align_of::<T>() }
    }
}

impl Kind<'_> {
    pub(super) fn expected(&self, payload: Payload, terms: Terms) -> Expected {
        Expected {
            type_name: self.type_name.to_owned(),
            payload_bytes: payload.bytes,
            payload_align: payload.align,
            layout_hash: self.layout_hash,
            description: self.description.to_owned(),
            terms,
        }
    }
}

impl Making {
    /// The terms on which other publishers may join.
    pub(super) fn terms(&self) -> Terms {
        let Self { policy, capacity, publishers: lanes, wakes, .. } = *self;
        Terms::Exactly { policy, capacity, lanes, wakes }
    }

    pub(super) fn header(&self, expected: &Expected) -> Result<Header, OpenError> {
        let (bytes, align) = (expected.payload_bytes, expected.payload_align);
        let shape = Shape::new(bytes, align, self.capacity, self.publishers, MAX_SUBSCRIBERS)?;
        Header::new(expected, shape, self.policy, self.wakes)
    }
}

/// A segment that was found or made, and the means to take a place in it. Dropped without, it leaves no trace.
pub(super) struct Door {
    // In this order they are dropped: the place goes with the mapping, and the file after it.
    pub segment: Arc<Segment>,
    pub seat: Seat,
    pub last_out: LastOut,
}

impl Door {
    fn new(file: Arc<TopicFile>, description: OwnedFd, header: Header) -> Result<Self, OpenError> {
        let last_out = LastOut::new(file.clone());
        let seat = Seat::new(description); // dropped before `last_out` if there is no room: it may have a place
        let segment = Arc::new(Segment::map(file, seat.description(), header, Residency::Locked)?);
        Ok(Self { segment, seat, last_out })
    }
}

/// What came of taking a place in a segment.
pub(super) enum Entered<R> {
    /// A place was taken.
    Joined(R),
    /// The segment was made to give up its name: to be looked for, and made, again.
    Superseded,
    /// Somebody else is at it for a moment: to be looked for again, a little later.
    Again,
    /// There is no place, as far as could be seen in one look.
    Full(OpenError),
}

/// How often all places must be seen taken before that is believed: who reaps takes places for a moment, too.
const LOOKS_AT_FULL: usize = 3;

/// Opens the topic in the file `path`, or makes it with `making`, and lets `enter` take a place in it; `place` is the one to be
/// taken in a new segment before it has a name. `None` when there is no such topic and it shall not be made, or when somebody is
/// in the way and shall not be waited for.
pub(super) fn open_or_make<R>(
    path: &Path,
    expected: &Expected,
    making: Option<&Making>,
    place: Place,
    mut patience: Option<Patience>,
    enter: impl Fn(Door) -> Result<Entered<R>, OpenError>,
) -> Result<Option<R>, OpenError> {
    // What cannot be made is an error, also where it need not be made.
    let making = making.map(|making| making.header(expected).map(|header| (making, header))).transpose()?;
    let mut seen_full = 0;
    for _attempt in 0..ATTEMPTS {
        let opening = Opening::begin();
        let door = match (find(path)?, &making) {
            (Some(door), _) => door,
            (None, None) => return Ok(None),
            (None, Some((making, header))) => match make_with_room(path, header, making.access, place)? {
                Some(door) => door,
                None => continue, // somebody else was faster
            },
        };
        let file = door.segment.file().clone();
        match enter(door)? {
            Entered::Joined(joined) if file.is_named() => return Ok(Some(joined)),
            Entered::Superseded => continue,
            Entered::Full(error) => {
                seen_full += 1;
                if seen_full == LOOKS_AT_FULL || patience.is_none() {
                    return Err(error);
                }
            }
            Entered::Joined(_) | Entered::Again => {}
        }
        drop(opening); // nobody waits for who waits
        let Some(patience) = &mut patience else { return Ok(None) };
        if !patience.pause() {
            break;
        }
    }
    Err(OpenError::Busy { path: path.to_owned() })
}

/// As [`make`]; where there is no room, removes what the dead left and tries again.
fn make_with_room(path: &Path, header: &Header, access: Access, place: Place) -> Result<Option<Door>, OpenError> {
    match make(path, header.clone(), access, place) {
        Err(OpenError::NoSpace { .. }) => {
            let _found = clean(&Directory::of(path)); // what it cannot do, the next line says better
            make(path, header.clone(), access, place)
        }
        made => made,
    }
}

/// The topic's segment, if living peers use it. Removes one that nobody living uses.
fn find(path: &Path) -> Result<Option<Door>, OpenError> {
    for _attempt in 0..ATTEMPTS {
        let Some(file) = TopicFile::open(path)? else { return Ok(None) };
        let (first_bytes, size) = Alleged::read(file.file(), path)?;
        if Alleged::is_ours(&first_bytes) && file.remove_if_unused()? {
            continue; // look what stands there now
        }
        let rejected = |reason| Rejected { path: path.to_owned(), reason };
        let header = Alleged::new(&first_bytes, size).and_then(|alleged| alleged.validate()).map_err(rejected)?;
        if let Some(description) = file.open_again()? {
            return Door::new(Arc::new(file), description, header).map(Some);
        }
    }
    Err(OpenError::Busy { path: path.to_owned() })
}

/// Makes the topic's segment, takes `place` in it and gives it its name; `None` when somebody else was faster.
fn make(path: &Path, header: Header, access: Access, place: Place) -> Result<Option<Door>, OpenError> {
    let description = file::make_unnamed(path, header.shape.total_bytes(), access)?;
    let written = rustix::io::pwrite(&description, &header.to_bytes(), 0)
        .map_err(|error| OpenError::io("write the header of", path, error))?;
    // A short write to allocated memory does not happen; if it did, the file would not validate.
    debug_assert_eq!(written, HEADER_BYTES);
    failpoint!("create:header");
    // First a place: once named, a segment without a living peer may be removed by anybody.
    locks::try_lock(&description, place).map_err(|error| OpenError::io("lock", path, error))?;
    failpoint!("create:locked");
    if !file::link(&description, path)? {
        return Ok(None);
    }
    failpoint!("create:named");
    match TopicFile::open(path)? {
        Some(file) if file.is_same(&description)? => Door::new(Arc::new(file), description, header).map(Some),
        _ => Ok(None), // a person removed it at this very moment
    }
}

/// The error for a segment whose lane holds what no publisher leaves behind.
pub(super) fn damaged(segment: &Segment, found: u64) -> OpenError {
    let reason = Reason::Position { found };
    Rejected { path: segment.path().to_owned(), reason }.into()
}
