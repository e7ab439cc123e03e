//! The reproduced faults of the original HORUS, P1 to P11, each as a test that our topics do not have it.
//!
//! The numbers are those of a study of softmata/horus at its `main` of 2026-08, which ran each fault; what was seen there
//! stands above each test. P8, two threads that share one handle, does not compile here: the handles are `Send` and not
//! `Sync`, which doc tests of [`horus::topic`] hold on to. One file, because it is one list. P9, contention of unrelated topics, has a file of its own,
//! `original_faults_contention.rs`.

mod peers;

use std::path::Path;
use std::time::{Duration, Instant};

use horus::message::Message;
use horus::topic::{OpenError, Options, Publisher, Subscriber, TopicName};
use horus_shm::segment::layout::{
    DeliveryPolicy, HEADER_BYTES, LINE, LINE_PAIR, MAX_PAYLOAD_BYTES, MAX_SUBSCRIBERS, Shape, ShapeError,
};
use horus_shm::segment::rejected::Rejected;
use peers::{CAPACITY, PATIENCE, Peer, await_no_file, options_for, some_time};
use rustix::process::{Signal, kill_process};

horus::message! {
    /// A number that is written 32 times, so that a torn copy shows.
    #[derive(Eq)]
    pub struct Numbers = "test/Numbers" {
        /// The number.
        words: [u64; 32],
    }
}
horus::message! {
    /// Larger than every fixed slot of the original (8 KiB), and no whole number of pages.
    pub struct Large = "test/Large" {
        /// A number, over and over.
        words: [u64; 2_601],
    }
}

fn numbers(number: u64) -> Numbers {
    Numbers { words: [number; 32] }
}

fn name() -> TopicName {
    "faults".parse().unwrap()
}

fn publish<M: Message>(options: &Options) -> Publisher<M> {
    Publisher::open(name(), options).unwrap()
}

fn subscribe<M: Message>(options: &Options) -> Subscriber<M> {
    Subscriber::open(name(), options).unwrap()
}

/// A subscriber of [`Numbers`] that must get every number from `next` on.
struct Complete {
    subscriber: Subscriber<Numbers>,
    next: u64,
}

impl Complete {
    fn new(options: &Options) -> Self {
        let subscriber = subscribe(options);
        Self { next: subscriber.position(), subscriber }
    }

    fn take_what_is_there(&mut self) {
        while let Some(received) = self.subscriber.try_recv() {
            assert_eq!((received.sequence, received.message), (self.next, numbers(self.next)));
            self.next += 1;
        }
        assert_eq!(self.subscriber.missed(), 0);
    }

    fn take_until(&mut self, end: u64) {
        while self.next < end {
            let received = self.subscriber.recv_timeout(PATIENCE).expect("a message");
            assert_eq!((received.sequence, received.message), (self.next, numbers(self.next)));
            self.next += 1;
        }
    }
}

const MESSAGES: u64 = 20_000;

/// **P1.** There: two subscribers on one thread counted as one and shared the ring; the slow one got 0 of 20,000.
#[test]
fn two_subscribers_on_one_thread_each_get_every_message_however_slow_one_of_them_is() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(512).directory(files.path());
    let mut publisher = publish::<Numbers>(&options);
    let (mut quick, mut slow) = (Complete::new(&options), Complete::new(&options));
    assert_eq!(publisher.subscribers().unwrap(), 2);
    for number in 0..MESSAGES {
        while publisher.try_send(numbers(number)).is_err() {
            // The slow one reads only once the whole ring waits for it.
            slow.take_what_is_there();
        }
        quick.take_what_is_there();
    }
    slow.take_what_is_there();
    assert_eq!((quick.next, slow.next), (MESSAGES, MESSAGES));
}

/// In the other process of P2.
#[test]
#[ignore = "a peer"]
fn peer_gets_every_number() {
    let mut subscriber = Complete::new(&peers::options());
    peers::ready();
    subscriber.take_until(MESSAGES);
}

/// **P2.** There: a handle that sends and receives kept its messages to itself; another subscriber got 1 of 10,000.
#[test]
fn a_thread_that_receives_what_it_sends_takes_nothing_from_others() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options_for("reliable", files.path());
    let mut publisher = publish::<Numbers>(&options);
    let mut own = Complete::new(&options);
    let mut beside = Complete::new(&options);
    let mut peer = Peer::start("peer_gets_every_number", files.path(), "reliable");
    peer.wait_until_ready();
    for number in 0..MESSAGES {
        publisher.send_timeout(numbers(number), PATIENCE).unwrap();
        own.take_what_is_there();
        beside.take_what_is_there();
    }
    assert_eq!((own.next, beside.next), (MESSAGES, MESSAGES));
    peer.finish();
}

/// The median over many small batches of what a message costs, sent and taken by `one`: what else the machine does
/// meanwhile lengthens few of them.
fn median_ns(mut one: impl FnMut()) -> u128 {
    let batches: Vec<u128> = (0..200)
        .map(|_| {
            let started = Instant::now();
            (0..100).for_each(|_| one());
            started.elapsed().as_nanos()
        })
        .collect();
    let mut sorted = batches;
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// **P3.** There: without a subscriber the ring filled, each send then took 70 times as long, and who came late was
/// given message 0.
#[test]
fn with_nobody_subscribed_sending_is_neither_refused_nor_slower_and_who_comes_late_gets_nothing_stale() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(64).directory(files.path());
    let mut publisher = publish::<Numbers>(&options);
    let alone = median_ns(|| publisher.try_send_stamped(numbers(7), 0).unwrap());
    let sent = publisher.position();
    assert_eq!(sent, MESSAGES);

    let mut late = subscribe::<Numbers>(&options);
    assert_eq!(late.try_recv(), None, "a message from before it came");
    publisher.try_send(numbers(8)).unwrap();
    let first = late.try_recv().unwrap();
    assert_eq!((first.sequence, first.message), (sent, numbers(8)));

    let heard = median_ns(|| {
        publisher.try_send_stamped(numbers(7), 0).unwrap();
        late.try_recv().unwrap();
    });
    assert!(alone <= 10 * heard, "100 sends to no receiver take {alone} ns, and with a receiver {heard} ns");
}

/// In the process of P4: joins, stops itself, and when it is woken finds every message that was sent since.
#[test]
#[ignore = "a peer"]
fn peer_sleeps_and_then_gets_every_number() {
    let mut subscriber = Complete::new(&peers::options());
    peers::ready();
    kill_process(rustix::process::getpid(), Signal::STOP).unwrap();
    subscriber.take_until(CAPACITY as u64);
    subscriber.take_what_is_there();
}

/// **P4.** There: who was silent for longer than its lease (5 s) lost its place to a newcomer and got 0 of 20,000.
#[test]
fn silent_subscriber_is_not_robbed_by_a_newcomer() {
    /// As long as in the original's run, and longer than its lease.
    const SILENCE: Duration = Duration::from_millis(6_500);
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options_for("reliable", files.path());
    let mut publisher = publish::<Numbers>(&options);
    let mut silent = Peer::start("peer_sleeps_and_then_gets_every_number", files.path(), "reliable");
    silent.wait_until_ready();
    std::thread::park_timeout(SILENCE);

    let newcomers: Vec<_> = (1..MAX_SUBSCRIBERS).map(|_| subscribe::<Numbers>(&options)).collect();
    assert!(matches!(
        Subscriber::<Numbers>::open(name(), &options),
        Err(OpenError::SubscribersFull { subscribers: MAX_SUBSCRIBERS, .. })
    ));
    drop(newcomers);
    drop(subscribe::<Numbers>(&options));
    assert_eq!(publisher.reap_dead_subscribers(), 0);
    assert_eq!(publisher.subscribers().unwrap(), 1);
    for number in 0..CAPACITY as u64 {
        publisher.try_send(numbers(number)).unwrap();
    }
    assert!(publisher.try_send(numbers(u64::MAX)).is_err(), "the silent one holds the topic, as reliable means");
    silent.signal(Signal::CONT);
    silent.finish();
}

/// In the process of P5: publishes until it is killed.
#[test]
#[ignore = "a peer"]
fn peer_publishes_large_messages() {
    let mut publisher = publish::<Large>(&peers::options());
    peers::ready();
    loop {
        let number = publisher.position();
        publisher.try_send(Large { words: [number; 2_601] }).unwrap();
    }
}

/// Whether the topic's file says that a message is being written: on `latest` by an odd stamp, on `reliable` in the
/// lane's own words.
fn holds_half_a_message(directory: &Path, policy: &str) -> bool {
    let shape = Shape::new(size_of::<Large>(), align_of::<Large>(), CAPACITY, 1, MAX_SUBSCRIBERS).unwrap();
    let bytes = std::fs::read(directory.join("faults.topic")).unwrap();
    let word = |offset: usize| u64::from_ne_bytes(bytes[offset..offset + 8].try_into().unwrap());
    let stamp = |slot: usize| word(shape.slots(0) + slot * shape.slot_stride());
    let (position, asking) = (word(shape.position(0)), word(shape.asking(0)));
    match policy {
        "latest" => (0..CAPACITY).any(|slot| stamp(slot) % 2 == 1),
        _ => asking > 0 && asking == position && stamp(position as usize % CAPACITY) != 2 * position + 2,
    }
}

/// **P5.** There: a producer killed between claiming a slot and filling it wedged the topic for ever (2 of 260 kills).
#[test]
fn producer_killed_in_the_middle_of_a_message_wedges_nothing() {
    const HALVES: u32 = 5;
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options_for("latest", files.path());
    let (mut halves, mut kills) = (0, 0);
    let mut subscriber: Option<Subscriber<Large>> = None;
    while halves < HALVES {
        let mut producer = Peer::start("peer_publishes_large_messages", files.path(), "latest");
        producer.wait_until_ready();
        let subscriber = subscriber.get_or_insert_with(|| subscribe(&options));
        subscriber.recv_timeout(PATIENCE).expect("the new producer's messages arrive");
        // Not while it still wakes the subscriber: that is a system call, and no half of a message.
        std::thread::park_timeout(some_time(kills));
        producer.kill();
        kills += 1;
        assert!(kills < 500, "{halves} of {kills} kills came in the middle of a message: too few to test anything");
        halves += u32::from(holds_half_a_message(files.path(), "latest"));
        while let Some(received) = subscriber.try_recv() {
            assert_eq!(received.message, Large { words: [received.sequence; 2_601] });
        }
        // The name is free at once, the next message gets through, and the subscriber need not do anything for it.
        let mut successor = publish::<Large>(&options);
        let number = successor.position();
        successor.try_send(Large { words: [number; 2_601] }).unwrap();
        let received = subscriber.try_recv().expect("the successor's message");
        assert_eq!((received.sequence, received.message), (number, Large { words: [number; 2_601] }));
    }
    drop(subscriber);
    await_no_file(files.path());
}

/// In the process of P5: sends one message and fills half of the next one in its place.
#[test]
#[ignore = "a peer"]
fn peer_fills_half_a_loan() {
    let mut publisher = publish::<Large>(&peers::options());
    publisher.try_send(Large { words: [0; 2_601] }).unwrap();
    let mut loan = publisher.loan().unwrap();
    loan.words[..1_300].fill(1);
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

/// **P5**, where the moment need not be met by chance.
#[test]
fn producer_killed_while_it_fills_a_message_in_place_wedges_nothing() {
    for policy in ["reliable", "latest"] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = options_for(policy, files.path()).history(1);
        let mut producer = Peer::start("peer_fills_half_a_loan", files.path(), policy);
        producer.wait_until_ready();
        let mut subscriber = subscribe::<Large>(&options);
        assert_eq!(subscriber.try_recv().unwrap().message, Large { words: [0; 2_601] });
        producer.kill();
        assert!(holds_half_a_message(files.path(), policy), "nothing was tested");
        assert_eq!(subscriber.try_recv(), None);
        let mut successor = publish::<Large>(&options);
        successor.try_send(Large { words: [2; 2_601] }).unwrap();
        let received = subscriber.try_recv().expect("the successor's message");
        assert_eq!((received.sequence, received.message), (1, Large { words: [2; 2_601] }));
    }
}

/// **P6.** There: a value larger than its slot was written past the end of the mapping (SIGSEGV, from safe code).
#[test]
fn value_has_the_slot_that_its_type_asks_for_or_the_topic_is_refused() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(CAPACITY).directory(files.path());
    let mut publisher = publish::<Large>(&options);
    let mut subscriber = subscribe::<Large>(&options);
    for round in 0..3 {
        // All slots are filled before any is read: a neighbour that was written over shows.
        for slot in 0..CAPACITY as u64 {
            publisher.try_send(Large { words: [100 * round + slot; 2_601] }).unwrap();
        }
        assert!(publisher.try_send(Large { words: [u64::MAX; 2_601] }).is_err());
        for slot in 0..CAPACITY as u64 {
            assert_eq!(subscriber.try_recv().unwrap().message, Large { words: [100 * round + slot; 2_601] });
        }
    }

    type Absurd = [u64; MAX_PAYLOAD_BYTES / 8 + 1];
    horus::message! {
        /// More than a slot can hold.
        struct TooLarge = "test/TooLarge" { words: Absurd }
    }
    let refused = Publisher::<TooLarge>::open("absurd", &options).err().unwrap();
    assert!(
        matches!(refused, OpenError::Shape(ShapeError::PayloadBytes(bytes)) if bytes == size_of::<TooLarge>()),
        "{refused}"
    );
    drop((publisher, subscriber));
    await_no_file(files.path());
}

/// Compiles only while no type that is named below is a message: for one that is, `some` would be ambiguous. The way of
/// the crate static_assertions (`assert_not_impl_any!`).
trait NoMessage<Ambiguity> {
    fn some() {}
}
impl<T: ?Sized> NoMessage<()> for T {}
impl<T: Message> NoMessage<u8> for T {}

/// **P7.** There: a type was its short name and its size, so that a `u8` of 2 was received as a `bool`.
#[test]
fn types_are_not_confused() {
    mod theirs {
        horus::message! {
            /// The same size under the same short name in another package.
            pub struct Numbers = "other/Numbers" { words: [u64; 32] }
        }
    }
    mod newer {
        horus::message! {
            /// The same name and the same size, but the numbers are signed.
            pub struct Numbers = "test/Numbers" { words: [i64; 32] }
        }
    }
    fn reason<M: Message>(options: &Options) -> [String; 2] {
        let rejected = |result: Result<(), OpenError>| match result {
            Err(OpenError::Rejected(Rejected { reason, .. })) => reason.to_string(),
            other => panic!("{other:?}"),
        };
        [
            rejected(Subscriber::<M>::open(name(), options).map(drop)),
            rejected(Publisher::<M>::open(name(), options).map(drop)),
        ]
    }
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(CAPACITY).directory(files.path());
    let mut publisher = publish::<Numbers>(&options);
    let mut subscriber = Complete::new(&options);
    for text in reason::<theirs::Numbers>(&options) {
        assert!(text.contains("test/Numbers") && text.contains("other/Numbers"), "{text}");
    }
    for text in reason::<newer::Numbers>(&options) {
        let hashes = [Numbers::LAYOUT_HASH, newer::Numbers::LAYOUT_HASH].map(|hash| format!("{hash:016x}"));
        assert!(hashes.iter().all(|hash| text.contains(hash)), "{text}");
    }
    publisher.try_send(numbers(0)).unwrap();
    subscriber.take_until(1);

    // Types with bit patterns that are no value, or with pointers, are no messages.
    <bool as NoMessage<_>>::some();
    <char as NoMessage<_>>::some();
    <Option<bool> as NoMessage<_>>::some();
    <std::num::NonZeroU8 as NoMessage<_>>::some();
    <fn() as NoMessage<_>>::some();
    <&'static str as NoMessage<_>>::some();
    <String as NoMessage<_>>::some();
    <Vec<u8> as NoMessage<_>>::some();
    <Box<u8> as NoMessage<_>>::some();
}

/// **P10.** There: reading the latest value had no seqlock: 8,113 torn and 6,713 backward reads in 3 s.
#[test]
fn latest_value_is_never_torn_and_never_goes_back() {
    const ENOUGH: u64 = 20_000;
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(2).directory(files.path());
    let mut publisher = publish::<Numbers>(&options);
    let mut subscriber = subscribe::<Numbers>(&options);
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let publishing = std::thread::spawn(move || {
        while is_done.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
            publisher.try_send(numbers(publisher.position())).unwrap();
        }
    });
    let (mut taken, mut next) = (0, subscriber.position());
    let start = next;
    // Until both happened often: reads beside the writer, and reads that it overtook.
    while taken < ENOUGH || subscriber.missed() < ENOUGH {
        let received = subscriber.recv_timeout(PATIENCE).expect("the publisher goes on");
        assert!(received.sequence >= next, "{} after {next}", received.sequence);
        assert_eq!(received.message, numbers(received.sequence), "a torn message");
        (taken, next) = (taken + 1, received.sequence + 1);
        assert_eq!(taken + subscriber.missed(), next - start, "each is taken or counted");
        // A reader as fast as the writer is overtaken only while it looks away.
        if subscriber.missed() < taken {
            std::thread::park_timeout(Duration::from_micros(100));
        }
    }
    drop(done);
    publishing.join().unwrap();
}

/// **P11.** There: a topic with one publisher and two subscribers took 512 MiB of memory, and a send up to 1.63 s.
#[test]
fn topic_takes_the_memory_that_its_formula_says_however_many_subscribe() {
    use std::os::unix::fs::MetadataExt;
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let options = match policy {
            DeliveryPolicy::Reliable => Options::reliable(64),
            DeliveryPolicy::Latest => Options::latest(64),
        };
        let options = options.directory(files.path());
        let _publisher = publish::<Numbers>(&options);
        let file = || std::fs::metadata(files.path().join("faults.topic")).unwrap();
        let before = file();
        let _subscribers: Vec<_> = (0..MAX_SUBSCRIBERS).map(|_| subscribe::<Numbers>(&options)).collect();
        let after = file();
        assert_eq!((before.len(), before.blocks()), (after.len(), after.blocks()), "subscribers take no memory");

        // Header, membership, bell and identities; then owner, position, cursors and slots of the publisher's lane and the monitor's.
        let slot = (16 + size_of::<Numbers>()).next_multiple_of(LINE);
        let lane = |messages: usize| 2 * LINE_PAIR + MAX_SUBSCRIBERS * LINE_PAIR + messages * slot;
        let formula = HEADER_BYTES + 2 * LINE_PAIR + MAX_SUBSCRIBERS * LINE_PAIR + lane(64) + lane(2);
        assert_eq!(after.len(), formula as u64);
        assert!(after.blocks() * 512 < after.len() + 64 * 1024, "no more is allocated than whole pages need");
    }
}
