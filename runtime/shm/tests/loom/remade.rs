//! A topic that is remade while its members look: the steps of `segment::generation`, which are those of the file, on words of loom.
//!
//! What stands for what: a mutex for the file's door, which the kernel's locks make; two words for the header, which must be of one
//! generation; one lane for the lanes of all generations, which lie in the same bytes. What is not here is the mapping, and that a
//! generation's lanes have other places than another one's: no peer looks at them before a lane of its own generation is used.

use horus_shm::ring::heap::HeapLane;
use horus_shm::ring::{Consumer, Memory, Producer, join, take_over};
use horus_shm::segment::generation;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::bell::{self, Bell, Ringer};
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::{Message, Tower, lane, model, ring_for, send, tower};

const GENERATIONS: usize = 3;

struct Topic {
    door: Mutex<()>,
    generation: AtomicU64,
    used_lanes: [AtomicU64; GENERATIONS],
    header: [AtomicU64; 2],
    lane: HeapLane,
}

impl Topic {
    fn new(subscribers: usize) -> Arc<Self> {
        Arc::new(Self {
            door: Mutex::new(()),
            generation: AtomicU64::new(0),
            used_lanes: std::array::from_fn(|_| AtomicU64::new(0)),
            header: std::array::from_fn(|_| AtomicU64::new(0)),
            lane: lane(2, subscribers),
        })
    }

    fn used_lanes(&self, generation: u64) -> &AtomicU64 {
        &self.used_lanes[generation as usize / 2]
    }

    fn write_header(&self, generation: u64, words: usize) {
        self.header[..words].iter().for_each(|word| word.store(generation, Relaxed));
    }

    /// As `Segment::clear_lanes`.
    fn clear_lanes(&self, generation: u64) {
        self.lane.position().store(0, Relaxed);
        (0..self.lane.subscribers()).for_each(|subscriber| self.lane.cursor(subscriber).store(0, Relaxed));
        (0..self.lane.capacity()).for_each(|slot| self.lane.slot(slot).iter().for_each(|word| word.store(0, Relaxed)));
        self.used_lanes(generation).store(0, Relaxed);
    }

    /// Remakes the topic, by who has the door; who is killed in it has written half of the header.
    fn remake(&self, is_killed: bool) {
        let before = self.generation.load(Relaxed);
        let next = generation::next(before);
        let write = || {
            self.write_header(next, if is_killed { 1 } else { 2 });
            if is_killed { Err(()) } else { Ok(()) }
        };
        let remade = generation::remake(&self.generation, before, write, || self.clear_lanes(next));
        assert_eq!(remade.is_err(), is_killed);
    }

    /// Joins as the first publisher, which needs more than there is, and sends; how many were taken.
    fn publish(&self, policy: DeliveryPolicy, messages: u64) -> u64 {
        self.publish_and_ring(policy, messages, &tower())
    }

    /// The same, with a bell that is rung as `ends::remake` and each message ring it.
    fn publish_and_ring(&self, policy: DeliveryPolicy, messages: u64, tower: &Tower) -> u64 {
        let door = self.door.lock().unwrap();
        self.remake(false);
        bell::ring(tower);
        self.used_lanes(self.generation.load(Relaxed)).fetch_or(1, Relaxed);
        let mut writer = Producer::resume(self.lane.clone(), policy, false).unwrap();
        let mut ringer = Ringer::new(tower);
        drop(door);
        (0..messages).for_each(|_| {
            let next = writer.position();
            let _full = send(&mut writer, next);
            ring_for(&mut ringer, tower);
        });
        writer.position()
    }
}

/// As a subscription: it knows a generation, and follows where no lane of that was used.
struct Member {
    topic: Arc<Topic>,
    known: u64,
    subscriber: usize,
    policy: DeliveryPolicy,
    reader: Consumer<HeapLane>,
    taken: Vec<u64>,
}

impl Member {
    /// Joins by the door; the topic may be unpublished, or published.
    fn join(topic: &Arc<Topic>, subscriber: usize, policy: DeliveryPolicy) -> Self {
        let _door = topic.door.lock().unwrap();
        let known = topic.generation.load(Relaxed);
        let reader = join(vec![topic.lane.clone()], subscriber, policy, 0).unwrap().into_vec().remove(0);
        Self { topic: topic.clone(), known, subscriber, policy, reader, taken: Vec::new() }
    }

    /// As `Subscription::follow`.
    fn follow(&mut self) {
        let topic = &self.topic;
        let Some(generation) = generation::to_follow(&topic.generation, self.known) else { return };
        let load = |word: &AtomicU64| Ok::<_, ()>(word.load(Relaxed));
        let read = || Ok([load(&topic.header[0])?, load(&topic.header[1])?]);
        let (seen, header) = generation::look(|| load(&topic.generation), read).unwrap();
        if seen != generation {
            return;
        }
        assert_eq!(header, [generation; 2], "half a header was believed");
        if generation::now(&topic.generation) != generation {
            return;
        }
        self.reader = take_over(vec![topic.lane.clone()], self.subscriber, self.policy).into_vec().remove(0);
        self.known = generation;
    }

    /// Receiving calls.
    fn receive(&mut self, calls: usize) {
        for _ in 0..calls {
            if self.topic.used_lanes(self.known).load(Relaxed) == 0 {
                self.follow();
            }
            if self.topic.used_lanes(self.known).load(Relaxed) != 0 {
                if let Some(received) = self.reader.try_recv::<Message>() {
                    assert_eq!(received.message, super::message(received.sequence), "half a message");
                    self.taken.push(received.sequence);
                }
            }
            thread::yield_now();
        }
    }

    /// When all was sent: each message since `from` was taken once and in order, or is counted.
    fn settle(mut self, from: u64, sent: u64) {
        self.receive(4);
        assert!(self.taken.is_sorted_by(|one, next| one < next) && self.taken.iter().all(|&number| number >= from));
        assert_eq!(self.taken.len() as u64 + self.reader.missed(), sent - from, "{:?} of {from}..{sent}", self.taken);
        assert!(self.policy == DeliveryPolicy::Latest || self.reader.missed() == 0);
        assert!(sent == from || self.taken.last() == Some(&(sent - 1)));
    }
}

#[test]
fn member_of_a_topic_that_is_remade_loses_nothing_from_the_first_message_on() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        model(3, move || {
            let topic = Topic::new(1);
            let mut member = Member::join(&topic, 0, policy);
            let publishes = topic.clone();
            let publisher = thread::spawn(move || publishes.publish(policy, 3));
            member.receive(2);
            member.settle(0, publisher.join().unwrap());
        });
    }
}

#[test]
fn header_that_is_being_written_is_never_believed() {
    for is_killed in [false, true] {
        model(3, move || {
            let topic = Topic::new(1);
            let mut member = Member::join(&topic, 0, DeliveryPolicy::Reliable);
            let remakes = topic.clone();
            let publisher = thread::spawn(move || {
                // A subscriber that needs more, and perhaps is killed in it; then the publisher.
                let door = remakes.door.lock().unwrap();
                remakes.remake(is_killed);
                drop(door);
                remakes.publish(DeliveryPolicy::Reliable, 2)
            });
            member.receive(2);
            member.settle(0, publisher.join().unwrap());
        });
    }
}

#[test]
fn who_joins_beside_a_remake_loses_nothing_from_where_it_joined_on() {
    model(2, || {
        let topic = Topic::new(2);
        let mut first = Member::join(&topic, 0, DeliveryPolicy::Reliable);
        let publishes = topic.clone();
        let publisher = thread::spawn(move || publishes.publish(DeliveryPolicy::Reliable, 2));
        let joins = topic.clone();
        let joiner = thread::spawn(move || {
            let second = Member::join(&joins, 1, DeliveryPolicy::Reliable);
            let from = second.reader.position();
            (second, from)
        });
        first.receive(1);
        let sent = publisher.join().unwrap();
        let (second, from) = joiner.join().unwrap();
        second.settle(from, sent);
        first.settle(0, sent);
    });
}

#[test]
fn first_message_of_a_remade_topic_is_never_slept_through() {
    model(3, || {
        let topic = Topic::new(1);
        let tower = tower();
        let mut member = Member::join(&topic, 0, DeliveryPolicy::Reliable);
        let (publishes, heard) = (topic.clone(), tower.clone());
        let publisher = thread::spawn(move || publishes.publish_and_ring(DeliveryPolicy::Reliable, 1, &heard));
        let mut asleep = None;
        // The ring for the remaking may get it up once, before there is a message.
        for _ in 0..2 {
            let lain_down = bell::lie_down(&tower, 0);
            member.receive(1);
            let sleeps = |rings: &u32| member.taken.is_empty() && tower.rings().load(Relaxed) == *rings;
            asleep = lain_down.filter(sleeps);
            if asleep.is_some() || !member.taken.is_empty() {
                break;
            }
            bell::get_up(&tower, 0);
        }
        let sent = publisher.join().unwrap();
        assert!(asleep.is_none_or(|rings| tower.rings().load(Relaxed) != rings), "asleep, and no publisher will ring");
        member.settle(0, sent);
    });
}
