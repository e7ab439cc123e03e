//! The calls of a client against a model that keeps everything by number: each message reaches its call, in order and once, or is counted.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::calls::{Calls, Handle, Look, Lost};

const PLACES: usize = 3;
const ROOM: usize = 2;

/// What a client does, or a server to it. Calls are told by how long ago they were asked.
#[derive(Clone, Debug)]
enum Act {
    Ask,
    Message { ago: u64, is_last: bool },
    End { ago: u64 },
    Lose { ago: u64 },
    Started { ago: u64 },
    Look { which: usize },
    GiveUp { which: usize },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Ask),
        5 => (0..6_u64, any::<bool>()).prop_map(|(ago, is_last)| Act::Message { ago, is_last }),
        1 => (0..6_u64).prop_map(|ago| Act::End { ago }),
        1 => (0..6_u64).prop_map(|ago| Act::Lose { ago }),
        1 => (0..6_u64).prop_map(|ago| Act::Started { ago }),
        5 => (0..PLACES).prop_map(|which| Act::Look { which }),
        2 => (0..PLACES).prop_map(|which| Act::GiveUp { which }),
    ]
}

/// A call as the model knows it.
#[derive(Default)]
struct Known {
    messages: VecDeque<u64>,
    is_complete: bool,
    lost: Option<Lost>,
}

impl Known {
    fn waits(&self) -> bool {
        !self.is_complete && self.lost.is_none()
    }

    fn look(&mut self) -> Look<u64> {
        match self.messages.pop_front() {
            Some(message) => Look::Message(message, self.is_complete && self.messages.is_empty()),
            None if self.is_complete => Look::End,
            None => self.lost.map_or(Look::Nothing, Look::Lost),
        }
    }
}

proptest! {
    #[test]
    fn every_message_reaches_its_call_in_order_or_is_counted(acts in prop::collection::vec(act(), 1..200)) {
        let mut calls = Calls::<u64>::new(PLACES, ROOM);
        let (mut known, mut handles, mut late) = (BTreeMap::<u64, Known>::new(), Vec::<(u64, Handle)>::new(), 0);
        let (mut asked, mut sent) = (0_u64, 0_u64);
        for act in acts {
            match act {
                Act::Ask => {
                    prop_assert_eq!(calls.has_room(), handles.len() < PLACES);
                    let handle = calls.begin(asked);
                    prop_assert_eq!(handle.is_some(), handles.len() < PLACES);
                    if let Some(handle) = handle {
                        handles.push((asked, handle));
                        known.insert(asked, Known::default());
                    }
                    asked += 1;
                }
                Act::Message { ago, is_last } if calls.can_take() => {
                    sent += 1;
                    let number = asked.wrapping_sub(ago);
                    calls.enter(number, sent, is_last);
                    match known.get_mut(&number).filter(|call| call.waits()) {
                        Some(call) => {
                            call.messages.push_back(sent);
                            call.is_complete = is_last;
                        }
                        None => late += 1,
                    }
                }
                // It stays in the topic until the client has looked.
                Act::Message { .. } => prop_assert!(known.values().any(|call| call.messages.len() == ROOM)),
                Act::End { ago } | Act::Lose { ago } => {
                    let number = asked.wrapping_sub(ago);
                    let is_end = matches!(act, Act::End { .. });
                    if is_end { calls.end(number) } else { calls.lose(number, Lost::Unanswered) }
                    match known.get_mut(&number).filter(|call| call.waits()) {
                        Some(call) if is_end => call.is_complete = true,
                        Some(call) => call.lost = Some(Lost::Unanswered),
                        None => late += 1,
                    }
                }
                Act::Started { ago } => {
                    let number = asked.saturating_sub(ago);
                    calls.lose_before(number, Lost::Died);
                    let lost = known.range_mut(..number).filter(|(_, call)| call.waits());
                    lost.for_each(|(_, call)| call.lost = Some(Lost::Died));
                }
                Act::Look { which } => {
                    if let Some((number, handle)) = handles.get(which) {
                        prop_assert_eq!(calls.look(handle), known.get_mut(number).unwrap().look());
                    }
                }
                Act::GiveUp { which } => {
                    if which < handles.len() {
                        known.remove(&handles.remove(which).0);
                    }
                }
            }
            prop_assert_eq!(calls.late(), late);
            prop_assert_eq!(calls.waiting(), known.values().filter(|call| call.waits()).count());
        }
    }
}
