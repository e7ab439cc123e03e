//! Actions: a program sends a goal, hears how far it is, and what came of it; it may cancel it meanwhile.

pub(crate) mod client;
pub(crate) mod server;

use std::ffi::c_char;

pub use client::*;
use horus::action::{Cause, GoalId, Options, Preemption};
use horus::message::layout::Layout;
pub use server::*;

use crate::handle::{look, text};
use crate::layout::horus_layout;
use crate::payload::Of;
use crate::status::{Refusal, misuse};
use crate::topic::options::{horus_options, options};

/// Where a goal stands: the numbers are those of ROS 2.
#[allow(non_camel_case_types)]
pub type horus_goal_status = u32;
/// The server has taken it, and does not work on it yet.
pub const HORUS_GOAL_ACCEPTED: horus_goal_status = 1;
/// The server works on it.
pub const HORUS_GOAL_EXECUTING: horus_goal_status = 2;
/// It is to be canceled, and the server has yet to end it.
pub const HORUS_GOAL_CANCELING: horus_goal_status = 3;
/// It was reached.
pub const HORUS_GOAL_SUCCEEDED: horus_goal_status = 4;
/// It was canceled.
pub const HORUS_GOAL_CANCELED: horus_goal_status = 5;
/// The server gave it up.
pub const HORUS_GOAL_ABORTED: horus_goal_status = 6;

/// What becomes of a goal that comes while another one runs.
#[allow(non_camel_case_types)]
pub type horus_preemption = u32;
/// The new one is rejected.
pub const HORUS_GOAL_REFUSE: horus_preemption = 0;
/// It is accepted, and waits until its turn comes.
pub const HORUS_GOAL_QUEUE: horus_preemption = 1;
/// It takes the place of the other, which is aborted, or ends as canceled if it is canceling.
pub const HORUS_GOAL_REPLACE: horus_preemption = 2;

/// What ended a goal, or has it end.
#[allow(non_camel_case_types)]
pub type horus_goal_cause = u32;
/// The server's program decided so.
pub const HORUS_CAUSE_PROGRAM: horus_goal_cause = 0;
/// Another goal runs, and the server takes no other meanwhile, or has no room for more.
pub const HORUS_CAUSE_BUSY: horus_goal_cause = 1;
/// A newer goal took its place.
pub const HORUS_CAUSE_REPLACED: horus_goal_cause = 2;
/// Its client is gone.
pub const HORUS_CAUSE_CLIENT_GONE: horus_goal_cause = 3;
/// A client canceled it.
pub const HORUS_CAUSE_CANCELED: horus_goal_cause = 4;
/// It cannot be read: both programs have to be built from the same type.
pub const HORUS_CAUSE_UNREADABLE: horus_goal_cause = 5;
/// A living goal has the same number.
pub const HORUS_CAUSE_TWICE: horus_goal_cause = 6;
/// The server's result cannot be sent.
pub const HORUS_CAUSE_NO_RESULT: horus_goal_cause = 7;

/// What a goal is known by: 16 bytes, as ROS 2's UUID.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct horus_goal_id {
    /// The bytes.
    pub bytes: [u8; 16],
}

impl From<GoalId> for horus_goal_id {
    fn from(id: GoalId) -> Self {
        Self { bytes: id.0 }
    }
}

fn cause(of: Cause) -> horus_goal_cause {
    of as u32
}

/// The goal that C means.
///
/// # Safety
/// `id` is null or may be read.
unsafe fn id_of(id: *const horus_goal_id) -> Result<GoalId, Refusal> {
    // SAFETY: null, or it may be read, by the caller's promise.
    unsafe { id.as_ref() }.map(|id| GoalId(id.bytes)).ok_or_else(|| misuse("the number of the goal is null"))
}

/// What both ends are opened with.
type Opening<'a> = (&'a str, [&'a Layout; 3], Options);

/// # Safety
/// `action` ends with a zero byte, the layouts are handles that are not closed meanwhile, `given` is null or may be read.
unsafe fn opening<'a>(
    action: *const c_char,
    layouts: [*mut horus_layout; 3],
    given: *const horus_options,
) -> Result<Opening<'a>, Refusal> {
    let mut found = [None; 3];
    for (place, layout) in found.iter_mut().zip(layouts) {
        // SAFETY: the caller's promise is the same.
        let Of::Messages(layout) = unsafe { look(layout) }? else {
            return Err(misuse(
                "goals, feedbacks and results are structs here: bytes have no place in an action of C yet",
            ));
        };
        *place = Some(layout);
    }
    let [Some(goal), Some(feedback), Some(result)] = found else { return Err(misuse("a layout is missing")) };
    // SAFETY: the caller's promises are the same.
    unsafe {
        let clients = given.as_ref().map_or(0, |given| given.publishers as usize);
        let options = Options::default().clients(clients).of_topic(options(given)?);
        Ok((text(action, "name of the action")?, [goal, feedback, result], options))
    }
}

/// What becomes of goals that come meanwhile.
fn preemption(asked: horus_preemption) -> Result<Preemption, Refusal> {
    Ok(match asked {
        HORUS_GOAL_REFUSE => Preemption::Refuse,
        HORUS_GOAL_QUEUE => Preemption::Queue,
        HORUS_GOAL_REPLACE => Preemption::Replace,
        other => return Err(misuse(format!("there is no preemption {other}: HORUS_GOAL_REFUSE, _QUEUE or _REPLACE"))),
    })
}
