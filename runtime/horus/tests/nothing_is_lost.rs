//! Topics against a plain model: whichever peer opens, sends, receives and leaves, in whatever order and with whatever options,
//! what was accepted is received once and in order, or was counted as missed.
//!
//! The model is a queue for each subscriber, with what was accepted since it joined. What a topic of several options has room for is not
//! modelled: the first publisher's answers tell it.

use std::collections::VecDeque;
use std::ops::Range;

use horus::topic::{DeliveryPolicy, OpenError, Options, Publisher, Subscriber};
use proptest::prelude::*;

horus::message! {
    /// Which message it is.
    #[derive(Default)]
    pub struct Numbered = "test/Numbered" {
        /// Which, of all that were sent.
        number: u64,
    }
}

/// What a peer asks for.
#[derive(Clone, Copy, Debug)]
struct Wish {
    policy: Option<DeliveryPolicy>,
    /// The binary logarithm of the capacity.
    room: u32,
    publishers: usize,
}

/// One of the things that programs do.
#[derive(Clone, Debug)]
enum Act {
    Publish(Wish),
    Subscribe(Wish),
    /// The publisher, of those that there are, and how many messages.
    Send(usize, u64),
    /// The subscriber, and how many receiving calls.
    Receive(usize, usize),
    EndPublisher(usize),
    EndSubscriber(usize),
}

fn wishes() -> impl Strategy<Value = Wish> {
    let policy = prop_oneof![Just(None), Just(Some(DeliveryPolicy::Reliable)), Just(Some(DeliveryPolicy::Latest))];
    (policy, 0..6_u32, 1..4_usize).prop_map(|(policy, room, publishers)| Wish { policy, room, publishers })
}

fn acts() -> impl Strategy<Value = Act> {
    let which = 0..4_usize;
    prop_oneof![
        2 => wishes().prop_map(Act::Publish),
        3 => wishes().prop_map(Act::Subscribe),
        6 => (which.clone(), 1..20_u64).prop_map(|(publisher, messages)| Act::Send(publisher, messages)),
        6 => (which.clone(), 1..30_usize).prop_map(|(subscriber, calls)| Act::Receive(subscriber, calls)),
        1 => which.clone().prop_map(Act::EndPublisher),
        1 => which.prop_map(Act::EndSubscriber),
    ]
}

/// A subscriber, and what it has to receive: by lane, the numbers that were accepted since it joined.
struct Reader {
    subscriber: Subscriber<Numbered>,
    due: Vec<VecDeque<u64>>,
    skipped: u64,
}

const LANES: Range<usize> = 0..4;

impl Reader {
    /// A receiving call. False when nothing came.
    fn receive(&mut self) -> bool {
        let Some(received) = self.subscriber.try_recv() else { return false };
        let due = &mut self.due[received.publisher];
        while let Some(number) = due.pop_front() {
            if number == received.message.number {
                assert!(self.skipped <= self.subscriber.missed(), "{} are missing uncounted", self.skipped);
                return true;
            }
            self.skipped += 1;
        }
        panic!("number {} came twice, late, or from nowhere", received.message.number);
    }

    /// Receives all, and accounts for it.
    fn settle(&mut self) {
        while self.receive() {}
        assert!(self.due.iter().all(VecDeque::is_empty), "never came: {:?}", self.due);
        assert_eq!(self.subscriber.missed(), self.skipped, "missed is what did not come");
        assert!(
            self.skipped == 0 || self.subscriber.delivery_policy() == DeliveryPolicy::Latest,
            "a reliable topic lost {}",
            self.skipped
        );
        assert!(self.subscriber.check().is_ok());
    }
}

#[derive(Default)]
struct World {
    publishers: Vec<Publisher<Numbered>>,
    readers: Vec<Reader>,
    sent: u64,
}

impl World {
    fn act(&mut self, act: Act, directory: &std::path::Path) {
        let options = |wish: Wish| {
            let options = match wish.policy {
                Some(DeliveryPolicy::Reliable) => Options::reliable(1 << wish.room),
                Some(DeliveryPolicy::Latest) => Options::latest(1 << wish.room),
                None => Options::default(),
            };
            options.publishers(wish.publishers).directory(directory)
        };
        // A refusal is an answer: it must say why, and change nothing for the others, which the rest of the test sees.
        let refused = |error: OpenError| {
            let is_known =
                matches!(error, OpenError::Rejected(_) | OpenError::Needed { .. } | OpenError::PublishersFull { .. });
            assert!(is_known, "{error}");
        };
        match act {
            Act::Publish(wish) => match Publisher::open("topic", options(wish)) {
                Ok(publisher) => self.publishers.push(publisher),
                Err(error) => refused(error),
            },
            Act::Subscribe(wish) => match Subscriber::open("topic", options(wish)) {
                Ok(subscriber) => {
                    let due = LANES.map(|_| VecDeque::new()).collect();
                    self.readers.push(Reader { subscriber, due, skipped: 0 });
                }
                Err(error) => refused(error),
            },
            Act::Send(publisher, messages) => {
                let Some(publisher) = self.publishers.get_mut(publisher) else { return };
                for _ in 0..messages {
                    if publisher.try_send(Numbered { number: self.sent }).is_ok() {
                        for reader in &mut self.readers {
                            reader.due[publisher.lane()].push_back(self.sent);
                        }
                    }
                    self.sent += 1;
                }
            }
            Act::Receive(reader, calls) => {
                let Some(reader) = self.readers.get_mut(reader) else { return };
                let something_is_due = reader.due.iter().any(|due| !due.is_empty());
                let came = (0..calls).filter(|_| reader.receive()).count();
                assert!(came > 0 || !something_is_due, "the first receiving call has to deliver");
            }
            Act::EndPublisher(index) if index < self.publishers.len() => drop(self.publishers.swap_remove(index)),
            Act::EndSubscriber(index) if index < self.readers.len() => drop(self.readers.swap_remove(index)),
            Act::EndPublisher(_) | Act::EndSubscriber(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_was_accepted_is_received_once_and_in_order_or_counted(acts in prop::collection::vec(acts(), 1..60)) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut world = World::default();
        acts.into_iter().for_each(|act| world.act(act, files.path()));
        world.readers.iter_mut().for_each(Reader::settle);
        drop(world);
        prop_assert_eq!(std::fs::read_dir(files.path()).unwrap().count(), 0, "left behind");
    }
}
