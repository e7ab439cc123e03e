//! What a topic can do beyond one publisher and one subscriber: lanes, history, messages in place, sleeping, bytes.
//!
//! One file, because another test program takes longer to link than all of these take to run.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::message::{Message, Stamp};
use horus::topic::{
    Bytes, Full, OpenError, Options, Publisher, SendError, Serde, SerializeError, Subscriber, TopicName, WaitStrategy,
    wait_any,
};

const PATIENCE: Duration = Duration::from_secs(60);

horus::message! {
    /// Large enough to be held in place on a `latest` topic.
    struct Block = "test/Block" {
        /// Equal numbers.
        words: [u64; 1024],
    }
}

struct Scratch {
    files: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self { files: tempfile::tempdir_in("/dev/shm").unwrap() }
    }

    fn reliable(&self, capacity: usize) -> Options {
        Options::reliable(capacity).directory(self.files.path())
    }

    fn latest(&self, capacity: usize) -> Options {
        Options::latest(capacity).directory(self.files.path())
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.files.path()).unwrap().count()
    }
}

fn name() -> TopicName {
    "topic".parse().unwrap()
}

fn publish<M: Message>(options: &Options) -> Publisher<M> {
    Publisher::open(name(), options).unwrap()
}

fn subscribe<M: Message>(options: &Options) -> Subscriber<M> {
    Subscriber::open(name(), options).unwrap()
}

fn stamp(sequence: u64) -> Stamp {
    Stamp { sequence, sent_ns: !sequence }
}

fn numbers(subscriber: &mut Subscriber<Stamp>) -> Vec<u64> {
    std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.message.sequence).collect()
}

#[test]
fn every_subscriber_receives_every_message_of_every_publisher_in_each_ones_order() {
    const PUBLISHERS: usize = 3;
    const MESSAGES: u64 = 5_000;
    let scratch = Scratch::new();
    let options = scratch
        .reliable(16)
        .publishers(PUBLISHERS)
        .wait_strategy(WaitStrategy::SpinThenSleep(Duration::from_micros(50)));
    let publishers: Vec<_> = (0..PUBLISHERS).map(|_| publish::<Stamp>(&options)).collect();
    let subscribers: Vec<_> = (0..2).map(|_| subscribe::<Stamp>(&options)).collect();
    std::thread::scope(|scope| {
        for mut publisher in publishers {
            scope.spawn(move || (0..MESSAGES).for_each(|n| publisher.send_timeout(stamp(n), PATIENCE).unwrap()));
        }
        for mut subscriber in subscribers {
            scope.spawn(move || {
                let mut next = [0; PUBLISHERS];
                for _ in 0..PUBLISHERS as u64 * MESSAGES {
                    let received = subscriber.recv_timeout(PATIENCE).unwrap();
                    assert_eq!(received.message, stamp(next[received.publisher]));
                    next[received.publisher] += 1;
                }
                assert_eq!((next, subscriber.missed()), ([MESSAGES; PUBLISHERS], 0));
            });
        }
    });
    assert_eq!(scratch.files(), 0);
}

#[test]
fn one_publisher_more_than_the_topic_was_made_for_is_refused_until_one_leaves() {
    let scratch = Scratch::new();
    let options = scratch.reliable(4).publishers(2);
    let first = publish::<Stamp>(&options);
    let mut second = publish::<Stamp>(&options);
    let error = Publisher::<Stamp>::open(name(), &options).err().unwrap();
    assert!(matches!(error, OpenError::PublishersFull { publishers: 2, .. }), "{error}");
    assert!(error.to_string().contains("Options::publishers"), "{error}");
    drop(first);
    let mut third = publish::<Stamp>(&options);
    assert_eq!((third.lane(), second.lane()), (0, 1));
    let mut subscriber = subscribe::<Stamp>(&options);
    second.try_send(stamp(2)).unwrap();
    third.try_send(stamp(3)).unwrap();
    let mut received = numbers(&mut subscriber);
    received.sort_unstable();
    assert_eq!(received, [2, 3]);
    drop(third);
    let error = Publisher::<Stamp>::open(name(), scratch.reliable(4).publishers(3)).err().unwrap();
    assert!(error.to_string().contains("room for 2 publishers, this program asks for 3"), "{error}");
    drop(publish::<Stamp>(&scratch.reliable(2))); // it asks for no more than there is
}

#[test]
fn late_joiner_receives_the_history_that_it_asks_for_and_no_more() {
    let scratch = Scratch::new();
    for options in [scratch.reliable(8), scratch.latest(8)] {
        let mut publisher = publish::<Stamp>(&options);
        (0..5).for_each(|n| publisher.try_send(stamp(n)).unwrap());
        for (asked, expected) in [(0, vec![]), (2, vec![3, 4]), (5, vec![0, 1, 2, 3, 4]), (100, vec![0, 1, 2, 3, 4])] {
            let mut subscriber = subscribe::<Stamp>(&options.clone().history(asked));
            assert_eq!(numbers(&mut subscriber), expected, "asked for {asked}");
            assert_eq!(subscriber.missed(), 0);
        }
        (5..20).for_each(|n| publisher.try_send(stamp(n)).unwrap());
        let mut subscriber = subscribe::<Stamp>(&options.clone().history(usize::MAX));
        let history = numbers(&mut subscriber);
        assert!(history.ends_with(&[13, 14, 15, 16, 17, 18, 19]) && history.len() <= 8, "{history:?}");
    }
}

/// Sends a block full of `word`, written in its place.
fn send_in_place(publisher: &mut Publisher<Block>, word: u64) -> Result<(), Full<()>> {
    let mut loan = publisher.loan()?;
    loan.words.fill(word);
    loan.publish();
    Ok(())
}

#[test]
fn message_read_in_place_holds_a_reliable_publisher_back_and_stays_as_it_was() {
    let scratch = Scratch::new();
    let options = scratch.reliable(2);
    let mut publisher = publish::<Block>(&options);
    let mut subscriber = subscribe::<Block>(&options);
    send_in_place(&mut publisher, 1).unwrap();
    let sample = subscriber.borrow().unwrap();
    assert_eq!(sample.words, [1; 1024]);
    send_in_place(&mut publisher, 2).unwrap();
    assert_eq!(send_in_place(&mut publisher, 3), Err(Full(())), "the other place is held");
    assert_eq!(sample.words, [1; 1024], "the held message stays as it was");
    drop(sample);
    send_in_place(&mut publisher, 3).unwrap();
    let received: Vec<u64> = std::iter::from_fn(|| subscriber.borrow().map(|sample| sample.words[0])).collect();
    assert_eq!((received, subscriber.missed()), (vec![2, 3], 0));
}

#[test]
fn message_read_in_place_is_passed_over_by_a_latest_publisher_and_stays_as_it_was() {
    let scratch = Scratch::new();
    let options = scratch.latest(4);
    let mut publisher = publish::<Block>(&options);
    let mut viewer = subscribe::<Block>(&options);
    let mut other = subscribe::<Block>(&options);
    send_in_place(&mut publisher, 0).unwrap();
    let sample = viewer.borrow().unwrap();
    for word in 1..100 {
        send_in_place(&mut publisher, word).unwrap();
        assert_eq!(sample.words, [0; 1024], "the held message stays as it was");
    }
    drop(sample);
    let received: Vec<u64> = std::iter::from_fn(|| other.borrow().map(|sample| sample.words[0])).collect();
    assert!(received.ends_with(&[97, 98, 99]), "{received:?}");
    // One number in four was passed over: 99 messages have had three slots.
    assert_eq!(publisher.position(), 100 + 32);
    assert_eq!(received.len() as u64 + other.missed(), publisher.position(), "each number is taken or counted");
}

#[test]
fn latest_publisher_is_refused_only_when_every_message_is_held() {
    let scratch = Scratch::new();
    let options = scratch.latest(2);
    let mut publisher = publish::<Block>(&options);
    let mut viewers = [subscribe::<Block>(&options), subscribe::<Block>(&options)];
    let [first, second] = &mut viewers;
    send_in_place(&mut publisher, 0).unwrap();
    let held = first.borrow().unwrap();
    send_in_place(&mut publisher, 1).unwrap();
    drop(second.borrow().unwrap());
    let other = second.borrow().unwrap();
    assert_eq!((held.words[0], other.words[0]), (0, 1));
    let position = publisher.position();
    for _ in 0..10 {
        assert_eq!(send_in_place(&mut publisher, 2), Err(Full(())));
        assert!(publisher.try_send(Block { words: [2; 1024] }).is_err());
    }
    assert_eq!(publisher.position(), position, "what was refused used up no number");
    drop(other);
    send_in_place(&mut publisher, 2).unwrap();
    assert_eq!((held.words[0], second.borrow().unwrap().words[0]), (0, 2));
}

#[test]
fn loan_that_is_not_published_was_never_sent() {
    let scratch = Scratch::new();
    let options = scratch.reliable(2);
    let mut publisher = publish::<Block>(&options);
    let mut subscriber = subscribe::<Block>(&options);
    publisher.loan().unwrap().words.fill(7);
    assert!(subscriber.try_recv().is_none());
    publisher.try_send(Block { words: [8; 1024] }).unwrap();
    let received = subscriber.try_recv().unwrap();
    assert_eq!((received.sequence, received.message.words), (0, [8; 1024]));
}

#[test]
fn small_message_of_a_latest_topic_is_lent_as_a_copy_that_nobody_overwrites() {
    let scratch = Scratch::new();
    let options = scratch.latest(1);
    let mut publisher = publish::<Stamp>(&options);
    let mut subscriber = subscribe::<Stamp>(&options);
    publisher.try_send(stamp(1)).unwrap();
    let sample = subscriber.borrow().unwrap();
    (2..5).for_each(|n| publisher.try_send(stamp(n)).unwrap());
    assert_eq!(*sample, stamp(1));
}

#[test]
fn sleeping_subscriber_wakes_for_every_message_and_for_none_when_its_time_is_up() {
    const ROUNDS: u64 = 500;
    let scratch = Scratch::new();
    for wait_strategy in [WaitStrategy::Sleep, WaitStrategy::SpinThenSleep(Duration::from_micros(5))] {
        let there = scratch.reliable(4).wait_strategy(wait_strategy);
        let mut publisher = publish::<Stamp>(&there);
        let mut subscriber = subscribe::<Stamp>(&there);
        assert!(subscriber.recv_timeout(Duration::from_millis(5)).is_none());
        let back: TopicName = "back".parse().unwrap();
        let mut answers = Publisher::<Stamp>::open(&back, &there).unwrap();
        let mut answered = Subscriber::<Stamp>::open(&back, &there).unwrap();
        let peer = std::thread::spawn(move || {
            for _ in 0..ROUNDS {
                let received = subscriber.recv_timeout(PATIENCE).unwrap();
                answers.try_send(received.message).unwrap();
            }
        });
        for n in 0..ROUNDS {
            publisher.try_send(stamp(n)).unwrap();
            assert_eq!(answered.recv_timeout(PATIENCE).unwrap().message, stamp(n));
        }
        peer.join().unwrap();
    }
}

/// How often this thread gave up the CPU by itself.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn subscriber_that_says_nothing_about_waiting_burns_no_cpu_and_wakes_once_a_second() {
    let scratch = Scratch::new();
    let options = Options::default().directory(scratch.files.path());
    let _publisher = publish::<Stamp>(&scratch.latest(4));
    let mut subscriber = subscribe::<Stamp>(&options);
    assert!(matches!(subscriber.wait_strategy(), WaitStrategy::SpinThenSleep(_)));
    let idle = std::thread::spawn(move || {
        // The first sleep of all is a short one.
        assert!(subscriber.recv_timeout(Duration::from_millis(50)).is_none());
        let cpu = || Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap();
        let (slept, used) = (sleeps(), cpu());
        assert!(subscriber.recv_timeout(Duration::from_millis(2_500)).is_none());
        (sleeps() - slept, cpu() - used)
    });
    let (slept, used) = idle.join().unwrap();
    assert!(slept <= 4, "it woke {slept} times in 2.5 s");
    assert!(used < Duration::from_millis(250), "it used {used:?} of 2.5 s");
}

#[test]
fn wait_any_sleeps_until_one_of_several_topics_has_something() {
    let scratch = Scratch::new();
    let done = AtomicBool::new(false);
    for wait_strategy in [WaitStrategy::Sleep, WaitStrategy::Spin] {
        let options = scratch.latest(4).wait_strategy(wait_strategy);
        let names: Vec<TopicName> = (0..4).map(|i| format!("topic-{i}").parse().unwrap()).collect();
        let mut publishers: Vec<_> =
            names.iter().map(|name| Publisher::<Stamp>::open(name, &options).unwrap()).collect();
        let mut subscribers: Vec<_> =
            names.iter().map(|name| Subscriber::<Stamp>::open(name, &options).unwrap()).collect();
        let mut all: Vec<_> = subscribers.iter_mut().map(Subscriber::waitable).collect();
        let waits = || assert_eq!(wait_any(&mut all, Duration::from_millis(3)), None);
        assert_eq!(allocation_counter::measure(waits).count_total, 0);
        assert_eq!(wait_any(&mut [], Duration::from_millis(1)), None);
        done.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0..100 {
                    let index = turn % publishers.len();
                    publishers[index].try_send(stamp(turn as u64)).unwrap();
                    while !done.swap(false, Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                }
            });
            for turn in 0..100 {
                let mut all: Vec<_> = subscribers.iter_mut().map(Subscriber::waitable).collect();
                assert_eq!(wait_any(&mut all, PATIENCE), Some(turn % 4));
                assert_eq!(numbers(&mut subscribers[turn % 4]), [turn as u64]);
                done.store(true, Ordering::Relaxed);
            }
        });
    }
}

#[test]
fn bytes_of_any_length_arrive_whole_by_copy_and_in_place() {
    let scratch = Scratch::new();
    for options in [scratch.reliable(2), scratch.latest(2)] {
        for maximum in [256, 10_000] {
            let mut publisher = Publisher::<[u8]>::open_as(name(), Bytes::up_to(maximum), &options).unwrap();
            let mut subscriber = Subscriber::<[u8]>::open_as(name(), Bytes::up_to(maximum), &options).unwrap();
            for length in [0, 1, 7, 8, 9, 63, 64, 65, 255, maximum] {
                let message: Vec<u8> = (0..length).map(|i| (i * 31 + length) as u8).collect();
                publisher.try_send(&message).unwrap();
                assert_eq!(subscriber.try_recv().unwrap().message, message);
                let mut loan = publisher.loan_of(length).unwrap();
                loan.copy_from_slice(&message);
                loan.publish();
                assert_eq!(*subscriber.borrow().unwrap(), *message);
            }
            let error = publisher.try_send(vec![0; maximum + 1]).unwrap_err();
            assert_eq!(error, SendError::TooLong { bytes: maximum + 1, maximum });
            assert!(subscriber.try_recv().is_none());
        }
        assert_eq!(scratch.files(), 0);
    }
}

#[test]
fn a_length_that_a_peer_made_up_is_cut_to_the_maximum_whatever_room_the_receiver_has() {
    let scratch = Scratch::new();
    let options = scratch.reliable(2);
    let mut publisher = Publisher::<[u8]>::open_as(name(), Bytes::up_to(64), &options).unwrap();
    let mut subscriber = Subscriber::<[u8]>::open_as(name(), Bytes::up_to(64), &options).unwrap();
    let message = [0xa5; 64];
    let file = scratch.files.path().join("topic.topic");
    for alleged in [65, 4096, u64::MAX] {
        publisher.try_send(message).unwrap();
        let segment = std::fs::read(&file).unwrap();
        let at = segment.windows(64).position(|bytes| bytes == message).expect("the message is in the file");
        let words = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        words.write_all_at(&alleged.to_ne_bytes(), at as u64 - 8).unwrap();
        let mut room = [0; 4096];
        let received = subscriber.try_recv_into(&mut room).unwrap().message;
        assert_eq!((received, &room[..64]), (64, &message[..]));
        words.write_all_at(&[0; 64], at as u64).unwrap(); // the next one is found in the other slot
    }
}

#[test]
fn serialized_values_arrive_and_foreign_bytes_are_an_error() {
    let scratch = Scratch::new();
    let options = scratch.reliable(4);
    let open =
        |maximum| Publisher::<Serde<Vec<String>>>::open_as(name(), Bytes::of_type("test/Texts", maximum), &options);
    let mut publisher = open(64).unwrap();
    let mut subscriber =
        Subscriber::<Serde<Vec<String>>>::open_as(name(), Bytes::of_type("test/Texts", 64), &options).unwrap();
    let texts = vec!["left".to_owned(), "right".to_owned()];
    publisher.try_send(&texts).unwrap();
    assert_eq!(subscriber.try_recv().unwrap().message.unwrap(), texts);
    let error = publisher.try_send(vec!["x".repeat(100)]).unwrap_err();
    assert!(matches!(error, SerializeError::TooLong { maximum: 64 }), "{error}");
    assert!(subscriber.try_recv().is_none(), "what was too long was not sent in part");
    let mut numbers =
        Subscriber::<Serde<Vec<(u64, String)>>>::open_as(name(), Bytes::of_type("test/Texts", 64), &options).unwrap();
    publisher.try_send(&texts).unwrap();
    assert!(numbers.try_recv().unwrap().message.is_err());
    let other = Subscriber::<Serde<u8>>::open_as(name(), Bytes::of_type("test/Other", 64), &options).err().unwrap();
    assert!(other.to_string().contains("test/Texts"), "{other}");
}

mod other {
    horus::message! {
        /// As the other `Stamp`, with a field more.
        pub struct Stamp = "horus/Stamp" { sequence: u64, sent_ns: u64, source: u32, unused: u32 }
    }
    horus::message! {
        /// As the other `Stamp`, with another name for a field.
        pub struct Renamed = "horus/Stamp" { sequence: u64, when: u64 }
    }
}

#[test]
fn mismatch_of_types_is_explained_by_the_field_that_differs() {
    let scratch = Scratch::new();
    let options = scratch.reliable(4);
    let _publisher = publish::<Stamp>(&options);
    let longer = Subscriber::<other::Stamp>::open(name(), &options).err().unwrap().to_string();
    assert!(longer.contains("16 bytes") && longer.contains("24") && longer.contains("`source` u32"), "{longer}");
    let renamed = Subscriber::<other::Renamed>::open(name(), &options).err().unwrap().to_string();
    assert!(renamed.contains("`sent_ns` u64 (8 bytes at 8)") && renamed.contains("`when` u64"), "{renamed}");
}

#[test]
fn history_is_lent_as_a_copy_because_its_place_may_be_overwritten() {
    let scratch = Scratch::new();
    let options = scratch.reliable(2);
    let mut publisher = publish::<Block>(&options);
    (0..3).for_each(|n| publisher.try_send(Block { words: [n; 1024] }).unwrap());
    let mut subscriber = subscribe::<Block>(&options.clone().history(2));
    let sample = subscriber.borrow().unwrap();
    assert_eq!(sample.words, [1; 1024]);
    publisher.try_send(Block { words: [3; 1024] }).unwrap(); // where message 1 stood
    assert_eq!(sample.words, [1; 1024]);
    drop(sample);
    let rest: Vec<u64> = std::iter::from_fn(|| subscriber.borrow().map(|sample| sample.words[0])).collect();
    assert_eq!(rest, [2, 3]);
}

#[test]
fn sample_that_is_forgotten_holds_nothing_for_longer_than_until_the_next_message() {
    let scratch = Scratch::new();
    let options = scratch.latest(1);
    let mut publisher = publish::<Block>(&options);
    let mut subscriber = subscribe::<Block>(&options);
    publisher.try_send(Block { words: [1; 1024] }).unwrap();
    std::mem::forget(subscriber.borrow());
    assert!(publisher.try_send(Block { words: [2; 1024] }).is_err(), "it is still held");
    assert_eq!(subscriber.try_recv().unwrap().message.words, [1; 1024], "forgotten is not received");
    publisher.try_send(Block { words: [2; 1024] }).unwrap();
    assert_eq!(subscriber.try_recv().unwrap().message.words, [2; 1024]);
}

#[test]
fn value_that_is_too_long_costs_a_latest_topic_nothing() {
    let scratch = Scratch::new();
    let options = scratch.latest(1);
    let mut publisher = Publisher::<Serde<String>>::open_as(name(), Bytes::of_type("test/Text", 8), &options).unwrap();
    let mut subscriber =
        Subscriber::<Serde<String>>::open_as(name(), Bytes::of_type("test/Text", 8), &options).unwrap();
    publisher.try_send("short".to_owned()).unwrap();
    assert!(matches!(publisher.try_send("x".repeat(9)), Err(SerializeError::TooLong { maximum: 8 })));
    assert_eq!(subscriber.try_recv().unwrap().message.unwrap(), "short");
}

#[test]
fn sender_without_a_limit_waits_for_nobody_on_a_latest_topic() {
    let scratch = Scratch::new();
    let options = scratch.latest(1);
    let mut publisher = publish::<Block>(&options);
    let mut subscriber = subscribe::<Block>(&options);
    publisher.send(Block { words: [1; 1024] }).unwrap();
    let held = subscriber.borrow().unwrap();
    assert!(publisher.send(Block { words: [2; 1024] }).is_err());
    drop(held);

    let name: TopicName = "bytes".parse().unwrap();
    let mut publisher = Publisher::<[u8]>::open_as(name.clone(), Bytes::up_to(8192), &options).unwrap();
    let mut subscriber = Subscriber::<[u8]>::open_as(name, Bytes::up_to(8192), &options).unwrap();
    publisher.send_timeout([1; 8192], Duration::MAX).unwrap();
    let held = subscriber.borrow().unwrap();
    assert!(matches!(publisher.send_timeout([2; 8192], Duration::MAX), Err(SendError::Full)));
    drop(held);
}
