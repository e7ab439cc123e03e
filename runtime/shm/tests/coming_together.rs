//! Peers that come at the same moment, or in an order that asks for more than one segment.
#![cfg(not(loom))]

mod common;

use std::os::unix::fs::MetadataExt;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use common::{JOINING, MAKING, Scratch, message, received};
use horus_shm::ends::{Joining, Making, Publication, Subscription};
use horus_shm::error::OpenError;
use horus_shm::segment::file::Access;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::WaitStrategy;

const PATIENCE: Duration = Duration::from_secs(60);
const LARGER: Making = Making { capacity: 64, least: 64, ..MAKING };

/// What the subscriber receives until `enough` says so.
fn receive_until(subscriber: &mut Subscription, enough: impl Fn(&[u64]) -> bool) -> Vec<u64> {
    let started = Instant::now();
    let mut all = Vec::new();
    while !enough(&all) {
        assert!(started.elapsed() < PATIENCE, "received {all:?}, missed {}", subscriber.missed());
        all.extend(received(subscriber));
    }
    all
}

#[test]
fn subscriber_that_came_first_receives_from_the_first_message_on_or_counts_it() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe().unwrap();
    let mut publisher = scratch.publish_as(&LARGER).unwrap();
    (0..5).for_each(|number| assert!(publisher.try_send(&message(number), 0).is_ok()));
    assert_eq!(receive_until(&mut subscriber, |all| all.len() == 5), [0, 1, 2, 3, 4]);
    assert_eq!(subscriber.missed(), 0);

    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe().unwrap();
    let latest = Making { capacity: 8, least: 8, policy: DeliveryPolicy::Latest, ..MAKING };
    let mut publisher = scratch.publish_as(&latest).unwrap();
    (0..20).for_each(|number| assert!(publisher.try_send(&message(number), 0).is_ok()));
    let all = receive_until(&mut subscriber, |all| all.last() == Some(&19));
    assert_eq!(all.len() as u64 + subscriber.missed(), 20, "each is received or counted: {all:?}");
}

/// Opens a topic twice at the same moment.
fn at_once(scratch: &Scratch, making: [&Making; 2]) -> [Result<Publication, OpenError>; 2] {
    let together = Barrier::new(2);
    std::thread::scope(|scope| {
        let opening = making.map(|making| {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                scratch.publish_as(making)
            })
        });
        opening.map(|opened| opened.join().unwrap())
    })
}

#[test]
fn two_equal_publishers_that_remake_a_subscribers_topic_at_once_both_publish() {
    for _ in 0..100 {
        let scratch = Scratch::new();
        let _subscriber = scratch.subscribe().unwrap();
        let making = Making { publishers: 2, ..MAKING };
        for opened in at_once(&scratch, [&making, &making]) {
            assert!(opened.is_ok(), "{}", opened.err().unwrap());
        }
    }
}

#[test]
fn subscriber_hears_the_publisher_that_won_of_two_that_disagree() {
    for _ in 0..100 {
        let scratch = Scratch::new();
        let mut subscriber = scratch.subscribe().unwrap();
        let opened = at_once(&scratch, [&MAKING, &LARGER]);
        let mut winners: Vec<_> = opened.into_iter().flatten().collect();
        assert_eq!(winners.len(), 1, "there is room for one");
        winners[0].try_send(&message(1), 0).unwrap();
        assert_eq!(received(&mut subscriber), [1]);
    }
}

#[test]
fn publisher_and_subscribers_start_at_once_on_what_the_dead_left() {
    let scratch = Scratch::new();
    let left = {
        let _publisher = scratch.publish().unwrap();
        std::fs::read(scratch.file()).unwrap()
    };
    for _ in 0..200 {
        std::fs::write(scratch.file(), &left).unwrap();
        let together = Barrier::new(3);
        std::thread::scope(|scope| {
            let publisher = scope.spawn(|| {
                together.wait();
                scratch.publish()
            });
            let subscribers = [(); 2].map(|()| {
                scope.spawn(|| {
                    together.wait();
                    scratch.subscribe()
                })
            });
            let opened = publisher.join().unwrap();
            assert!(opened.is_ok(), "{}", opened.err().unwrap());
            for subscriber in subscribers {
                assert!(subscriber.join().unwrap().is_ok());
            }
        });
        assert_eq!(scratch.files(), 0);
    }
}

#[test]
fn publishers_access_counts_and_not_that_of_a_subscriber_that_came_first() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe().unwrap();
    let group = rustix::process::getgid().as_raw();
    let access = Access { mode: 0o660, group: Some(group) };
    let mut publisher = scratch.publish_as(&Making { access, ..MAKING }).unwrap();
    let found = std::fs::metadata(scratch.file()).unwrap();
    assert_eq!((found.mode() & 0o7777, found.gid()), (0o660, group));
    publisher.try_send(&message(3), 0).unwrap();
    assert_eq!(receive_until(&mut subscriber, |all| !all.is_empty()), [3]);
}

#[test]
fn publisher_that_never_wakes_is_told_of_a_subscriber_that_wants_to_be_woken() {
    let scratch = Scratch::new();
    let _subscriber = scratch.subscribe_as(Joining { wait_strategy: Some(WaitStrategy::Sleep), ..JOINING }).unwrap();
    let error = scratch.publish_as(&Making { wakes: false, ..MAKING }).err().unwrap();
    assert!(matches!(&error, OpenError::Needed { .. }) && error.to_string().contains("to be woken"), "{error}");
}

#[test]
fn topic_that_cannot_be_joined_leaves_no_file() {
    let scratch = Scratch::new();
    let making = Making { wakes: false, ..MAKING };
    let error =
        scratch.subscribe_as(Joining { making, wait_strategy: Some(WaitStrategy::Sleep), ..JOINING }).err().unwrap();
    assert!(error.to_string().contains("never wake"), "{error}");
    assert_eq!(scratch.files(), 0);
}

#[test]
fn subscriber_whose_topic_was_deleted_before_anybody_published_is_told() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe().unwrap();
    std::fs::remove_file(scratch.file()).unwrap();
    let _publisher = scratch.publish().unwrap();
    assert!(received(&mut subscriber).is_empty());
    assert!(matches!(subscriber.check(), Err(OpenError::Deleted { .. })));
}
