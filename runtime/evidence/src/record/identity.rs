//! What two runs must have in common before their counts may be added up: image build, audit rules, board and configuration.

use serde::{Deserialize, Serialize};

/// Of which system a run speaks. Runs whose identities are equal in every key are runs of the same thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The build of the image, as `build_id_from` says; two builds of one version differ.
    pub build_id: String,
    /// What `build_id` is: `roothash` (dm-verity), `os-release` (its `BUILD_ID`), `content` (a hash over what is installed) or
    /// `program` (a hash over kernel and `horus` alone, on a Linux that is no image of ours).
    pub build_id_from: String,
    /// SHA-256 over the audit's rule files.
    pub rules_hash: String,
    /// Maker and model of the board.
    pub board: String,
    /// This machine among others of its board: a hash of its machine-id, which itself is private.
    pub machine: String,
    /// What was set and has a part in latencies.
    pub configuration: Configuration,
}

/// What of a machine's configuration matters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Configuration {
    /// Release of the kernel.
    pub kernel_release: String,
    /// The kernel's command line.
    pub cmdline: String,
    /// CPUs that are online, in list notation.
    pub cpus: String,
    /// Isolated CPUs, in list notation.
    pub isolated: String,
    /// Period of the measured node.
    pub period_ns: u64,
    /// Its deadline.
    pub deadline_ns: u64,
    /// Its `SCHED_FIFO` priority.
    pub priority: u8,
    /// The loads, as they are configured.
    pub load: String,
    /// The phases, where they are not those of a boot's run.
    pub phases: String,
}

impl Identity {
    /// In what two runs differ, in words of the report's keys; empty when they may be added up.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let (own, its) = (&self.configuration, &other.configuration);
        let pairs = [
            ("image build", self.build_id != other.build_id || self.build_id_from != other.build_id_from),
            ("audit rules", self.rules_hash != other.rules_hash),
            ("board", self.board != other.board),
            ("machine", self.machine != other.machine),
            ("kernel", own.kernel_release != its.kernel_release),
            ("command line", own.cmdline != its.cmdline),
            ("CPUs", own.cpus != its.cpus || own.isolated != its.isolated),
            (
                "period, deadline or priority",
                own.period_ns != its.period_ns || own.deadline_ns != its.deadline_ns || own.priority != its.priority,
            ),
            ("load", own.load != its.load),
            ("phases", own.phases != its.phases),
        ];
        pairs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_identities_differ_in_nothing_and_others_say_in_what() {
        let one = Identity { build_id: "a".to_owned(), ..Identity::default() };
        assert!(one.differences(&one.clone()).is_empty());
        let mut other = Identity { build_id: "b".to_owned(), ..one.clone() };
        other.configuration.isolated = "3".to_owned();
        assert_eq!(one.differences(&other), ["image build", "CPUs"]);
    }

    /// A key that `differences` forgets would let runs be told apart without a word why.
    #[test]
    fn every_key_counts() {
        let value = serde_json::to_value(Identity::default()).unwrap();
        let mut places: Vec<Vec<String>> = value.as_object().unwrap().keys().map(|key| vec![key.clone()]).collect();
        places.retain(|place| place[0] != "configuration");
        let inner = value["configuration"].as_object().unwrap().keys();
        places.extend(inner.map(|key| vec!["configuration".to_owned(), key.clone()]));
        for place in places {
            let mut changed = value.clone();
            let found = place.iter().fold(&mut changed, |value, key| &mut value[key]);
            *found = if found.is_number() { 7.into() } else { "7".into() };
            let changed: Identity = serde_json::from_value(changed).unwrap();
            assert_eq!(changed.differences(&Identity::default()).len(), 1, "{place:?}");
        }
    }
}
