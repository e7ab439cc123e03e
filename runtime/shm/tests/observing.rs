//! A topic that is watched from outside: nothing is missed uncounted, and no peer of the topic notices.
#![cfg(not(loom))]

mod common;

use common::{MAKING, Message, Scratch, message};
use horus_shm::ends::observe::{Count, Observation, Start};
use horus_shm::ends::place::Copied;
use horus_shm::ends::{Joining, Kind, Making, Payload, Publication, Subscription};
use horus_shm::segment::layout::{DeliveryPolicy, HELD_FROM_BYTES};

fn observe(scratch: &Scratch, start: Start) -> Observation {
    Observation::open(&scratch.file(), start).unwrap().unwrap()
}

/// The numbers of all messages that are there, each of which must be whole.
fn seen(observation: &mut Observation) -> Vec<u64> {
    let mut bytes = [0; size_of::<Message>()];
    let mut numbers = Vec::new();
    while let Some(received) = observation.try_take(&mut bytes) {
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
        assert!(words.eq(message(received.sequence)), "half a message");
        numbers.push(received.sequence);
    }
    numbers
}

fn send(publication: &mut Publication, count: u64) {
    (0..count).for_each(|_| {
        let next = publication.position();
        assert_eq!(publication.try_send(&message(next), 0), Ok(next));
    });
}

#[test]
fn an_observer_sees_every_message_and_takes_no_place() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let scratch = Scratch::new();
        let mut publication = scratch.publish_as(&Making { policy, ..MAKING }).unwrap();
        send(&mut publication, 3);
        let (mut next, mut back) = (observe(&scratch, Start::Back(0)), observe(&scratch, Start::Back(2)));
        assert_eq!((seen(&mut next), seen(&mut back)), (vec![], vec![1, 2]));
        for round in 0..5 {
            send(&mut publication, 2);
            assert_eq!(seen(&mut next), [3 + 2 * round, 4 + 2 * round]);
        }
        assert_eq!((next.missed(), publication.subscribers().unwrap()), (0, 0));
        drop(publication);
        assert_eq!((scratch.files(), next.is_current()), (0, false), "the last one out removed the file");
    }
}

#[test]
fn a_reliable_publisher_never_waits_for_an_observer_which_counts_what_it_missed() {
    let scratch = Scratch::new();
    let mut publication = scratch.publish().unwrap();
    send(&mut publication, 1);
    let (mut late, mut first) = (observe(&scratch, Start::Back(0)), observe(&scratch, Start::First));
    send(&mut publication, 20);
    let (seen_late, seen_first) = (seen(&mut late), seen(&mut first));
    assert_eq!((seen_late.last(), seen_first.last()), (Some(&20), Some(&20)));
    assert_eq!((seen_late.len() as u64 + late.missed(), seen_first.len() as u64 + first.missed()), (20, 21));
}

#[test]
fn counts_are_those_of_the_publishers_however_seldom_they_are_asked_for() {
    let scratch = Scratch::new();
    let making = Making { publishers: 3, policy: DeliveryPolicy::Latest, ..MAKING };
    let mut one = scratch.publish_as(&making).unwrap();
    send(&mut one, 5);
    let (mut later, mut first) = (observe(&scratch, Start::Back(0)), observe(&scratch, Start::First));
    send(&mut one, 1000);
    let mut other = scratch.publish_as(&making).unwrap();
    send(&mut other, 7);
    let count = |lane, sent| Count { lane, sent, unsure: 0 };
    assert_eq!(later.count(), [count(0, 1000), count(1, 7)]);
    assert_eq!(first.count(), [count(0, 1005), count(1, 7)]);
    assert_eq!(first.publishers().unwrap().iter().map(|(lane, _)| *lane).collect::<Vec<_>>(), [0, 1]);
    drop(one);
    assert_eq!((first.count()[0], first.publishers().unwrap().len()), (count(0, 1005), 1));
}

#[test]
fn numbers_that_were_passed_over_are_no_messages_and_are_unsure_when_their_slots_are_used_again() {
    let scratch = Scratch::new();
    let kind = Kind { type_name: "test/Large", layout_hash: 9, description: "" };
    let payload = Payload { bytes: HELD_FROM_BYTES, align: 8 };
    let making = Making { policy: DeliveryPolicy::Latest, ..MAKING };
    let mut publication = Publication::open(&scratch.directory, &scratch.name, kind, payload, &making).unwrap();
    let joining = Joining { making, ..common::JOINING };
    let mut subscription = Subscription::open(&scratch.directory, &scratch.name, kind, payload, joining).unwrap();
    let mut observation = observe(&scratch, Start::First);
    let mut publish = |count: u64| {
        for _ in 0..count {
            publication.loan().unwrap().publish(0);
        }
        publication.position()
    };
    publish(1);
    let mut copied = Copied::default();
    let held = subscription.sample(&mut copied).unwrap();
    assert_eq!(publish(3), 4);
    assert_eq!(observation.count(), [Count { lane: 0, sent: 4, unsure: 0 }]);
    assert_eq!(publish(2), 7, "number 4 has no message");
    assert_eq!(observation.count(), [Count { lane: 0, sent: 6, unsure: 0 }]);
    assert_eq!(publish(12), 23);
    let Count { sent, unsure, .. } = observation.count()[0];
    assert!(sent - unsure <= 18 && 18 <= sent && unsure > 0, "{sent} {unsure}");
    drop(held);
}

#[test]
fn there_is_nothing_to_observe_where_no_topic_is() {
    let scratch = Scratch::new();
    assert!(Observation::open(&scratch.file(), Start::First).unwrap().is_none());
    std::fs::write(scratch.file(), "mine").unwrap();
    assert!(Observation::open(&scratch.file(), Start::First).is_err());
}
