//! What the journal knows of each rule, and what it has to be told when a look at the machine shows another thing.
//!
//! A change is told when two looks in a row show it: what comes and goes between them is no drift. A rule that cannot be read keeps what is
//! known of it. A rule that goes to and fro is told `MAX_ENTRIES` times an hour, and what is left at the next hour is told then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::outcome::{RuleResult, Status};

/// Looks in a row that show a change.
const LOOKS: u32 = 2;
/// Entries of one rule in an hour.
const MAX_ENTRIES: u32 = 6;

/// All rules that were seen, by identifier.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Watch(BTreeMap<String, Seen>);

/// One rule.
#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    /// What the journal knows: the first look, which the audit of the boot tells, or the last entry.
    told: Status,
    /// What was read when the rule stood as it was told.
    before: String,
    /// What the last look showed, since when, and how many looks in a row.
    now: Status,
    since: String,
    looks: u32,
    /// Entries in this hour.
    entries: u32,
}

/// What the journal is told.
#[derive(Debug)]
pub struct Drift<'a> {
    /// The rule as it is now: it fails, or it passes again.
    pub rule: &'a RuleResult,
    /// What was read before.
    pub before: String,
    /// The first look that showed the change, in UTC.
    pub since: String,
}

impl Watch {
    /// Takes the results of a look at the time `now`. `tell` says whether an entry arrived: otherwise the next look tells it.
    pub fn look(&mut self, results: &[RuleResult], now: &str, tell: &mut dyn FnMut(&Drift) -> bool) {
        for rule in results.iter().filter(|rule| rule.status != Status::Na) {
            match self.0.get_mut(&rule.id) {
                Some(seen) => seen.look(rule, now, tell),
                None => {
                    self.0.insert(rule.id.clone(), Seen::first(rule, now));
                }
            }
        }
    }

    /// Whether this rule showed a change that the journal does not know yet, and may be told.
    pub fn is_unsure(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|seen| seen.now != seen.told && seen.entries < MAX_ENTRIES)
    }

    /// An hour is over.
    pub fn next_hour(&mut self) {
        self.0.values_mut().for_each(|seen| seen.entries = 0);
    }
}

impl Seen {
    fn first(rule: &RuleResult, now: &str) -> Self {
        let (status, observed) = (rule.status, rule.observed.clone());
        Self { told: status, before: observed, now: status, since: now.to_owned(), looks: 1, entries: 0 }
    }

    fn look(&mut self, rule: &RuleResult, now: &str, tell: &mut dyn FnMut(&Drift) -> bool) {
        if rule.status == self.now {
            self.looks = self.looks.saturating_add(1);
        } else {
            (self.now, self.since, self.looks) = (rule.status, now.to_owned(), 1);
        }
        if rule.status == self.told {
            self.before.clone_from(&rule.observed);
            return;
        }
        let is_due = self.looks >= LOOKS && self.entries < MAX_ENTRIES;
        if is_due && tell(&Drift { rule, before: self.before.clone(), since: self.since.clone() }) {
            (self.told, self.before) = (rule.status, rule.observed.clone());
            self.entries += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Severity;

    fn rule(status: Status, observed: &str) -> RuleResult {
        RuleResult {
            id: "C4".to_owned(),
            title: "Interrupts stay away".to_owned(),
            severity: Severity::High,
            status,
            observed: observed.to_owned(),
            expected: "none".to_owned(),
            reason: None,
            why: None,
            fix: None,
        }
    }

    /// What each look told: status, before, after, since.
    fn told(looks: &[(Status, &str)]) -> Vec<Vec<(Status, String, String, String)>> {
        let mut watch = Watch::default();
        let mut all = Vec::new();
        for (at, (status, observed)) in looks.iter().enumerate() {
            let mut entries = Vec::new();
            watch.look(&[rule(*status, observed)], &format!("t{at}"), &mut |drift| {
                entries.push((
                    drift.rule.status,
                    drift.before.clone(),
                    drift.rule.observed.clone(),
                    drift.since.clone(),
                ));
                true
            });
            all.push(entries);
        }
        all
    }

    use Status::{Fail, Na, Pass};

    #[test]
    fn a_change_is_told_once_with_before_after_and_since_and_once_when_it_is_well_again() {
        let looks = [
            (Pass, "none"),
            (Fail, "24"),
            (Fail, "24 25"),
            (Fail, "24"),
            (Pass, "none"),
            (Pass, "none"),
            (Pass, "none"),
        ];
        let told = told(&looks);
        let entry = |status, before: &str, after: &str, since: &str| {
            vec![(status, before.to_owned(), after.to_owned(), since.to_owned())]
        };
        assert_eq!(told[2], entry(Fail, "none", "24 25", "t1"));
        assert_eq!(told[5], entry(Pass, "24", "none", "t4"));
        assert_eq!(told.iter().flatten().count(), 2);
    }

    #[test]
    fn what_one_look_alone_shows_and_what_cannot_be_read_is_no_drift() {
        for looks in [
            [(Pass, "a"), (Fail, "b"), (Pass, "a"), (Fail, "b"), (Pass, "a")],
            [(Pass, "a"), (Na, ""), (Na, ""), (Pass, "a"), (Na, "")],
            [(Fail, "b"), (Fail, "b"), (Fail, "c"), (Na, ""), (Fail, "b")],
        ] {
            assert_eq!(told(&looks).iter().flatten().count(), 0, "{looks:?}");
        }
    }

    #[test]
    fn a_rule_that_goes_to_and_fro_is_told_a_few_times_an_hour_and_then_how_it_stands() {
        let mut watch = Watch::default();
        let mut entries = Vec::new();
        let mut look = |watch: &mut Watch, status| {
            watch.look(&[rule(status, "x")], "t", &mut |drift| {
                entries.push(drift.rule.status);
                true
            });
        };
        look(&mut watch, Pass);
        for turn in 0..101 {
            for _ in 0..LOOKS {
                look(&mut watch, if turn % 2 == 0 { Fail } else { Pass });
            }
        }
        assert!(!watch.is_unsure("C4"), "nothing is looked for in haste that may not be told");
        watch.next_hour();
        look(&mut watch, Fail);
        assert_eq!(entries.len(), MAX_ENTRIES as usize + 1);
        assert_eq!(entries.last(), Some(&Fail));
    }

    #[test]
    fn an_entry_that_did_not_arrive_is_told_by_the_next_look_also_after_a_restart() {
        let mut watch = Watch::default();
        watch.look(&[rule(Pass, "a")], "t0", &mut |_| true);
        for time in ["t1", "t2"] {
            watch.look(&[rule(Fail, "b")], time, &mut |_| false);
        }
        let mut watch: Watch = serde_json::from_str(&serde_json::to_string(&watch).unwrap()).unwrap();
        assert!(watch.is_unsure("C4"));
        let mut told = 0;
        watch.look(&[rule(Fail, "b")], "t3", &mut |drift| {
            told += 1;
            (drift.before.as_str(), drift.since.as_str()) == ("a", "t1")
        });
        assert_eq!((told, watch.is_unsure("C4")), (1, false));
    }
}
