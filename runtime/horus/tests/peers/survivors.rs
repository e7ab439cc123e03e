//! Those who stay alive while others are killed: they send and receive once a period, check every message, and measure
//! for how long a step held them up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use horus::topic::{Options, Publisher, Subscriber, TopicName, WaitStrategy};
use rustix::time::{ClockId, clock_gettime};

/// Messages in every lane of these topics.
pub const CAPACITY: usize = 8;
/// Publishers that these topics have room for: one that stays and one that is killed.
pub const LANES: usize = 2;
/// Messages that are sent in a period: half of what a lane holds, so that a subscriber may be a period late.
const BURST: usize = CAPACITY / 2;

horus::message! {
    /// A page in which every word follows from the number, so that a torn copy shows; large enough to be held in place on
    /// a `latest` topic.
    pub struct Block = "test/Block" {
        /// Who sent it: a number greater than that of any message.
        author: u64,
        /// The number that its publisher expects it to get.
        number: u64,
        /// Noise made from author and number.
        filler: [u64; 509],
        /// Sum of all words before.
        checksum: u64,
    }
}

/// The message of this author with this number.
pub fn block(author: u64, number: u64) -> Block {
    let first = author ^ number << 9;
    let filler = std::array::from_fn(|i| (first ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Block { author, number, filler, checksum: filler.iter().fold(first, |sum, word| sum.wrapping_add(*word)) }
}

/// Who stays alive.
pub const SURVIVOR: u64 = 1 << 60;

/// Options of the kill matrix for the policy of this name.
pub fn options_for(policy: &str, directory: &std::path::Path) -> Options {
    match policy {
        "reliable" => Options::reliable(CAPACITY),
        "latest" => Options::latest(CAPACITY),
        other => panic!("no policy {other}"),
    }
    .publishers(LANES)
    .directory(directory)
}

/// What a subscriber has received so far.
#[derive(Default)]
pub struct Ledger {
    /// By lane: the number that comes next, once one came.
    next: [Option<u64>; LANES],
    /// By lane: who sent the last message.
    pub authors: [u64; LANES],
    skipped: u64,
    /// Messages received.
    pub taken: u64,
}

impl Ledger {
    /// Receives all messages that are there, at most as many as a full topic holds, by copy and in place in turn: each
    /// must be whole and later than the one before, and on a reliable topic the very next one.
    pub fn receive(&mut self, subscriber: &mut Subscriber<Block>, reliable: bool) {
        for turn in 0..CAPACITY * LANES {
            let found = match turn % 2 {
                0 => subscriber.try_recv().map(|it| (whole(&it.message, it.sequence, reliable), it.publisher)),
                _ => subscriber.borrow().map(|it| (whole(&it, it.sequence(), reliable), it.publisher())),
            };
            let Some((message, lane)) = found else { break };
            self.enter(message, lane, subscriber.missed(), reliable);
        }
    }

    /// Waits for a message, and checks it as above.
    pub fn wait_and_receive(&mut self, subscriber: &mut Subscriber<Block>, limit: Duration, reliable: bool) {
        if let Some(it) = subscriber.recv_timeout(limit) {
            self.enter(whole(&it.message, it.sequence, reliable), it.publisher, subscriber.missed(), reliable);
        }
    }

    fn enter(&mut self, (author, sequence): (u64, u64), lane: usize, missed: u64, reliable: bool) {
        self.authors[lane] = author;
        let next = self.next[lane].replace(sequence + 1).unwrap_or(sequence);
        assert!(sequence >= next, "lane {lane}: number {sequence} came twice or late, {next} was due");
        self.skipped += sequence - next;
        self.taken += 1;
        assert!(self.skipped <= missed, "{} numbers were skipped and {missed} counted", self.skipped);
        assert!(!reliable || missed == 0, "a reliable topic lost {missed} messages");
    }
}

/// Checks that a message is whole and goes by its own number; returns its author and the number. Its publisher expected the next
/// number; on a `latest` topic it gets a later one where it passed over slots that subscribers held.
fn whole(message: &Block, sequence: u64, reliable: bool) -> (u64, u64) {
    assert!(*message == block(message.author, message.number), "a torn message, number {sequence}");
    let passed_over = sequence.checked_sub(message.number);
    let most = if reliable { 0 } else { CAPACITY as u64 - 1 };
    assert!(passed_over.is_some_and(|numbers| numbers <= most), "{sequence} is the number of another message");
    (message.author, sequence)
}

/// The longest that something took, on the clock and of this thread's CPU time: what else runs on the machine lengthens
/// the first, not the second.
#[derive(Clone, Copy, Default)]
pub struct Longest {
    /// By the clock.
    pub time: Duration,
    /// Of the CPU.
    pub cpu: Duration,
}

impl Longest {
    /// Does `work` and keeps the longer time.
    pub fn measure<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let (started, cpu) = (Instant::now(), thread_time());
        let result = work();
        *self = self.max(Self { time: started.elapsed(), cpu: thread_time() - cpu });
        result
    }

    /// The longer of each.
    pub fn max(self, other: Self) -> Self {
        Self { time: self.time.max(other.time), cpu: self.cpu.max(other.cpu) }
    }
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// A publisher and a subscriber on a thread, and a subscriber that sleeps on another.
pub struct Survivors {
    publisher: Publisher<Block>,
    subscriber: Subscriber<Block>,
    reliable: bool,
    sleeper: JoinHandle<(Ledger, Longest)>,
    is_over: Arc<AtomicBool>,
    /// What the subscriber received.
    pub ledger: Ledger,
    longest: Longest,
}

/// How long the sleeper sleeps at most.
const SLEEP: Duration = Duration::from_millis(10);

impl Survivors {
    /// Opens the topic.
    pub fn new(name: &TopicName, options: &Options, reliable: bool) -> Self {
        let publisher = Publisher::open(name, options).unwrap();
        let subscriber = Subscriber::open(name, options).unwrap();
        let mut sleeping = Subscriber::open(name, &options.clone().wait_strategy(WaitStrategy::Sleep)).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let sleeper = std::thread::spawn(move || {
            let (mut ledger, mut longest) = (Ledger::default(), Longest::default());
            while !until.load(Ordering::Relaxed) {
                longest.measure(|| ledger.wait_and_receive(&mut sleeping, SLEEP, reliable));
            }
            longest.time = longest.time.saturating_sub(SLEEP);
            (ledger, longest)
        });
        Self {
            publisher,
            subscriber,
            reliable,
            sleeper,
            is_over,
            ledger: Ledger::default(),
            longest: Longest::default(),
        }
    }

    /// What a node does in a period: sends some messages, takes the dead off when a message is refused, and takes what is
    /// there. True if nothing was refused in the end.
    pub fn step(&mut self) -> bool {
        let Self { publisher, subscriber, reliable, ledger, longest, .. } = self;
        longest.measure(|| {
            let mut refused = false;
            for _ in 0..BURST {
                let message = block(SURVIVOR, publisher.position());
                if publisher.try_send(message).is_err() {
                    publisher.reap_dead_subscribers();
                    refused |= publisher.try_send(message).is_err();
                }
            }
            ledger.receive(subscriber, *reliable);
            !refused
        })
    }

    /// Leaves the topic. How many messages were received, and the longest step and the longest that the sleeper overslept.
    pub fn leave(self) -> (u64, Longest) {
        self.is_over.store(true, Ordering::Relaxed);
        let (slept, overslept) = self.sleeper.join().expect("the sleeper found nothing wrong");
        (self.ledger.taken + slept.taken, self.longest.max(overslept))
    }
}
