//! Topics come and go: who may join, what is left when they leave, and what happens without room.
#![cfg(not(loom))]

mod common;

use std::time::Duration;

use common::{JOINING, KIND, MAKING, Message, Scratch, message, received};
use horus_shm::ends::{Joining, Kind, Making, Payload, Publication};
use horus_shm::error::OpenError;
use horus_shm::peers::clean::clean;
use horus_shm::ring::Full;
use horus_shm::segment::header::Needs;
use horus_shm::segment::layout::{DeliveryPolicy, MAX_SUBSCRIBERS};
use horus_shm::segment::rejected::Reason;
use horus_shm::wait::WaitStrategy;

/// How often the lane has had a new publisher: the word behind its owner's identity.
fn epoch(publisher: &Publication) -> u64 {
    let word = publisher.segment().header().shape.lane(0) + 24;
    let bytes = std::fs::read(publisher.segment().path()).unwrap();
    u64::from_ne_bytes(bytes[word..word + 8].try_into().unwrap())
}

#[test]
fn last_one_out_removes_the_file_in_any_order() {
    let scratch = Scratch::new();
    for publisher_first in [true, false] {
        let publisher = scratch.publish().unwrap();
        let subscriber = scratch.subscribe().unwrap();
        assert_eq!(scratch.files(), 1);
        if publisher_first {
            drop(publisher);
            assert_eq!((scratch.files(), subscriber.is_published().unwrap()), (1, false));
            drop(subscriber);
        } else {
            drop(subscriber);
            assert_eq!((scratch.files(), publisher.subscribers().unwrap()), (1, 0));
            drop(publisher);
        }
        assert_eq!(scratch.files(), 0);
    }
}

#[test]
fn second_publisher_is_refused_while_the_first_lives() {
    let scratch = Scratch::new();
    let first = scratch.publish().unwrap();
    let Err(OpenError::PublishersFull { one, .. }) = scratch.publish() else { panic!("two publishers") };
    assert_eq!(one.pid, std::process::id());
    drop(first);
    drop(scratch.publish().unwrap());
}

#[test]
fn replaced_publisher_goes_on_with_the_next_number() {
    let scratch = Scratch::new();
    let mut first = scratch.publish().unwrap();
    let mut subscriber = scratch.subscribe().unwrap();
    assert_eq!(first.try_send(&message(0), 0), Ok(0));
    drop(first);
    let mut second = scratch.publish().unwrap();
    assert_eq!((epoch(&second), second.try_send(&message(1), 0)), (2, Ok(1)));
    assert_eq!(received(&mut subscriber), [0, 1]);
}

#[test]
fn subscriber_comes_before_its_publisher() {
    let scratch = Scratch::new();
    for wait_strategy in [WaitStrategy::Spin, WaitStrategy::Sleep, WaitStrategy::Poll(Duration::from_micros(100))] {
        let mut subscriber = scratch.subscribe_as(Joining { wait_strategy: Some(wait_strategy), ..JOINING }).unwrap();
        assert!(!subscriber.is_published().unwrap());
        assert!(subscriber.try_recv::<Message>().is_none());
        let waiter = std::thread::spawn(move || subscriber.recv_timeout::<Message>(Duration::from_secs(60)).is_some());
        let mut publisher = scratch.publish().unwrap();
        publisher.try_send(&message(5), 9).unwrap();
        assert!(waiter.join().unwrap(), "{wait_strategy:?}");
    }
    assert_eq!(scratch.files(), 0);
}

#[test]
fn subscribers_follow_a_first_publisher_that_remakes_the_topic() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let scratch = Scratch::new();
        let guess = Making { policy: DeliveryPolicy::Latest, capacity: 2, least: 2, ..MAKING };
        let open = |wait_strategy| {
            scratch.subscribe_as(Joining { making: guess, wait_strategy: Some(wait_strategy), ..JOINING }).unwrap()
        };
        let subscribers =
            [WaitStrategy::Spin, WaitStrategy::Sleep, WaitStrategy::Poll(Duration::from_micros(100))].map(open);
        assert_eq!(subscribers[2].segment().header().shape.capacity(), 2);
        let waiters = subscribers.map(|mut subscriber| {
            std::thread::spawn(move || {
                let first = subscriber.recv_timeout::<Message>(Duration::from_secs(60)).expect("it follows").message;
                let header = subscriber.segment().header();
                assert!(subscriber.check().is_ok());
                (first, header.policy, header.shape.capacity())
            })
        });
        let mut publisher = scratch.publish_as(&Making { policy, ..MAKING }).unwrap();
        assert_eq!(publisher.subscribers().unwrap(), 3, "they were members before it came");
        publisher.try_send(&message(8), 0).unwrap();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), (message(8), policy, 4));
        }
        assert_eq!(scratch.files(), 1);
        drop(publisher);
        assert_eq!(scratch.files(), 0);
    }
}

#[test]
fn publisher_that_does_not_give_what_a_waiting_subscriber_needs_is_told_what() {
    let scratch = Scratch::new();
    let needs = Needs { policy: Some(DeliveryPolicy::Reliable), capacity: 8, waking: false };
    let making = Making { capacity: 8, ..MAKING };
    let subscriber = scratch.subscribe_as(Joining { needs, making, ..JOINING }).unwrap();
    let error = scratch.publish_as(&Making { policy: DeliveryPolicy::Latest, ..making }).err().unwrap();
    assert!(matches!(&error, OpenError::Needed { needs: found, .. } if *found == needs), "{error}");
    let text = error.to_string();
    assert!(text.contains("reliable") && text.contains("8 messages"), "{text}");
    // One that asks for less room gives what is needed all the same.
    let publisher = scratch.publish_as(&Making { publishers: 2, ..MAKING }).unwrap();
    assert_eq!(publisher.segment().header().shape.capacity(), 8);
    drop(publisher);
    drop(subscriber);
    assert_eq!(scratch.files(), 0);
}

#[test]
fn subscriber_is_refused_a_topic_that_is_not_what_it_needs() {
    let scratch = Scratch::new();
    let _publisher = scratch.publish().unwrap();
    let needing = |policy, capacity| {
        scratch.subscribe_as(Joining {
            needs: Needs { policy, capacity, waking: false },
            making: Making { policy: policy.unwrap_or(DeliveryPolicy::Latest), capacity: 1024, ..MAKING },
            ..JOINING
        })
    };
    let reason = |policy, capacity| match needing(policy, capacity).err().unwrap() {
        OpenError::Rejected(rejected) => rejected.reason,
        other => panic!("{other}"),
    };
    assert!(matches!(reason(Some(DeliveryPolicy::Latest), 0), Reason::DeliveryPolicy { .. }));
    assert_eq!(reason(None, 1024), Reason::TooSmall { found: 4, needed: 1024 });
    for enough in [(None, 0), (None, 2), (Some(DeliveryPolicy::Reliable), 4)] {
        drop(needing(enough.0, enough.1).unwrap());
    }
}

#[test]
fn topic_whose_publishers_wake_nobody_lets_nobody_sleep() {
    let scratch = Scratch::new();
    let making = Making { wakes: false, ..MAKING };
    let mut publisher = scratch.publish_as(&making).unwrap();
    for wait_strategy in [WaitStrategy::Sleep, WaitStrategy::default()] {
        let error = scratch.subscribe_as(Joining { wait_strategy: Some(wait_strategy), ..JOINING }).err().unwrap();
        assert!(error.to_string().contains("never wake"), "{error}");
    }
    let mut subscriber = scratch.subscribe_as(Joining { wait_strategy: None, ..JOINING }).unwrap();
    assert!(matches!(subscriber.wait_strategy(), WaitStrategy::Poll(_)));
    let waiter = std::thread::spawn(move || subscriber.recv_timeout::<Message>(Duration::from_secs(60)).is_some());
    publisher.try_send(&message(1), 0).unwrap();
    assert!(waiter.join().unwrap());
    assert!(
        matches!(scratch.publish().err().unwrap(), OpenError::Rejected(rejected) if matches!(rejected.reason, Reason::Wakes { .. }))
    );
}

#[test]
fn as_many_subscribers_as_there_are_places_and_no_more() {
    let scratch = Scratch::new();
    let mut publisher = scratch.publish().unwrap();
    let mut subscribers: Vec<_> = (0..MAX_SUBSCRIBERS).map(|_| scratch.subscribe().unwrap()).collect();
    let error = scratch.subscribe().err().unwrap();
    assert!(matches!(error, OpenError::SubscribersFull { subscribers: MAX_SUBSCRIBERS, .. }), "{error}");
    publisher.try_send(&message(1), 0).unwrap();
    assert!(subscribers.iter_mut().all(|subscriber| received(subscriber) == [1]));
    subscribers.pop();
    drop(scratch.subscribe().unwrap());
}

#[test]
fn send_waits_its_limit() {
    let scratch = Scratch::new();
    let mut publisher = scratch.publish().unwrap();
    let mut subscriber = scratch.subscribe().unwrap();
    (0..4).for_each(|i| assert_eq!(publisher.send(&message(i), 0, Duration::ZERO, WaitStrategy::Spin), Ok(i)));
    assert_eq!(publisher.send(&message(4), 0, Duration::from_millis(3), WaitStrategy::Spin), Err(Full(())));
    let reader =
        std::thread::spawn(move || subscriber.recv_timeout::<Message>(Duration::from_secs(60)).unwrap().sequence);
    assert_eq!(publisher.send(&message(4), 0, Duration::from_secs(60), WaitStrategy::Spin), Ok(4));
    assert_eq!(reader.join().unwrap(), 0);
}

#[test]
fn cleaning_leaves_topics_in_use_and_other_files_alone() {
    let scratch = Scratch::new();
    let publisher = scratch.publish().unwrap();
    std::fs::write(scratch.files.path().join("notes.txt"), "mine").unwrap();
    let cleaned = clean(&scratch.directory).unwrap();
    assert_eq!((cleaned.removed.len(), cleaned.kept.len(), cleaned.unjudged.len()), (0, 1, 0));
    assert_eq!(publisher.segment().path(), cleaned.kept[0]);
    assert_eq!(scratch.files(), 2);
}

#[test]
fn file_that_nobody_living_uses_is_removed_or_replaced_whatever_it_says() {
    let scratch = Scratch::new();
    let publisher = scratch.publish().unwrap();
    let (path, whole) = (scratch.file(), std::fs::read(scratch.file()).unwrap());
    drop(publisher);
    // As a killed publisher leaves it, cut short, with a damaged header, and empty.
    let mut damaged = whole.clone();
    damaged[40..80].fill(0xff);
    for bytes in [&whole[..], &whole[..5000], &whole[..100], &damaged, &[]] {
        std::fs::write(&path, bytes).unwrap();
        let fresh = scratch.publish().unwrap();
        assert_eq!((epoch(&fresh), fresh.position()), (1, 0), "nothing of the dead is taken over");
        drop(fresh);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(clean(&scratch.directory).unwrap().removed, std::slice::from_ref(&path));
        assert_eq!(scratch.files(), 0);
    }
}

#[test]
fn users_of_a_topic_whose_file_was_removed_are_told() {
    let scratch = Scratch::new();
    let mut publisher = scratch.publish().unwrap();
    let mut subscriber = scratch.subscribe().unwrap();
    assert!(publisher.check().is_ok() && subscriber.check().is_ok());
    std::fs::remove_file(scratch.file()).unwrap();
    for error in [publisher.check(), subscriber.check(), publisher.subscribers().map(drop)] {
        assert!(matches!(error, Err(OpenError::Deleted { .. })));
    }
    publisher.try_send(&message(1), 0).unwrap();
    assert_eq!(received(&mut subscriber), [1], "those who are there still meet");
    let other = scratch.publish().unwrap();
    drop((publisher, subscriber));
    assert!(scratch.file().exists(), "the file of the others is not theirs to remove");
    drop(other);
    assert_eq!(scratch.files(), 0);
}

/// The median time of opening and leaving a topic in each directory; taken in turn, so that what else the machine does meets all.
fn opening_times<const COUNT: usize>(directories: [&Scratch; COUNT]) -> [Duration; COUNT] {
    let mut times: [Vec<Duration>; COUNT] = std::array::from_fn(|_| Vec::new());
    for _ in 0..101 {
        for (scratch, times) in directories.iter().zip(&mut times) {
            let started = std::time::Instant::now();
            drop(scratch.publish().unwrap());
            times.push(started.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

#[test]
fn opening_takes_as_long_among_a_thousand_topics_as_alone() {
    let (alone, crowded) = (Scratch::new(), Scratch::new());
    drop(crowded.publish().unwrap());
    let left = {
        let _publisher = crowded.publish().unwrap();
        std::fs::read(crowded.file()).unwrap()
    };
    for other in 0..1000 {
        std::fs::write(crowded.directory.path().join(format!("other-{other}.topic")), &left).unwrap();
    }
    // A ratio of medians that a busy machine may spoil now and then, but not every time.
    let is_so = |_| {
        let [one, thousand] = opening_times([&alone, &crowded]);
        println!("alone {one:?}, among a thousand {thousand:?}");
        thousand < 2 * one
    };
    assert!((0..10).any(is_so), "opening depends on how many topics there are");
}

#[test]
fn a_publisher_of_another_type_beside_a_living_one_is_told_the_type_and_not_that_there_is_no_room() {
    let scratch = Scratch::new();
    let _living = scratch.publish().unwrap();
    let other = Kind { type_name: "test/Other", ..KIND };
    let refused = Publication::open(&scratch.directory, &scratch.name, other, Payload::of::<Message>(), &MAKING);
    let said = refused.err().expect("it is refused").to_string();
    assert!(said.contains("test/Other") && said.contains("test/Message"), "{said}");
}
