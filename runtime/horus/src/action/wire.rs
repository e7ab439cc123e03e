//! What goes between the ends of an action: what stands before a goal, a feedback and an outcome, and how that is one message with them.

mod carried;
mod letter;
mod messages;

pub use carried::Carried;
pub(super) use letter::Sealed;
pub use letter::{Head, Letter};
pub(super) use messages::GONE;
pub use messages::{CancelAnswer, CancelGoal, FeedbackHead, GoalHead, GoalState, GoalStatusArray, OutcomeHead};
