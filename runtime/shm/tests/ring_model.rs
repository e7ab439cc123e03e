//! The ring against a model that is a few counters: any order of sends, messages that are staged and released or taken back, receives,
//! joins, leaves and replaced writers.
#![cfg(not(loom))]

use horus_shm::ring::copy::store;
use horus_shm::ring::heap::HeapLane;
use horus_shm::ring::{Consumer, Full, NotStaged, Producer, join, payload_word};
use horus_shm::segment::layout::DeliveryPolicy;
use proptest::prelude::*;

type Message = [u8; 20];
const READERS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Send,
    Stage,
    Release,
    TakeBack,
    Receive(usize),
    Join(usize),
    Leave(usize),
    ReplaceWriter,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Send),
        4 => Just(Step::Stage),
        2 => Just(Step::Release),
        1 => Just(Step::TakeBack),
        6 => (0..READERS).prop_map(Step::Receive),
        2 => (0..READERS).prop_map(Step::Join),
        1 => (0..READERS).prop_map(Step::Leave),
        1 => Just(Step::ReplaceWriter),
    ];
    prop::collection::vec(step, 0..200)
}

fn message(sequence: u64) -> Message {
    std::array::from_fn(|i| (sequence as u8).wrapping_mul(31).wrapping_add(i as u8))
}

/// What a reader must do next, kept beside the reader itself.
struct Expected {
    reader: Consumer<HeapLane>,
    next: u64,
    missed: u64,
}

fn run(policy: DeliveryPolicy, capacity: u64, steps: &[Step]) {
    let lane = HeapLane::new::<Message>(capacity as usize, READERS).unwrap();
    let mut writer = Producer::resume(lane.clone(), policy, false).unwrap();
    // What readers can see, what is staged behind it, and the first number whose slot was not written yet.
    let (mut sent, mut staged, mut written) = (0, 0, 0);
    let mut readers: [Option<Expected>; READERS] = [const { None }; READERS];
    for step in steps {
        let has_room = |number| {
            readers
                .iter()
                .flatten()
                .all(|expected| policy == DeliveryPolicy::Latest || number - expected.next < capacity)
        };
        match *step {
            Step::Send => {
                staged -= writer.take_back();
                assert_eq!(staged, 0);
                let result = writer.try_send(message(sent), sent * 3);
                if has_room(sent) {
                    assert_eq!(result, Ok(sent));
                    sent += 1;
                } else {
                    assert_eq!(result, Err(Full(message(sent))));
                }
            }
            Step::Stage => {
                let number = sent + staged;
                let expected = match staged < capacity {
                    false => Err(NotStaged::Beyond),
                    true => has_room(number).then_some(()).ok_or(NotStaged::Full),
                };
                let fill = |slot: &[_]| store(&slot[payload_word(1)..], &message(number));
                assert_eq!(writer.stage_with(fill), expected);
                staged += u64::from(expected.is_ok());
            }
            Step::Release => {
                // One time for all of them.
                assert_eq!(writer.release(sent * 3), staged);
                (sent, staged) = (sent + staged, 0);
            }
            Step::TakeBack => assert_eq!(writer.take_back(), std::mem::take(&mut staged)),
            Step::Receive(i) => {
                let Some(expected) = &mut readers[i] else { continue };
                let received = expected.reader.try_recv::<Message>();
                // What was overwritten, if only by what was staged, is missed. Which messages a reader that was overtaken goes on with is
                // a choice of its own: some of those that are left, unless all of them are staged over.
                let is_overtaken = written > expected.next + capacity;
                match received {
                    Some(received) => {
                        let number = received.sequence;
                        assert_eq!(received.message, message(number));
                        assert!(number < sent && number + capacity >= written, "{number} was overwritten");
                        assert!(number == expected.next || is_overtaken, "{number} after {}", expected.next);
                        if is_overtaken && written == sent {
                            // The oldest message that is not the next to be overwritten.
                            assert_eq!(number, sent - (capacity - 1).max(1));
                        }
                        expected.missed += number - expected.next;
                        expected.next = number + 1;
                    }
                    None if is_overtaken => {
                        let position = expected.reader.position();
                        assert!(position <= sent, "it goes beyond what was sent");
                        expected.missed += position - expected.next;
                        expected.next = position;
                    }
                    None => assert_eq!(expected.next, sent),
                }
                assert_eq!(expected.reader.missed(), expected.missed);
            }
            Step::Join(i) => {
                let join = || join(vec![lane.clone()], i, policy, 0).unwrap().into_vec().remove(0);
                readers[i].get_or_insert_with(|| Expected { reader: join(), next: sent, missed: 0 });
            }
            Step::Leave(i) => {
                if let Some(expected) = readers[i].take() {
                    expected.reader.leave();
                }
            }
            Step::ReplaceWriter => {
                writer = Producer::resume(lane.clone(), policy, false).unwrap();
                staged = 0;
            }
        }
        written = written.max(sent + staged);
    }
}

proptest! {
    #[test]
    fn ring_does_what_its_model_does(
        latest in any::<bool>(),
        capacity in prop::sample::select(vec![1_u64, 2, 4, 16]),
        steps in steps(),
    ) {
        run(if latest { DeliveryPolicy::Latest } else { DeliveryPolicy::Reliable }, capacity, &steps);
    }
}
