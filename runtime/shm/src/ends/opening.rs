//! Finds or makes the segment of a topic; the caller takes a place in it.
//!
//! # Why no process is left with a file that has no name
//! A name is taken away by the process that has the locks of all places ([`crate::segment::file`]). A process that opens a file
//! takes a place in it and then looks whether it still has a name. A new file has a place taken before it has a name.
//!
//! # Why no process takes a place in half a topic
//! Who opens a file reads its header, maps it and takes its place in the door (`peers::door`), and who remakes the topic has the door
//! alone ([`super::remake`]).

use std::os::fd::OwnedFd;
use std::path::Path;

use horus_sys::failpoint;

use crate::directory::Directory;
use crate::error::OpenError;
use crate::patience::Patience;
use crate::peers::Seat;
use crate::peers::clean::clean;
use crate::peers::door::{self, Manner};
use crate::peers::fork::Opening;
use crate::peers::locks::{self, Place};
use crate::segment::Segment;
use crate::segment::file::{self, Access, LastOut, TopicFile};
use crate::segment::header::{Expected, Header, Needs, Terms, is_kept};
use crate::segment::layout::{DeliveryPolicy, HEADER_BYTES, MAX_SUBSCRIBERS, Shape};
use crate::segment::look::Look;
use crate::segment::map::Residency;
use crate::segment::rejected::{Reason, Rejected};
use crate::sync::Arc;
use crate::wait::WaitStrategy;

/// Files that vanish between finding and opening are looked for again this often before that is an error.
const ATTEMPTS: usize = 10_000;

/// How a topic is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// Messages that a lane holds, a power of two.
    pub capacity: usize,
    /// Messages that it has to hold for this program where others have made it.
    pub least: usize,
    /// What happens when it is full.
    pub policy: DeliveryPolicy,
    /// Who may open it.
    pub access: Access,
    /// Publishers that it has room for: each has a lane of `capacity` messages. The monitor's lane is not among them.
    pub publishers: usize,
    /// Whether publishers wake subscribers that sleep.
    pub wakes: bool,
    /// Whether the last messages outlive the topic's users.
    pub is_latched: bool,
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
    /// How to make the topic, if no peer did yet. A peer that comes before it is published, and needs more of it, remakes it.
    pub making: Making,
    /// Messages sent before joining that are wanted of each publisher, as far as they are still there.
    pub history: u64,
    /// How to wait for messages; `None` for what suits the topic.
    pub wait_strategy: Option<WaitStrategy>,
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

impl Joining {
    /// How it waits on a topic with this header.
    pub(super) fn wait_strategy_at(&self, header: &Header) -> WaitStrategy {
        self.wait_strategy.unwrap_or(match header.wakes {
            true => WaitStrategy::default(),
            false => WaitStrategy::WITHOUT_WAKING,
        })
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
    /// What a topic must be for a publisher that would make it so.
    pub(super) fn terms(&self) -> Terms {
        let Self { policy, least: capacity, publishers, wakes, is_latched, .. } = *self;
        Terms::Publishing { policy, capacity, publishers, wakes, is_latched }
    }

    pub(super) fn header(&self, expected: &Expected) -> Result<Header, OpenError> {
        let (bytes, align) = (expected.payload_bytes, expected.payload_align);
        let shape = Shape::new(bytes, align, self.capacity, self.publishers, MAX_SUBSCRIBERS)?;
        Header::new(expected, shape, self.policy, (self.wakes, self.is_latched))
    }
}

/// A segment that was found or made, by who is in its door, and the means to take a place in it. Dropped without, it leaves no trace.
pub(super) struct Door {
    // In this order they are dropped: the place goes with the mapping, and the file after it.
    pub segment: Arc<Segment>,
    pub seat: Seat,
    pub last_out: LastOut,
    pub manner: Manner,
}

impl Door {
    fn new(
        file: TopicFile,
        description: OwnedFd,
        (header, generation): (Header, u64),
        manner: Manner,
    ) -> Result<Self, OpenError> {
        let file = Arc::new(file);
        let last_out = LastOut::new(file.clone());
        let seat = Seat::new(description); // dropped before `last_out` if there is no room: it may have a place
        let segment = Arc::new(Segment::map(file, seat.description(), header, generation, Residency::Locked)?);
        Ok(Self { segment, seat, last_out, manner })
    }
}

/// What came of taking a place in a segment.
pub(super) enum Entered<R> {
    /// A place was taken.
    Joined(R),
    /// The topic has to be remade: to be opened again, by who has the door alone.
    Alone,
    /// Another process is at it for a moment: to be looked for again, a little later.
    Again,
    /// There is no place, as far as could be seen in one look.
    Full(OpenError),
}

/// How often all places must be seen taken before that is believed: who reaps takes places for a moment, too.
const LOOKS_AT_FULL: usize = 3;

/// Opens the topic in the file `path`, or makes it with `making`, and lets `enter` take a place in it; `place` is the one to be
/// taken in a new segment before it has a name. `None` when there is no such topic and it shall not be made.
pub(super) fn open_or_make<R>(
    path: &Path,
    expected: &Expected,
    making: Option<&Making>,
    place: Place,
    enter: impl Fn(Door) -> Result<Entered<R>, OpenError>,
) -> Result<Option<R>, OpenError> {
    // What cannot be made is an error, also where it need not be made.
    let making = making.map(|making| making.header(expected).map(|header| (making, header))).transpose()?;
    let (mut seen_full, mut manner, mut patience) = (0, Manner::Beside, Patience::new());
    for _attempt in 0..ATTEMPTS {
        let opening = Opening::begin();
        let entered = match (find(path, manner, expected)?, &making) {
            (Found::Door(door), _) => Some(door),
            (Found::Nothing, None) => return Ok(None),
            (Found::Nothing, Some((making, header))) => match make_with_room(path, header, making.access, place)? {
                Some(door) => Some(door),
                None => continue, // another process was faster
            },
            (Found::Closed, _) => None,
        };
        let entered = entered.map(|door| {
            let file = door.segment.file().clone();
            Ok::<_, OpenError>((enter(door)?, file))
        });
        match entered.transpose()? {
            Some((Entered::Joined(joined), file)) if file.is_named() => return Ok(Some(joined)),
            Some((Entered::Alone, _)) => {
                manner = Manner::Alone;
                continue;
            }
            Some((Entered::Full(error), _)) => {
                seen_full += 1;
                if seen_full == LOOKS_AT_FULL {
                    return Err(error);
                }
            }
            Some((Entered::Joined(_) | Entered::Again, _)) | None => {}
        }
        drop(opening); // no process waits for one that waits
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

/// What stands under a topic's name.
enum Found {
    /// A segment, whose door is open.
    Door(Door),
    /// A segment, whose door is not.
    Closed,
    Nothing,
}

/// The topic's segment, if living peers use it, or if it is latched. Removes another one that no living peer uses, and a latched one that this
/// publisher cannot publish: no living peer needs it as it is.
fn find(path: &Path, manner: Manner, expected: &Expected) -> Result<Found, OpenError> {
    for _attempt in 0..ATTEMPTS {
        let Some(file) = TopicFile::open(path)? else { return Ok(Found::Nothing) };
        let look = Look::at(file.file(), path)?;
        if look.is_ours() && !stays(&file, &look, expected) && file.remove_if_unused()? {
            continue; // look what stands there now
        }
        let Some(description) = file.open_again()? else { continue };
        if !door::enter(&description, manner).map_err(|error| OpenError::io("lock", path, error))? {
            return Ok(Found::Closed);
        }
        // Once more: what was seen before may have been remade meanwhile.
        let look = Look::at(file.file(), path)?;
        return Door::new(file, description, (look.header(path)?, look.generation()), manner).map(Found::Door);
    }
    Err(OpenError::Busy { path: path.to_owned() })
}

/// Whether a topic without living users is to be joined by who expects this of it, and not made anew.
fn stays(file: &TopicFile, look: &Look, expected: &Expected) -> bool {
    let suits = |header: Header| matches!(expected.terms, Terms::AtLeast(_)) || header.check(expected).is_ok();
    is_kept(file.file()) && look.header(file.path()).is_ok_and(suits)
}

/// Makes the topic's segment, takes `place` in it and gives it its name; `None` when another process was faster.
fn make(path: &Path, header: Header, access: Access, place: Place) -> Result<Option<Door>, OpenError> {
    let description = file::make_unnamed(path, header.shape.total_bytes(), access)?;
    let written = rustix::io::pwrite(&description, &header.to_bytes(), 0)
        .map_err(|error| OpenError::io("write the header of", path, error))?;
    // A short write to allocated memory does not happen; if it did, the file would not validate.
    debug_assert_eq!(written, HEADER_BYTES);
    failpoint!("create:header");
    // First a place: once named, a segment without a living peer may be removed by anybody.
    locks::try_lock(&description, place).map_err(|error| OpenError::io("lock", path, error))?;
    door::enter(&description, Manner::Beside).map_err(|error| OpenError::io("lock", path, error))?;
    failpoint!("create:locked");
    if !file::link(&description, path)? {
        return Ok(None);
    }
    failpoint!("create:named");
    match TopicFile::open(path)? {
        Some(file) if file.is_same(&description)? => {
            Door::new(file, description, (header, 0), Manner::Beside).map(Some)
        }
        _ => Ok(None), // a person removed it at this very moment
    }
}

/// The error for a segment whose lane holds what no publisher leaves behind.
pub(super) fn damaged(segment: &Segment, found: u64) -> OpenError {
    let reason = Reason::Position { found };
    Rejected { path: segment.path().to_owned(), reason }.into()
}
