//! The messages of every action, beside those of its own types.

use super::letter::Head;
use crate::action::{MAX_STATES, REASON_BYTES};

crate::message! {
    /// What stands before a goal.
    pub struct GoalHead = "horus/GoalHead" {
        /// What the goal is known by.
        goal_id: [u8; 16],
    }
}

crate::message! {
    /// What stands before a feedback.
    pub struct FeedbackHead = "horus/FeedbackHead" {
        /// Which goal it is of.
        goal_id: [u8; 16],
    }
}

crate::message! {
    /// What stands before a result. The server says it twice of a goal: when it accepts the goal, and when the goal has ended.
    ///
    /// All of it is bytes, and 112 of them: so behind it every message may begin and end, whatever it is aligned to.
    pub struct OutcomeHead = "horus/OutcomeHead" {
        /// When it was accepted, nanoseconds on CLOCK_MONOTONIC, the lowest byte first.
        accepted_ns: [u8; 8],
        /// Where the goal stands, by [`GoalStatus::code`](crate::action::GoalStatus::code); 0 if it was rejected.
        status: u8,
        /// Why, by [`Cause`](crate::action::Cause).
        cause: u8,
        /// 1 if the result behind it says something.
        has_result: u8,
        /// Zeros.
        spare: [u8; 9],
        /// Why, for people.
        reason_text: [u8; REASON_BYTES],
    }
}

crate::message! {
    /// Asks for goals to be canceled. As in ROS 2: the goal of this number; all goals that were accepted by then; both; or, with zeros, all.
    #[derive(Default, Eq)]
    pub struct CancelGoal = "horus/CancelGoal" {
        /// The goal, or zeros.
        goal_id: [u8; 16],
        /// A time on CLOCK_MONOTONIC, or 0.
        until_ns: u64,
        /// Of a client that goes or comes: goals of its lane with lower numbers have no client any more.
        before: u64,
        /// Its lane.
        lane: u32,
        /// 0 to cancel, 1 from a client that goes or comes.
        what: u32,
    }
}

/// [`CancelGoal::what`] of a client that goes or comes.
pub(in crate::action) const GONE: u32 = 1;

crate::message! {
    /// What became of a [`CancelGoal`].
    #[derive(Eq)]
    pub struct CancelAnswer = "horus/CancelAnswer" {
        /// As in ROS 2: 0 some or all are canceling, 1 refused, 2 no such goal, 3 it has ended already.
        return_code: u32,
        /// How many are canceling.
        count: u32,
        /// Which.
        goals: [[u8; 16]; MAX_STATES],
    }
}

crate::message! {
    /// Where a goal stands.
    #[derive(Default, Eq)]
    pub struct GoalState = "horus/GoalState" {
        /// What it is known by.
        goal_id: [u8; 16],
        /// When it was accepted, nanoseconds on CLOCK_MONOTONIC.
        accepted_ns: u64,
        /// [`GoalStatus::code`](crate::action::GoalStatus::code).
        status: u32,
        /// The lane of its client.
        client: u32,
    }
}

crate::message! {
    /// Where the goals of an action stand: those that are not over, and behind them the last ones that are.
    #[derive(Eq)]
    pub struct GoalStatusArray = "horus/GoalStatusArray" {
        /// How many.
        count: u64,
        /// The goals.
        goals: [GoalState; MAX_STATES],
    }
}

impl Head for GoalHead {
    const SUFFIX: &'static str = "_Goal";
    const BODY: &'static str = "goal";
}

impl Head for FeedbackHead {
    const SUFFIX: &'static str = "_Feedback";
    const BODY: &'static str = "feedback";
}

impl Head for OutcomeHead {
    const SUFFIX: &'static str = "_Outcome";
    const BODY: &'static str = "result";
}

impl GoalStatusArray {
    /// The goals that it tells of; what a peer alleges is bounded.
    pub fn goals(&self) -> &[GoalState] {
        &self.goals[..usize::try_from(self.count).unwrap_or(usize::MAX).min(MAX_STATES)]
    }
}

impl CancelAnswer {
    /// Goals are canceling, or there was none to cancel: ROS 2's `ERROR_NONE`.
    pub const NONE: u32 = 0;
    /// The server's program refused: `ERROR_REJECTED`.
    pub const REJECTED: u32 = 1;
    /// No such goal: `ERROR_UNKNOWN_GOAL_ID`.
    pub const UNKNOWN_GOAL_ID: u32 = 2;
    /// It has ended already: `ERROR_GOAL_TERMINATED`.
    pub const GOAL_TERMINATED: u32 = 3;

    /// The goals that are canceling.
    pub fn goals(&self) -> impl Iterator<Item = crate::action::GoalId> {
        self.goals[..(self.count as usize).min(MAX_STATES)].iter().map(|&id| crate::action::GoalId(id))
    }
}
