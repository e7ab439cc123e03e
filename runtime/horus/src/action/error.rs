//! Why an action cannot be served, and why a goal has no outcome: each with what to do.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::status::NotAllowed;
use super::{Cause, Reason};
use crate::service::CallError;
use crate::topic::{OpenError, SerializeError};

/// Why a goal has no outcome.
#[derive(Debug, Error)]
pub enum ActionError {
    /// The server does not take the goal.
    #[error("the server of {action} rejected the goal: {reason}")]
    Rejected {
        /// The action.
        action: Arc<str>,
        /// Why.
        cause: Cause,
        /// Why, for people.
        reason: Reason,
    },
    /// No living program serves it. The goal was not sent.
    #[error(
        "action {action} has no server: start the program that serves it, or wait for it (`ActionClient::wait_until_served`)"
    )]
    NotServed {
        /// The action.
        action: Arc<str>,
    },
    /// The server was killed, crashed, or was replaced by another.
    #[error(
        "the server of {action} died before the goal had its outcome: no program works on it any more; send it again when the action is served"
    )]
    Died {
        /// The action.
        action: Arc<str>,
    },
    /// The server ended in order.
    #[error("the server of {action} stopped before the goal had its outcome: send it again when the action is served")]
    Stopped {
        /// The action.
        action: Arc<str>,
    },
    /// The server ended the goal, and could not say how.
    #[error("the server of {action} ended the goal, and its outcome had no room: look at your goals more often")]
    Untold {
        /// The action.
        action: Arc<str>,
    },
    /// The time is up. The goal is to be canceled.
    #[error(
        "the goal had no outcome of {action} within {limit:?}, and is to be canceled: give it longer, or look what holds it up (`horus action list`)"
    )]
    TimedOut {
        /// The action.
        action: Arc<str>,
        /// How long the caller waited.
        limit: Duration,
    },
    /// The server lives, and did not answer a request to cancel within the limit. It may cancel the goal yet.
    #[error(
        "the server of {action} did not answer the request to cancel within {limit:?}: look for the goal's outcome, or ask again"
    )]
    CancelUnanswered {
        /// The action.
        action: Arc<str>,
        /// How long the caller waited.
        limit: Duration,
    },
    /// As many goals as a client may have are not over, or as many requests to cancel have no answer.
    #[error(
        "{goals} goals of this client to {action} are not over, and no client may have more: look for their outcomes, or drop them"
    )]
    TooMany {
        /// The action.
        action: Arc<str>,
        /// The goals.
        goals: usize,
    },
    /// The server has not taken the goals before this one.
    #[error(
        "the server of {action} has yet to take the last {goals} messages of this client: send the goal again later"
    )]
    Full {
        /// The action.
        action: Arc<str>,
        /// The goals.
        goals: usize,
    },
    /// The outcome was taken already.
    #[error("this goal of {action} has had its outcome, or belongs to another client: send another")]
    Over {
        /// The action.
        action: Arc<str>,
    },
    /// What came is no value of the type.
    #[error(
        "what the server of {action} sends cannot be read ({source}): build both programs from the same type definition"
    )]
    Unreadable {
        /// The action.
        action: Arc<str>,
        /// What is wrong with it.
        source: postcard::Error,
    },
    /// The goal cannot be sent: it is too long, or cannot be serialized.
    #[error(transparent)]
    NotSent(Box<dyn Error + Send + Sync>),
    /// One of its topics cannot be used any longer.
    #[error(transparent)]
    Topic(#[from] OpenError),
}

impl ActionError {
    /// What a call of one of the action's services says.
    pub(super) fn of_call(error: CallError, action: &Arc<str>) -> Self {
        let action = Arc::clone(action);
        match error {
            CallError::NotServed { .. } => Self::NotServed { action },
            CallError::Died { .. } => Self::Died { action },
            CallError::Stopped { .. } => Self::Stopped { action },
            CallError::Unanswered { .. } => Self::Untold { action },
            CallError::TimedOut { limit, .. } => Self::TimedOut { action, limit },
            CallError::TooMany { calls: goals, .. } => Self::TooMany { action, goals },
            CallError::Full { requests: goals, .. } => Self::Full { action, goals },
            CallError::Over { .. } => Self::Over { action },
            CallError::NotSent(error) => Self::NotSent(error),
            CallError::Topic(error) => Self::Topic(error),
            #[allow(unreachable_patterns)] // services may learn of more
            other => Self::NotSent(other.into()),
        }
    }
}

/// Why a feedback or an outcome did not go as the server's program wanted.
#[derive(Debug, Error)]
pub enum GoalError {
    /// This cannot happen to the goal where it stands. Nothing was sent.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The goal is over, so no feedback of it was sent.
    #[error("the goal is over, and no feedback of it was sent: look at its status (`Goal::poll`) and end its work")]
    Over,
    /// The feedback or the result is too long, or cannot be serialized. A goal that was to end has ended as aborted, without a result.
    #[error(transparent)]
    NotSent(#[from] SerializeError),
    /// The goal has ended, and its client does not look at what it has: it was not told.
    #[error("the goal has ended, and its client was not told: it does not look at what came for it before")]
    Untold,
}
