//! SIGKILL of publishers and subscribers, at chosen and at arbitrary moments: survivors go on, messages are whole, names
//! can be used again at once, and no file is left.

mod peers;

use std::path::Path;
use std::time::{Duration, Instant};

use horus::topic::{Directory, Publisher, Received, Subscriber, TopicName};
use horus_shm::peers::clean::clean;
use horus_shm::segment::layout::{MAX_SUBSCRIBERS, Shape};

use peers::{CAPACITY, PATIENCE, Peer, await_no_file, files_in, options_for, some_time};

horus::message! {
    /// Large enough that a publisher which does nothing else is nearly always in the middle of one.
    pub struct Block = "test/Block" {
        /// Every word is the number of the message.
        words: [u64; 4096],
    }
}

fn block(number: u64) -> Block {
    Block { words: [number; 4096] }
}

fn check(received: &Received<Block>) -> u64 {
    let Received { message, sequence, .. } = received;
    assert!(message.words.iter().all(|word| word == sequence), "a torn message, number {sequence}");
    *sequence
}

fn name() -> TopicName {
    "blocks".parse().unwrap()
}

fn publish(policy: &str, directory: &Path) -> Publisher<Block> {
    Publisher::open(name(), options_for(policy, directory)).unwrap()
}

fn subscribe(policy: &str, directory: &Path) -> Subscriber<Block> {
    Subscriber::open(name(), options_for(policy, directory)).unwrap()
}

/// Whether a slot of the topic's file says that its message is being written.
fn holds_half_a_message(directory: &Path) -> bool {
    let shape = Shape::new(size_of::<Block>(), align_of::<Block>(), CAPACITY, 1, MAX_SUBSCRIBERS).unwrap();
    let bytes = std::fs::read(directory.join("blocks.topic")).unwrap();
    (0..CAPACITY).any(|slot| bytes[shape.slots(0) + slot * shape.slot_stride()] % 2 == 1)
}

#[test]
#[ignore = "a peer"]
fn peer_publishes() {
    let mut publisher = Publisher::<Block>::open(name(), peers::options()).unwrap();
    peers::ready();
    loop {
        publisher.send_timeout(block(publisher.position()), PATIENCE).unwrap();
    }
}

#[test]
#[ignore = "a peer"]
fn peer_subscribes() {
    let mut subscriber = Subscriber::<Block>::open(name(), peers::options()).unwrap();
    peers::ready();
    loop {
        check(&subscriber.recv_timeout(PATIENCE).unwrap());
    }
}

#[test]
#[ignore = "a peer"]
fn peer_subscribes_and_never_reads() {
    let _subscriber = Subscriber::<Block>::open(name(), peers::options()).unwrap();
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

#[test]
#[ignore = "a peer"]
fn peer_comes_and_goes_as_publisher() {
    peers::ready();
    loop {
        let mut publisher = Publisher::<Block>::open(name(), peers::options()).unwrap();
        let _full = publisher.try_send(block(publisher.position()));
    }
}

#[test]
#[ignore = "a peer"]
fn peer_comes_and_goes_as_subscriber() {
    peers::ready();
    loop {
        let mut subscriber = Subscriber::<Block>::open(name(), peers::options()).unwrap();
        subscriber.try_recv().as_ref().map(check);
    }
}

/// A subscriber that keeps account of what it receives.
struct Survivor {
    subscriber: Subscriber<Block>,
    start: u64,
    next: u64,
    taken: u64,
}

impl Survivor {
    fn new(policy: &str, directory: &Path) -> Self {
        let subscriber = subscribe(policy, directory);
        let start = subscriber.position();
        Self { subscriber, start, next: start, taken: 0 }
    }

    /// Receives one message and checks it; false when none came within `wait`.
    fn receive(&mut self, wait: Duration) -> bool {
        let Some(received) = self.subscriber.recv_timeout(wait) else { return false };
        let sequence = check(&received);
        assert!(sequence >= self.next, "number {sequence} came twice or late");
        (self.next, self.taken) = (sequence + 1, self.taken + 1);
        assert_eq!(self.taken + self.subscriber.missed(), self.next - self.start, "each is taken or counted");
        true
    }

    fn receive_for(&mut self, time: Duration) {
        let started = Instant::now();
        while started.elapsed() < time {
            self.receive(time);
        }
    }
}

/// One subscriber outlives a row of publishers; whatever it receives is whole, in order and accounted for.
fn outlive_publishers(policy: &str) {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut survivor: Option<Survivor> = None;
    // The publisher of a reliable topic spends most of its time waiting for us.
    let expected = policy == "latest";
    let (mut turn, mut halves) = (0, 0);
    // Which moment a kill meets is chance; where everything takes longer, as under a sanitizer, it needs more of them.
    while turn < 30 || (expected && halves == 0 && turn < 300) {
        turn += 1;
        let mut peer = Peer::start("peer_publishes", files.path(), policy);
        peer.wait_until_ready();
        let survivor = survivor.get_or_insert_with(|| Survivor::new(policy, files.path()));
        assert!(survivor.receive(PATIENCE), "the new publisher's messages arrive");
        survivor.receive_for(some_time(turn));
        peer.kill();
        halves += u32::from(holds_half_a_message(files.path()));
        while survivor.receive(Duration::ZERO) {}
        assert!(policy == "latest" || survivor.subscriber.missed() == 0);
    }
    assert!(halves > 0 || !expected, "no publisher was killed in the middle of a message: nothing was tested");
    drop(survivor);
    await_no_file(files.path());
}

#[test]
fn subscriber_of_a_reliable_topic_outlives_its_publishers_and_loses_nothing() {
    outlive_publishers("reliable");
}

#[test]
fn subscriber_of_a_latest_topic_outlives_its_publishers_and_counts_what_it_missed() {
    outlive_publishers("latest");
}

#[test]
fn publisher_outlives_subscribers_that_are_killed_while_they_read() {
    for policy in ["reliable", "latest"] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut publisher = publish(policy, files.path());
        for turn in 0..15 {
            let mut peer = Peer::start("peer_subscribes", files.path(), policy);
            peer.wait_until_ready();
            let started = Instant::now();
            while started.elapsed() < some_time(turn) {
                publisher.send_timeout(block(publisher.position()), PATIENCE).unwrap();
            }
            peer.kill();
            for _ in 0..=2 * CAPACITY {
                publisher.send_timeout(block(publisher.position()), PATIENCE).unwrap();
            }
            assert_eq!(publisher.subscribers().unwrap(), 0);
        }
        drop(publisher);
        await_no_file(files.path());
    }
}

#[test]
fn dead_subscriber_holds_a_reliable_topic_until_it_is_reaped_and_a_living_one_goes_on_holding_it() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut publisher = publish("reliable", files.path());
    let mut peer = Peer::start("peer_subscribes_and_never_reads", files.path(), "reliable");
    peer.wait_until_ready();
    while publisher.try_send(block(publisher.position())).is_ok() {}
    assert_eq!(publisher.position(), CAPACITY as u64);
    assert_eq!(publisher.reap_dead_subscribers(), 0, "it lives");
    assert!(publisher.try_send(block(0)).is_err());
    peer.kill();
    assert!(publisher.try_send(block(0)).is_err(), "try_send makes no system calls, so it cannot know");
    assert_eq!(publisher.reap_dead_subscribers(), 1);
    assert!(publisher.try_send(block(CAPACITY as u64)).is_ok());
}

#[test]
fn waiting_publisher_notices_the_death_of_the_subscriber_it_waits_for() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut publisher = publish("reliable", files.path());
    let mut peer = Peer::start("peer_subscribes_and_never_reads", files.path(), "reliable");
    peer.wait_until_ready();
    while publisher.try_send(block(publisher.position())).is_ok() {}
    let waiting = std::thread::spawn(move || publisher.send_timeout(block(CAPACITY as u64), PATIENCE).is_ok());
    peer.kill();
    assert!(waiting.join().unwrap());
}

#[test]
fn peers_killed_while_they_come_and_go_never_block_the_others() {
    for (role, turns) in [("peer_comes_and_goes_as_publisher", 0..30), ("peer_comes_and_goes_as_subscriber", 30..60)] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        for turn in turns {
            // With and without a peer that keeps the segment alive.
            let publisher = (turn >= 30).then(|| publish("reliable", files.path()));
            let mut peer = Peer::start(role, files.path(), "reliable");
            peer.wait_until_ready();
            let subscriber = (turn % 2 == 0).then(|| Survivor::new("reliable", files.path()));
            std::thread::park_timeout(some_time(turn));
            peer.kill();
            let mut publisher = publisher.unwrap_or_else(|| publish("reliable", files.path()));
            let mut subscriber = subscriber.unwrap_or_else(|| Survivor::new("reliable", files.path()));
            while subscriber.receive(Duration::ZERO) {}
            publisher.send_timeout(block(publisher.position()), PATIENCE).unwrap();
            assert!(subscriber.receive(PATIENCE));
            drop((publisher, subscriber));
            await_no_file(files.path());
        }
    }
}

#[test]
fn topic_of_the_dead_is_cleaned_away_and_its_name_is_free_at_once() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    for cleaning in [true, false] {
        let mut publisher = Peer::start("peer_publishes", files.path(), "reliable");
        publisher.wait_until_ready();
        let mut subscriber = Peer::start("peer_subscribes", files.path(), "reliable");
        subscriber.wait_until_ready();
        let in_use = clean(&Directory::at(files.path()).unwrap()).unwrap();
        assert_eq!((in_use.removed.len(), in_use.kept.len()), (0, 1));
        publisher.kill();
        subscriber.kill();
        assert_eq!(files_in(files.path()), 1, "no peer was left to remove it");
        if cleaning {
            assert_eq!(clean(&Directory::at(files.path()).unwrap()).unwrap().removed.len(), 1);
            assert_eq!(files_in(files.path()), 0);
        } else {
            // Another policy: the dead have no say in what the topic is now.
            let mut successor = publish("latest", files.path());
            assert_eq!(successor.position(), 0);
            successor.try_send(block(0)).unwrap();
            drop(successor);
            await_no_file(files.path());
        }
    }
}
