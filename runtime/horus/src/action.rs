//! Actions: a program sends a goal, hears how far it is, and what came of it; it may cancel it meanwhile.
//!
//! ```
//! use std::time::Duration;
//! use horus::action::{ActionClient, ActionServer, GoalStatus, Options, Progress};
//!
//! horus::message! {
//!     /// Where to go.
//!     pub struct DriveTo = "example/DriveTo" { x: f64 }
//! }
//! horus::message! {
//!     /// How far it is.
//!     pub struct Remaining = "example/Remaining" { metres: f64 }
//! }
//! horus::message! {
//!     /// Where it ended.
//!     pub struct Arrived = "example/Arrived" { x: f64 }
//! }
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm")?;
//! let options = Options::default();
//! # let options = options.directory(scratch.path());
//! let mut server = ActionServer::<DriveTo, Remaining, Arrived>::open("drive_to", &options)?; // in one program
//! let mut client = ActionClient::<DriveTo, Remaining, Arrived>::open("drive_to", &options)?; // in another
//!
//! let mut sent = client.send(DriveTo { x: 2.0 })?;
//! let mut goal = server.next_goal(Duration::from_secs(1)).expect("one was sent");
//! goal.feedback(Remaining { metres: 1.5 })?;
//! goal.succeed(Arrived { x: 2.0 })?;
//!
//! assert_eq!(sent.look(&mut client)?, Progress::Accepted);
//! assert_eq!(sent.look(&mut client)?, Progress::Feedback(Remaining { metres: 1.5 }));
//! let Progress::Ended(outcome) = sent.look(&mut client)? else { panic!("it has ended") };
//! assert_eq!((outcome.status, outcome.result), (GoalStatus::Succeeded, Some(Arrived { x: 2.0 })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What an action is made of
//! Services and topics, and nothing below them. An action `drive_to` is
//! - the service `drive_to.goal`: a request is a goal with its number; its answer has two parts, whether it was accepted, and how it ended,
//! - the service `drive_to.cancel`, as ROS 2 has it,
//! - the `latest` topics `drive_to.feedback` and `drive_to.status`; the second says where all goals stand.
//!
//! A bridge has ROS 2's `send_goal` and `get_result` in the two parts of an answer.
//!
//! # What becomes of a goal
//! Its states and transitions are those of ROS 2 ([`GoalStatus`]). It has an [`Outcome`], or one of the errors of [`ActionError`]: never a wait without an end. A goal
//! whose client is gone is canceled, if the server does not say otherwise ([`ClientGone`]).
//!
//! # What it does not do
//! - A result is told to the client that sent the goal, once. Who else wants it has to hear it from that client.
//! - Feedbacks that a client does not look at in time are overwritten, and counted ([`ActionClient::missed`]).

mod client;
mod error;
mod goal;
mod id;
mod options;
mod reason;
mod requests;
mod roll;
mod sent;
mod server;
mod status;
mod table;
#[cfg(test)]
mod table_model;
mod tracks;
mod wire;

pub(crate) use client::Ends as ClientEnds;
pub use client::{ActionClient, CancelRequest};
pub use error::{ActionError, GoalError};
pub use goal::Goal;
pub use id::{GoalId, NoGoalId};
pub use options::{ClientGone, Options, Preemption};
pub use reason::{Cause, Reason};
pub(crate) use requests::Requests;
pub(crate) use roll::Looker;
pub use sent::{Outcome, Progress, SentGoal};
pub use server::ActionServer;
pub(crate) use server::Ends as ServerEnds;
pub use status::{GoalEvent, GoalStatus, NotAllowed};
pub use wire::{CancelAnswer, CancelGoal, Carried, GoalState, GoalStatusArray};
#[doc(hidden)] // what the types of an action's topics begin with, for tools
pub use wire::{FeedbackHead, GoalHead, Head, Letter, OutcomeHead};

/// Goals of a server that are not over at a time.
pub const MAX_GOALS: usize = 16;
/// Goals that [`GoalStatusArray`] has room for.
pub const MAX_STATES: usize = 32;
/// Feedbacks of a goal that wait in a client.
pub const MAX_FEEDBACKS: usize = 16;
/// Bytes of a [`Reason`].
pub const REASON_BYTES: usize = 92;

/// The service of an action's goals.
pub(crate) fn goals_of(action: &str) -> String {
    format!("{action}.goal")
}

/// The service of requests to cancel.
pub(crate) fn cancels_of(action: &str) -> String {
    format!("{action}.cancel")
}

/// The topic of feedbacks.
pub(crate) fn feedback_of(action: &str) -> String {
    format!("{action}.feedback")
}

/// The topic that says where its goals stand.
pub(crate) fn status_of(action: &str) -> String {
    format!("{action}.status")
}
