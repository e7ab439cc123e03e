//! The ring against a model that is a counter: any order of sends, receives, joins, leaves and replaced writers.
#![cfg(not(loom))]

use horus_shm::ring::heap::HeapLane;
use horus_shm::ring::{Consumer, Full, Producer, join};
use horus_shm::segment::layout::Policy;
use proptest::prelude::*;

type Message = [u8; 20];
const READERS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Send,
    Receive(usize),
    Join(usize),
    Leave(usize),
    ReplaceWriter,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Send),
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

fn run(policy: Policy, capacity: u64, steps: &[Step]) {
    let lane = HeapLane::new::<Message>(capacity as usize, READERS).unwrap();
    let mut writer = Producer::resume(lane.clone(), policy, false).unwrap();
    let mut sent = 0;
    let mut readers: [Option<Expected>; READERS] = [const { None }; READERS];
    for step in steps {
        match *step {
            Step::Send => {
                let has_room = readers.iter().flatten().all(|expected| sent - expected.next < capacity);
                let result = writer.try_send(message(sent), sent * 3);
                if policy == Policy::Latest || has_room {
                    assert_eq!(result, Ok(sent));
                    sent += 1;
                } else {
                    assert_eq!(result, Err(Full(message(sent))));
                }
            }
            Step::Receive(i) => {
                let Some(expected) = &mut readers[i] else { continue };
                if sent > expected.next + capacity {
                    // Overtaken: goes on with the oldest message that is not the next to be overwritten.
                    let resume = sent - (capacity - 1).max(1);
                    expected.missed += resume - expected.next;
                    expected.next = resume;
                }
                match expected.reader.try_recv::<Message>() {
                    Some(received) => {
                        assert_eq!(received.sequence, expected.next);
                        assert_eq!(received.message, message(received.sequence));
                        assert_eq!(received.sent_ns, received.sequence * 3);
                        expected.next += 1;
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
            Step::ReplaceWriter => writer = Producer::resume(lane.clone(), policy, false).unwrap(),
        }
    }
}

proptest! {
    #[test]
    fn ring_does_what_its_model_does(
        latest in any::<bool>(),
        capacity in prop::sample::select(vec![1_u64, 2, 4, 16]),
        steps in steps(),
    ) {
        run(if latest { Policy::Latest } else { Policy::Reliable }, capacity, &steps);
    }
}
