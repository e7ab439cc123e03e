//! Publishers and subscribers that lose messages.

use std::path::Path;
use std::time::Instant;

use horus::prelude::*;
use horus::topic::OpenError;

use crate::PATIENCE;
use crate::looks::line_of_top;
use crate::programs::{Number, Page, Program};

fn at(scratch: &Path, options: Options) -> Options {
    options.directory(scratch.join("topics"))
}

pub fn publisher(scratch: &Path, options: Options) -> Publisher<Number> {
    Publisher::open("t", at(scratch, options)).unwrap()
}

pub fn subscriber(scratch: &Path, options: Options) -> Subscriber<Number> {
    Subscriber::open("t", at(scratch, options)).unwrap()
}

pub fn send(publisher: &mut Publisher<Number>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| publisher.try_send(Number { number }).unwrap());
}

pub fn received(subscriber: &mut Subscriber<Number>) -> Vec<u64> {
    std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.message.number).collect()
}

pub fn reliable_topic_is_full(scratch: &Path) {
    let mut subscriber = subscriber(scratch, Options::reliable(2));
    let mut publisher = publisher(scratch, Options::reliable(2));
    send(&mut publisher, 0..2);
    assert!(publisher.try_send(Number { number: 2 }).is_err());
    assert!(publisher.send_timeout(Number { number: 3 }, ms(5)).is_err(), "it waits up to its limit");
    let waits = std::thread::spawn(move || publisher.send(Number { number: 2 }).is_ok());
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().message.number, 0);
    assert!(waits.join().unwrap());
    assert_eq!(received(&mut subscriber), [1, 2]);
}

pub fn every_message_is_held(scratch: &Path) {
    let options = at(scratch, Options::latest(1));
    let mut subscriber = Subscriber::<Page>::open("t", &options).unwrap();
    let mut publisher = Publisher::<Page>::open("t", &options).unwrap();
    publisher.try_send(Page { words: [1; 1024] }).unwrap();
    let held = subscriber.borrow().unwrap();
    assert!(publisher.try_send(Page { words: [2; 1024] }).is_err());
    assert_eq!(held.words, [1; 1024]);
    drop(held);
    publisher.try_send(Page { words: [2; 1024] }).unwrap();
}

pub fn publisher_is_killed_before_its_message_is_complete(scratch: &Path) {
    let options = at(scratch, Options::reliable(4));
    let mut subscriber = Subscriber::<Page>::open("t", &options).unwrap();
    let victim = Program::start("loans", scratch);
    victim.says("half of it is there");
    victim.kill();
    let mut publisher = Publisher::<Page>::open("t", &options).unwrap();
    assert!((publisher.position(), subscriber.try_recv().is_none()) == (1, false), "the one that was complete came");
    assert!(subscriber.try_recv().is_none(), "no half a message");
    publisher.try_send(Page { words: [9; 1024] }).unwrap();
    let next = subscriber.try_recv().unwrap();
    assert_eq!((next.sequence, next.message.words, subscriber.missed()), (1, [9; 1024], 0));
}

pub fn newer_messages_overwrote_it(scratch: &Path) {
    let mut subscriber = subscriber(scratch, Options::latest(4));
    let mut publisher = publisher(scratch, Options::latest(4));
    send(&mut publisher, 0..10);
    let line = line_of_top(&scratch.join("topics"), "t").unwrap();
    let to_be_missed: u64 = line.split(' ').next_back().unwrap().parse().unwrap();
    let came = received(&mut subscriber);
    assert_eq!((came.len() as u64 + subscriber.missed(), came.last()), (10, Some(&9)));
    // Who was overtaken leaves out the oldest message that is whole, too: it is the next one to be overwritten.
    assert_eq!(subscriber.missed(), to_be_missed + 1, "{line}");
    assert!(line_of_top(&scratch.join("topics"), "t").unwrap().ends_with(" -"), "it has read on");
}

pub fn remade_and_overwritten_before_the_first_look(scratch: &Path) {
    let mut subscriber = subscriber(scratch, Options::default());
    let mut publisher = publisher(scratch, Options::latest(64));
    send(&mut publisher, 0..200);
    let came = received(&mut subscriber);
    assert_eq!((came.len() as u64 + subscriber.missed(), came.last()), (200, Some(&199)));
    assert!(subscriber.missed() > 0 && subscriber.capacity() == 64);
}

pub fn subscriber_is_dead(scratch: &Path) {
    let dead = Program::start("subscribes", scratch);
    dead.says("subscribed");
    let mut publisher = publisher(scratch, Options::reliable(2));
    send(&mut publisher, 0..2);
    dead.kill();
    assert!(publisher.try_send(Number { number: 2 }).is_err(), "the topic is full");
    assert_eq!(publisher.reap_dead_subscribers(), 1);
    send(&mut publisher, 2..3);
}

pub fn subscriber_joined_late(scratch: &Path) {
    let mut publisher = publisher(scratch, Options::latest(8));
    send(&mut publisher, 0..5);
    for (asked, older) in [(0, vec![]), (2, vec![3, 4])] {
        let mut late = subscriber(scratch, Options::default().history(asked));
        assert_eq!((late.position(), received(&mut late)), (5 - asked as u64, older));
    }
}

/// Where the header of a topic's file has the capacity.
const CAPACITY: u64 = 48;

pub fn remade_otherwise(scratch: &Path) {
    let mut subscriber = subscriber(scratch, Options::reliable(8));
    let mut publisher = publisher(scratch, Options::reliable(32));
    send(&mut publisher, 0..2);
    let file = std::fs::OpenOptions::new().write(true).open(scratch.join("topics/t.topic")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &(1_u64 << 40).to_ne_bytes(), CAPACITY).unwrap();
    assert!(received(&mut subscriber).is_empty());
    let reasons = [subscriber.check().unwrap_err(), subscriber.is_published().unwrap_err()];
    for reason in reasons {
        assert!(matches!(&reason, OpenError::Remade { reason, .. } if reason.contains("damaged")), "{reason}");
    }
    send(&mut publisher, 2..4);
    assert!(received(&mut subscriber).is_empty(), "it receives nothing from then on");
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "not: {what}");
        std::thread::park_timeout(ms(5));
    }
}
