//! The goals of a server against a model that keeps everything by number: each goal goes by ROS 2's transitions alone, has one end, runs in its turn,
//! and no more run than may.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::status::{GoalEvent, GoalStatus};
use super::table::{Owner, Table, Wanted};
use super::{Cause, GoalId, MAX_GOALS, Preemption};

/// What clients do, or the server's program. Goals are told by how long ago they were sent.
#[derive(Clone, Debug)]
enum Act {
    Send { lane: usize },
    SendAgain { ago: u64 },
    Happen { ago: u64, event: GoalEvent },
    Cancel { ago: u64 },
    CancelUntil { ago: u64 },
    CancelAll,
    Gone { lane: usize },
}

fn act() -> impl Strategy<Value = Act> {
    let event = prop_oneof![
        Just(GoalEvent::Execute),
        Just(GoalEvent::CancelGoal),
        Just(GoalEvent::Succeed),
        Just(GoalEvent::Abort),
        Just(GoalEvent::Canceled)
    ];
    prop_oneof![
        6 => (0..3_usize).prop_map(|lane| Act::Send { lane }),
        1 => (0..20_u64).prop_map(|ago| Act::SendAgain { ago }),
        6 => (0..8_u64, event).prop_map(|(ago, event)| Act::Happen { ago, event }),
        2 => (0..8_u64).prop_map(|ago| Act::Cancel { ago }),
        1 => (0..8_u64).prop_map(|ago| Act::CancelUntil { ago }),
        1 => Just(Act::CancelAll),
        1 => (0..3_usize).prop_map(|lane| Act::Gone { lane }),
    ]
}

/// Where a goal may go, by the numbers of `action_msgs/GoalStatus`: written down anew, so that the model shares nothing.
fn may_follow(from: u32, to: u32) -> bool {
    matches!((from, to), (1, 2 | 3) | (2, 3 | 4 | 6) | (3, 4..=6))
}

/// A goal as the model knows it: where it stood, one after the other.
struct Known {
    lane: usize,
    stood: Vec<u32>,
}

impl Known {
    fn stands(&self) -> u32 {
        *self.stood.last().unwrap()
    }

    fn is_over(&self) -> bool {
        self.stands() >= 4
    }
}

fn id(number: u64) -> GoalId {
    GoalId::of(1, number)
}

/// Times are the numbers of the goals.
fn owner(lane: usize, number: u64) -> Owner {
    Owner { lane, number, looks: 0 }
}

/// All goals of both, and the table's own word on each.
struct Both {
    table: Table<u64>,
    known: BTreeMap<u64, Known>,
    preemption: Preemption,
    at_once: usize,
}

impl Both {
    fn happen(&mut self, number: u64, event: GoalEvent) -> Result<(), TestCaseError> {
        let Some(known) = self.known.get_mut(&number) else {
            prop_assert!(self.table.happen(id(number), event).is_err(), "it never came");
            return Ok(());
        };
        let to = match (known.stands(), event) {
            (1, GoalEvent::Execute) => Some(2),
            (1 | 2, GoalEvent::CancelGoal) => Some(3),
            (2 | 3, GoalEvent::Succeed) => Some(4),
            (3, GoalEvent::Canceled) => Some(5),
            (2 | 3, GoalEvent::Abort) => Some(6),
            _ => None,
        };
        let happened = self.table.happen(id(number), event);
        prop_assert_eq!(happened.is_ok(), to.is_some(), "{} of a goal that is {}", event, known.stands());
        if let Some(to) = to {
            prop_assert!(may_follow(known.stands(), to));
            known.stood.push(to);
            let ended = happened.unwrap();
            prop_assert_eq!(ended.map(|entry| entry.kept), (to >= 4).then_some(number));
        }
        Ok(())
    }

    /// As the server does: who waits is over by being canceled.
    fn cancel(&mut self, number: u64) -> Result<(), TestCaseError> {
        let waited = self.known[&number].stands() == 1;
        self.happen(number, GoalEvent::CancelGoal)?;
        if waited { self.happen(number, GoalEvent::Canceled) } else { Ok(()) }
    }

    fn cancel_all(&mut self, wanted: Wanted, is_wanted: impl Fn(u64) -> bool) -> Result<(), TestCaseError> {
        let can_be: Vec<u64> = self
            .known
            .iter()
            .filter(|(number, goal)| goal.stands() <= 2 && is_wanted(**number))
            .map(|(n, _)| *n)
            .collect();
        for number in can_be {
            prop_assert_eq!(self.table.to_cancel(wanted, |_| false).map(|entry| entry.kept), Some(number));
            self.cancel(number)?;
        }
        prop_assert!(self.table.to_cancel(wanted, |_| false).is_none());
        Ok(())
    }

    /// Goals that run, and those that wait, in the order in which they came.
    fn running(&self) -> Vec<u64> {
        self.known.iter().filter(|(_, goal)| matches!(goal.stands(), 2 | 3)).map(|(number, _)| *number).collect()
    }

    fn run_next(&mut self) -> Result<(), TestCaseError> {
        loop {
            let first = self.known.iter().find(|(_, goal)| goal.stands() == 1).map(|(number, _)| *number);
            let wanted = first.filter(|_| self.running().len() < self.at_once);
            prop_assert_eq!(self.table.next_to_run(), wanted.map(id));
            let Some(number) = wanted else { return Ok(()) };
            self.happen(number, GoalEvent::Execute)?;
        }
    }

    fn send(&mut self, number: u64, lane: usize) -> Result<(), TestCaseError> {
        let alive = self.known.values().filter(|goal| !goal.is_over()).count();
        let (is_full, is_busy) = (alive >= MAX_GOALS, self.running().len() >= self.at_once);
        let refused = match self.preemption {
            Preemption::Refuse => is_busy,
            Preemption::Queue => is_full,
            Preemption::Replace => false,
        };
        prop_assert_eq!(self.table.admits(id(number)), if refused { Err(Cause::Busy) } else { Ok(()) });
        if refused {
            return Ok(());
        }
        let victim = self.running().first().copied().filter(|_| is_busy && self.preemption == Preemption::Replace);
        prop_assert_eq!(self.table.in_the_way(), victim.map(id));
        if let Some(victim) = victim {
            let is_canceling = self.known[&victim].stands() == 3;
            self.happen(victim, if is_canceling { GoalEvent::Canceled } else { GoalEvent::Abort })?;
        }
        self.table.accept(id(number), owner(lane, number), number, number);
        self.known.insert(number, Known { lane, stood: vec![1] });
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_goal_goes_by_ros_2s_transitions_runs_in_its_turn_and_ends_once(
        policy in 0..3_usize,
        at_once in 1..4_usize,
        acts in prop::collection::vec(act(), 1..200),
    ) {
        let preemption = [Preemption::Refuse, Preemption::Queue, Preemption::Replace][policy];
        let table = Table::new(preemption, at_once);
        let mut both = Both { table, known: BTreeMap::new(), preemption, at_once };
        let mut sent = 0_u64;
        for act in acts {
            match act {
                Act::Send { lane } => {
                    sent += 1;
                    both.send(sent, lane)?;
                }
                Act::SendAgain { ago } => {
                    let number = sent.saturating_sub(ago);
                    let is_alive = both.known.get(&number).is_some_and(|goal| !goal.is_over());
                    prop_assert!(!is_alive || both.table.admits(id(number)) == Err(Cause::Twice));
                }
                // Whose turn it is decides the server.
                Act::Happen { event: GoalEvent::Execute | GoalEvent::CancelGoal, .. } => {}
                Act::Happen { ago, event } => both.happen(sent.saturating_sub(ago), event)?,
                Act::Cancel { ago } => {
                    let number = sent.saturating_sub(ago);
                    both.cancel_all(Wanted { id: id(number), until_ns: 0 }, |other| other == number)?;
                }
                Act::CancelUntil { ago } => {
                    let until_ns = sent.saturating_sub(ago).max(1);
                    both.cancel_all(Wanted { id: GoalId::ZERO, until_ns }, |number| number <= until_ns)?;
                }
                Act::CancelAll => both.cancel_all(Wanted { id: GoalId::ZERO, until_ns: 0 }, |_| true)?,
                Act::Gone { lane } => {
                    let is_gone = |owner: &Owner| owner.lane == lane;
                    while let Some(orphan) = both.table.orphan(is_gone) {
                        let number = both.table.find(orphan).unwrap().kept;
                        prop_assert_eq!(both.known[&number].lane, lane);
                        both.cancel(number)?;
                    }
                    prop_assert!(!both.known.values().any(|goal| goal.lane == lane && goal.stands() <= 2));
                }
            }
            both.run_next()?;
            prop_assert!(both.running().len() <= at_once);
            prop_assert_eq!(both.table.running(), both.running().len());
            for (place, number) in both.running().into_iter().enumerate() {
                prop_assert_eq!(both.table.running_at(place), Some(id(number)));
            }
            let states: BTreeMap<_, _> = both.table.states().map(|state| (state.goal_id, state.status)).collect();
            for (number, goal) in both.known.iter().filter(|(_, goal)| !goal.is_over()) {
                prop_assert_eq!(states.get(&id(*number).0), Some(&goal.stands()));
            }
        }
        for goal in both.known.values() {
            prop_assert!(goal.stood.windows(2).all(|step| may_follow(step[0], step[1])));
            prop_assert!(goal.stood.iter().filter(|status| GoalStatus::of_code(**status).unwrap().is_over()).count() <= 1);
        }
    }
}
