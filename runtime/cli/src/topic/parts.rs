//! Which topics are parts of an action: those of its two services, its feedbacks, and where its goals stand.

use std::collections::BTreeSet;

/// What requests to cancel are: the topic that every end of an action has, and nothing else.
const CANCELS: &str = "horus/CancelGoal";

/// The actions among some topics.
pub struct Parts<'a>(BTreeSet<&'a str>);

impl<'a> Parts<'a> {
    /// Of topics by name and type.
    pub fn of(topics: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let cancels = topics.filter(|(_, type_name)| *type_name == CANCELS);
        Self(cancels.filter_map(|(name, _)| name.strip_suffix(".cancel")).collect())
    }

    /// Their names.
    pub fn actions(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().copied()
    }

    /// The action that a topic is a part of.
    pub fn action_of(&self, topic: &str) -> Option<&'a str> {
        self.actions().find(|action| {
            let part = topic.strip_prefix(action).and_then(|rest| rest.strip_prefix('.'));
            let first = part.map(|part| part.split('.').next().unwrap_or_default());
            matches!(first, Some("goal" | "cancel" | "feedback" | "status"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_action_are_known_by_its_requests_to_cancel() {
        let topics =
            [("drive_to.cancel", CANCELS), ("save.cancel", "test/Cancel"), ("drive_to.goal", "test/Drive_Goal")];
        let parts = Parts::of(topics.into_iter());
        assert_eq!(parts.actions().collect::<Vec<_>>(), ["drive_to"]);
        for part in [
            "drive_to.goal",
            "drive_to.goal.answer.3",
            "drive_to.cancel.server",
            "drive_to.feedback",
            "drive_to.status",
        ] {
            assert_eq!(parts.action_of(part), Some("drive_to"), "{part}");
        }
        for other in ["drive_to", "drive_to.goals", "drive_to.speed", "save.goal", "drive_tool.goal"] {
            assert_eq!(parts.action_of(other), None, "{other}");
        }
    }
}
