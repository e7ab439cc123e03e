//! Where a goal stands: the states of ROS 2, and what leads from one to another.
//!
//! ```text
//!             execute              succeed
//! ACCEPTED ──────────► EXECUTING ──────────► SUCCEEDED
//!     │                 │      └── abort ──► ABORTED
//!     │ cancel_goal     │ cancel_goal
//!     └──────► CANCELING ◄┘ ── canceled ───► CANCELED
//!                       └── succeed, abort: as from EXECUTING
//! ```
//!
//! The numbers are those of ROS 2's `action_msgs/GoalStatus`, so that a bridge translates none.

use std::fmt;

use thiserror::Error;

/// Where a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalStatus {
    /// The server has taken it, and does not work on it yet.
    Accepted = 1,
    /// The server works on it.
    Executing = 2,
    /// It is to be canceled, and the server has yet to end it.
    Canceling = 3,
    /// It was reached.
    Succeeded = 4,
    /// It was canceled.
    Canceled = 5,
    /// The server gave it up.
    Aborted = 6,
}

/// What happens to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalEvent {
    /// The server begins to work on it.
    Execute,
    /// It is asked to be canceled, and the server agrees.
    CancelGoal,
    /// It is reached.
    Succeed,
    /// The server gives it up.
    Abort,
    /// The server has ended what was to be canceled.
    Canceled,
}

/// What cannot happen to a goal.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a goal that is {status} cannot {event}: {}", self.remedy())]
pub struct NotAllowed {
    /// Where the goal stands.
    pub status: GoalStatus,
    /// What was to happen.
    pub event: GoalEvent,
}

impl NotAllowed {
    fn remedy(&self) -> &'static str {
        match (self.status, self.event) {
            (status, _) if status.is_over() => "it has its outcome; look at its status before you end it",
            (_, GoalEvent::Canceled) => {
                "only one that is canceling is ended so; end it by succeed or abort, or wait until a client cancels it"
            }
            (GoalStatus::Accepted, _) => "it waits for its turn, and only a goal that executes is ended by its server",
            _ => "it happened before",
        }
    }
}

impl GoalStatus {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Accepted, Self::Executing, Self::Canceling, Self::Succeeded, Self::Canceled, Self::Aborted];

    /// Where the goal stands after the event; [`NotAllowed`] if it cannot happen.
    ///
    /// # Errors
    /// As said.
    pub const fn after(self, event: GoalEvent) -> Result<Self, NotAllowed> {
        Ok(match (self, event) {
            (Self::Accepted, GoalEvent::Execute) => Self::Executing,
            (Self::Accepted | Self::Executing, GoalEvent::CancelGoal) => Self::Canceling,
            (Self::Executing | Self::Canceling, GoalEvent::Succeed) => Self::Succeeded,
            (Self::Executing | Self::Canceling, GoalEvent::Abort) => Self::Aborted,
            (Self::Canceling, GoalEvent::Canceled) => Self::Canceled,
            (status, event) => return Err(NotAllowed { status, event }),
        })
    }

    /// Whether nothing happens to the goal any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }

    /// Its number in ROS 2.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The state of this number; `None` where there is none, such as 0, which ROS 2 has for one that is not known.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}

impl fmt::Display for GoalEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Execute => "begin",
            Self::CancelGoal => "be canceled",
            Self::Succeed => "succeed",
            Self::Abort => "be aborted",
            Self::Canceled => "end as canceled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The transitions of rcl_action, by the numbers of `action_msgs/GoalStatus`.
    const OF_ROS: [(u32, GoalEvent, u32); 8] = [
        (1, GoalEvent::Execute, 2),
        (1, GoalEvent::CancelGoal, 3),
        (2, GoalEvent::CancelGoal, 3),
        (2, GoalEvent::Succeed, 4),
        (2, GoalEvent::Abort, 6),
        (3, GoalEvent::Succeed, 4),
        (3, GoalEvent::Abort, 6),
        (3, GoalEvent::Canceled, 5),
    ];
    const EVENTS: [GoalEvent; 5] =
        [GoalEvent::Execute, GoalEvent::CancelGoal, GoalEvent::Succeed, GoalEvent::Abort, GoalEvent::Canceled];

    #[test]
    fn states_and_transitions_are_those_of_ros_2_and_no_others() {
        for status in GoalStatus::ALL {
            for event in EVENTS {
                let wanted = OF_ROS.iter().find(|&&(from, by, _)| from == status.code() && by == event);
                assert_eq!(
                    status.after(event).ok().map(GoalStatus::code),
                    wanted.map(|&(_, _, to)| to),
                    "{status} {event}"
                );
            }
        }
        assert_eq!((GoalStatus::of_code(0), GoalStatus::of_code(7)), (None, None));
        assert_eq!(GoalStatus::of_code(3), Some(GoalStatus::Canceling));
    }

    #[test]
    fn what_cannot_happen_says_what_to_do() {
        let error = GoalStatus::Executing.after(GoalEvent::Canceled).unwrap_err().to_string();
        assert_eq!(
            error,
            "a goal that is executing cannot end as canceled: only one that is canceling is ended so; end it by succeed or abort, \
             or wait until a client cancels it"
        );
        let error = GoalStatus::Aborted.after(GoalEvent::Succeed).unwrap_err().to_string();
        assert!(error.contains("it has its outcome"), "{error}");
    }
}
