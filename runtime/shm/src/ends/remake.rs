//! Remakes a topic that no peer has published yet, in its own file.
//!
//! A subscriber that comes first makes the topic as it would like it. The peer that comes next may need more of it: the first
//! publisher, or another subscriber. As long as no lane was ever used there is no message, and so nothing but the topic's shape
//! to change.
//!
//! # Why nothing is lost
//! Everything up to the lanes stays where it is: who is a member, who sleeps, what each needs, and the locks that tell who lives. So a
//! member of the topic is one of the remade topic, from before its first message, with the cursor 0 in every lane. A member
//! that finds no lane used looks at the generation, maps the file anew if it is another one, and takes its cursors over in the same
//! receiving call ([`super::following`]). A reliable publisher waits for it until then; on a `latest` topic it counts what was
//! overwritten.
//!
//! # Why no peer sees half of it
//! The peer that remakes has the door alone (`peers::door`), so no peer joins meanwhile. Members see no lane used: each
//! generation has its own word for that, and the word of an older one stays empty for ever. Who holds no door looks at the
//! generation before and after the header.
//!
//! # Who is killed in it
//! Up to `remake:begun` nothing has changed but the file's size, which may be larger than it needs to be. From there to `remake:remade` the
//! generation is odd. Who comes next finds it so, reads of the header what stays the same, and remakes the topic once more.

use horus_sys::failpoint;

use super::opening::{Door, Making};
use crate::directory::Directory;
use crate::error::OpenError;
use crate::peers::clean::clean;
use crate::peers::door::Manner;
use crate::peers::{reap, subscribers};
use crate::segment::Segment;
use crate::segment::file::{Access, TopicFile};
use crate::segment::generation;
use crate::segment::header::{Expected, Header, Terms};
use crate::segment::layout::{GENERATIONS, HEADER_BYTES};
use crate::segment::map::Residency;
use crate::segment::rejected::{Reason, Rejected};
use crate::sync::{Arc, Ordering};
use crate::wait::bell::ring;
use crate::wait::wake_all;

/// The door of a topic that is what `expected` says, remade if that is needed and possible; with `access`, if that is given. `None`
/// when it has to be remade and others are in the door.
///
/// # Errors
/// Why the topic cannot be used: it carries other messages, or was published otherwise, or a subscriber needs it otherwise.
pub(super) fn suited(
    door: Door,
    expected: &Expected,
    making: &Making,
    access: Option<Access>,
) -> Result<Option<Door>, OpenError> {
    let segment = &door.segment;
    let rejected = |reason| Rejected { path: segment.path().to_owned(), reason };
    let header = segment.header();
    header.check_type(expected).map_err(rejected)?;
    let is_published = segment.used_lanes().load(Ordering::Relaxed) != 0;
    let fits = match segment.is_finished() {
        true => header.check_terms(&expected.terms),
        false => Err(Reason::Inconsistent { field: "generation", found: segment.generation(), expected: 0 }),
    };
    let is_open = access.is_none_or(|access| segment.file().has_access(access));
    match fits {
        Ok(()) if is_published || is_open => Ok(Some(door)),
        Err(reason) if is_published => Err(rejected(reason).into()),
        _ if door.manner == Manner::Beside => Ok(None),
        fits => {
            let agreed = (fits.is_err()).then(|| agreed(segment, expected, making)).transpose()?;
            if let Some(access) = access.filter(|_| !is_open) {
                segment.file().set_access(access)?;
            }
            agreed.map_or_else(|| Ok(door.segment.clone()), |header| remake(&door, header)).map(|segment| {
                let Door { seat, last_out, manner, .. } = door;
                Some(Door { segment, seat, last_out, manner })
            })
        }
    }
}

/// The header of the topic remade so that it is enough for `making` and for each living subscriber.
fn agreed(segment: &Segment, expected: &Expected, making: &Making) -> Result<Header, OpenError> {
    let Making { mut capacity, mut publishers, mut wakes, mut is_latched, .. } = *making;
    let (mut policy, is_publisher) = match expected.terms {
        Terms::Publishing { policy, .. } => (Some(policy), true),
        Terms::AtLeast(needs) => (needs.policy, false),
    };
    if segment.is_finished() {
        publishers = publishers.max(segment.header().shape.publishers());
        is_latched |= segment.header().is_latched;
    }
    reap(segment);
    for (who, needs) in subscribers(segment)? {
        let contradicts = needs.policy.is_some_and(|needed| policy.is_some_and(|policy| policy != needed));
        if contradicts || (is_publisher && needs.waking && !wakes) {
            return Err(OpenError::Needed { path: segment.path().to_owned(), who, needs });
        }
        policy = policy.or(needs.policy);
        capacity = capacity.max(needs.capacity);
        wakes |= needs.waking;
    }
    segment.header().remade(capacity, publishers, policy.unwrap_or(making.policy), (wakes, is_latched))
}

/// Remakes the topic with this header; the new mapping keeps the place as the old one does.
fn remake(door: &Door, header: Header) -> Result<Arc<Segment>, OpenError> {
    let file = door.segment.file();
    let before = door.segment.generation();
    let generation = generation::next(before);
    if generation / 2 >= GENERATIONS as u64 {
        return Err(OpenError::Busy { path: file.path().to_owned() }); // so often it was remade by who was killed in it
    }
    let bytes = header.to_bytes();
    grow(file, header.shape.total_bytes())?;
    failpoint!("remake:grown");
    let segment = Segment::map(file.clone(), door.seat.description(), header, generation, Residency::Locked)?;
    let write_header = || {
        let written = rustix::io::pwrite(file.file(), &bytes, 0)
            .map_err(|error| OpenError::io("write the header of", file.path(), error))?;
        debug_assert_eq!(written, HEADER_BYTES); // as where a segment is made
        Ok::<_, OpenError>(())
    };
    generation::remake(segment.generation_word(), before, write_header, || segment.clear_lanes())?;
    // Who sleeps may have to wait otherwise from now on.
    ring(&segment);
    wake_all(&segment);
    Ok(Arc::new(segment))
}

/// As [`TopicFile::grow`]; where there is no room, removes what the dead left and tries again.
fn grow(file: &TopicFile, bytes: usize) -> Result<(), OpenError> {
    match file.grow(bytes) {
        Err(OpenError::NoSpace { .. }) => {
            let _found = clean(&Directory::of(file.path())); // what it cannot do, the next line says better
            file.grow(bytes)
        }
        grown => grown,
    }
}
