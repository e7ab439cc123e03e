//! Where the goals of an action stand, seen in the topic that its server tells it in.

use std::path::Path;

use horus::action::{GoalId, GoalStatus, GoalStatusArray};
use horus::time::MonotonicTime;
use horus::zerocopy::IntoBytes;
use horus_shm::ends::observe::{Observation, Start};
use serde::Serialize;

/// A goal.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What it is known by: 32 hexadecimal digits.
    pub id: String,
    /// `accepted`, `executing`, `canceling`, `succeeded`, `canceled` or `aborted`.
    pub status: String,
    /// Seconds since it was accepted.
    pub age_s: f64,
}

/// Where goals stand, by the newest message of a topic.
pub fn goals(file: &Path) -> Vec<Goal> {
    let Some(states) = newest(file) else { return Vec::new() };
    let now = MonotonicTime::now();
    let goal = |state: &horus::action::GoalState| Goal {
        id: GoalId(state.goal_id).to_string(),
        status: GoalStatus::of_code(state.status).map_or_else(|| "unknown".to_owned(), |status| status.to_string()),
        age_s: now.since(MonotonicTime::from_nanos(state.accepted_ns)).as_secs_f64(),
    };
    states.goals().iter().map(goal).collect()
}

fn newest(file: &Path) -> Option<GoalStatusArray> {
    // Of another type of this size nothing can be believed, and nothing is: states are numbers.
    let mut topic = Observation::open(file, Start::Back(4)).ok()??;
    if topic.header().shape.payload_bytes() != size_of::<GoalStatusArray>() {
        return None;
    }
    let (mut states, mut found) = (GoalStatusArray::zeroed(), None);
    while topic.try_take(states.as_mut_bytes()).is_some() {
        found = Some(states);
    }
    found
}
