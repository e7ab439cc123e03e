//! Every interleaving and every permitted memory ordering of small rings, and of two sets of which one holds, by the loom model checker.
//!
//! One program, because all models build their lanes and threads in the same way. Each test is named after the outcome that it forbids. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p horus-shm --release --test loom_ring`.
#![cfg(loom)]

#[path = "loom/remade.rs"]
mod remade;
#[path = "loom/sets.rs"]
mod sets;

use horus_shm::ring::heap::HeapLane;
use horus_shm::ring::observe::observe;
use horus_shm::ring::{Consumer, Full, Memory, Producer, join, recall};
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::bell::{self, Bell, Ringer};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::atomic::{AtomicU32, AtomicU64};
use loom::thread;

/// Two words that must arrive together, each telling the message's number.
type Message = [u64; 2];
type Writer = Producer<HeapLane>;
type Reader = Consumer<HeapLane>;

fn message(sequence: u64) -> Message {
    [sequence + 100, sequence + 100]
}

fn lane(capacity: usize, subscribers: usize) -> HeapLane {
    HeapLane::new::<Message>(capacity, subscribers).unwrap()
}

fn writer(lane: &HeapLane, policy: DeliveryPolicy) -> Writer {
    Producer::resume(lane.clone(), policy, false).unwrap()
}

fn reader(lane: &HeapLane, subscriber: usize, policy: DeliveryPolicy) -> Reader {
    reader_with_history(lane, subscriber, policy, 0)
}

fn reader_with_history(lane: &HeapLane, subscriber: usize, policy: DeliveryPolicy, history: u64) -> Reader {
    join(vec![lane.clone()], subscriber, policy, history).unwrap().into_vec().remove(0)
}

/// Explores all schedules with at most `preemptions` switches away from a thread that could have gone on. Known bugs of
/// rings need two; every added one multiplies the time by about ten.
fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

/// Takes what is there, at most `attempts` looks; checks each message's contents against its number.
fn take<M: Memory>(reader: &mut Consumer<M>, attempts: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..attempts {
        if let Some(received) = reader.try_recv::<Message>() {
            assert_eq!(received.message, message(received.sequence), "half a message");
            assert_eq!(received.sent_ns, received.sequence + 7, "the time of another message");
            taken.push(received.sequence);
        }
        thread::yield_now();
    }
    taken
}

fn send(writer: &mut Writer, sequence: u64) -> Result<u64, Full<Message>> {
    writer.try_send(message(sequence), sequence + 7)
}

fn overwrite_while_reading(capacity: usize, messages: u64, preemptions: usize) {
    model(preemptions, move || {
        let lane = lane(capacity, 1);
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        let mut writer = writer(&lane, DeliveryPolicy::Latest);
        let sender = thread::spawn(move || (0..messages).for_each(|i| assert_eq!(send(&mut writer, i), Ok(i))));
        let mut taken = take(&mut reader, 2);
        sender.join().unwrap();
        taken.extend(take(&mut reader, capacity + 1));
        // Whatever was not taken is counted, and the last message is never among it: nothing overwrote that one.
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        assert_eq!(taken.last(), Some(&(messages - 1)));
        assert_eq!(taken.len() as u64 + reader.missed(), messages);
    });
}

#[test]
fn reader_never_sees_half_a_message() {
    overwrite_while_reading(1, 2, 3);
}

#[test]
fn missed_counts_exactly() {
    overwrite_while_reading(2, 3, 3);
    overwrite_while_reading(2, 4, 2);
}

/// The only reader is one that the writer does not know of, so the writer goes on and on.
fn overwrite_while_observing(policy: DeliveryPolicy, capacity: usize, messages: u64, preemptions: usize) {
    model(preemptions, move || {
        let lane = lane(capacity, 1);
        let mut reader = observe(vec![lane.clone()], policy, 0).unwrap().into_vec().remove(0);
        let mut writer = writer(&lane, policy);
        let sender = thread::spawn(move || (0..messages).for_each(|i| assert_eq!(send(&mut writer, i), Ok(i))));
        let mut taken = take(&mut reader, 2);
        sender.join().unwrap();
        taken.extend(take(&mut reader, capacity + 1));
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        assert_eq!(taken.last(), Some(&(messages - 1)));
        assert_eq!(taken.len() as u64 + reader.missed(), messages);
        assert_eq!((lane.members().load(Relaxed), lane.cursor(0).load(Relaxed)), (0, 0), "it left a trace");
    });
}

#[test]
fn observer_never_sees_half_a_message_and_is_never_seen() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        overwrite_while_observing(policy, 1, 2, 3);
        overwrite_while_observing(policy, 2, 3, 2);
    }
}

#[test]
fn message_by_number_is_whole_or_not_there() {
    model(3, || {
        let lane = lane(2, 1);
        let mut writer = writer(&lane, DeliveryPolicy::Latest);
        assert_eq!(send(&mut writer, 0), Ok(0));
        let sender = thread::spawn(move || (1..4).for_each(|i| assert_eq!(send(&mut writer, i), Ok(i))));
        for number in [0, 1, 2] {
            let mut words = [0; 2];
            let sent = recall(&lane, number, |slot| words = [2, 3].map(|word| slot[word].load(Relaxed)));
            assert!(
                sent.is_none_or(|sent| sent == number + 7 && words == message(number)),
                "{number}: {sent:?} {words:?}"
            );
        }
        sender.join().unwrap();
        let there = [1, 2, 3, 4].map(|number| recall(&lane, number, |_| ()).is_some());
        assert_eq!(there, [false, true, true, false]);
    });
}

#[test]
fn full_lane_never_overwrites_unread() {
    model(3, || {
        let lane = lane(2, 1);
        let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        let sender = thread::spawn(move || {
            let mut sent = 0;
            for _ in 0..4 {
                match send(&mut writer, sent) {
                    Ok(sequence) => {
                        assert_eq!(sequence, sent);
                        sent += 1;
                    }
                    Err(Full(returned)) => assert_eq!(returned, message(sent)),
                }
            }
            sent
        });
        let mut taken = take(&mut reader, 2);
        let sent = sender.join().unwrap();
        taken.extend(take(&mut reader, 3));
        assert_eq!(taken, (0..sent).collect::<Vec<_>>());
        assert_eq!(reader.missed(), 0);
    });
}

#[test]
fn slower_reader_is_never_overtaken_by_what_a_faster_one_permits() {
    model(2, || {
        let lane = lane(1, 2);
        let mut fast = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut slow = reader(&lane, 1, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        let sender = thread::spawn(move || {
            (0..3)
                .filter(|_| {
                    let next = writer.position();
                    send(&mut writer, next).is_ok()
                })
                .count() as u64
        });
        let other = thread::spawn(move || (take(&mut fast, 2), fast.missed()));
        let mut taken = take(&mut slow, 1);
        let (fast_taken, fast_missed) = other.join().unwrap();
        let sent = sender.join().unwrap();
        taken.extend(take(&mut slow, 2));
        assert_eq!(taken, (0..sent).collect::<Vec<_>>());
        assert_eq!(fast_taken, (0..fast_taken.len() as u64).collect::<Vec<_>>());
        assert_eq!((slow.missed(), fast_missed), (0, 0));
    });
}

#[test]
fn joining_reader_loses_nothing_from_its_first_message_on() {
    for capacity in [1, 2] {
        model(3, move || join_while_sending(capacity, false));
    }
}

#[test]
fn joining_reader_is_never_harmed_by_the_cursor_of_its_predecessor() {
    for capacity in [1, 2] {
        model(3, move || join_while_sending(capacity, true));
    }
}

fn join_while_sending(capacity: usize, after_another: bool) {
    let lane = lane(capacity, 1);
    let mut writer = writer(&lane, DeliveryPolicy::Reliable);
    if after_another {
        let mut predecessor = reader(&lane, 0, DeliveryPolicy::Reliable);
        send(&mut writer, 0).unwrap();
        take(&mut predecessor, 1);
        predecessor.leave();
        send(&mut writer, 1).unwrap();
    }
    let sender = thread::spawn(move || {
        for _ in 0..4 {
            let next = writer.position();
            let _full = send(&mut writer, next);
        }
        writer.position()
    });
    let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
    let start = reader.position();
    let mut taken = take(&mut reader, 1);
    let sent = sender.join().unwrap();
    taken.extend(take(&mut reader, capacity + 1));
    assert_eq!(taken, (start..sent).collect::<Vec<_>>());
    assert_eq!(reader.missed(), 0);
}

/// What a reader did before it took message `n`. loom reports an access to it that is not ordered after the reader's:
/// that finds missing orderings which the stamps would hide, since loom never executes a load late.
struct Traces([UnsafeCell<()>; 2]);

// SAFETY: loom checks every access, which is what the cells are for.
unsafe impl Sync for Traces {}

#[test]
fn slot_is_never_overwritten_before_its_reader_is_done() {
    model(3, || {
        let traces = Arc::new(Traces(std::array::from_fn(|_| UnsafeCell::new(()))));
        let lane = lane(1, 1);
        let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        let seen = traces.clone();
        let sender = thread::spawn(move || {
            for _ in 0..3 {
                let next = writer.position();
                if send(&mut writer, next).is_ok() && next > 0 {
                    seen.0[next as usize - 1].with(|_| ());
                }
            }
        });
        for _ in 0..2 {
            traces.0[reader.position() as usize].with_mut(|_| ());
            take(&mut reader, 1);
        }
        sender.join().unwrap();
    });
}

#[test]
fn leaving_reader_never_blocks_the_lane_and_is_never_overwritten_before() {
    model(3, || {
        let trace = Arc::new(Traces(std::array::from_fn(|_| UnsafeCell::new(()))));
        let lane = lane(1, 1);
        let reader = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        send(&mut writer, 0).unwrap();
        let left = trace.clone();
        let leaver = thread::spawn(move || {
            left.0[0].with_mut(|_| ());
            reader.leave(); // without having read
        });
        let early = send(&mut writer, 1).is_ok();
        if early {
            trace.0[0].with(|_| ());
        }
        leaver.join().unwrap();
        assert_eq!(send(&mut writer, 1 + u64::from(early)), Ok(1 + u64::from(early)));
    });
}

#[test]
fn replaced_writer_never_repeats_or_skips_a_number() {
    model(3, || {
        let lane = lane(2, 1);
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        let mut first = writer(&lane, DeliveryPolicy::Latest);
        let heir = lane.clone();
        let senders = thread::spawn(move || {
            send(&mut first, 0).unwrap();
            drop(first);
            let mut second = writer(&heir, DeliveryPolicy::Latest);
            assert_eq!(send(&mut second, 1), Ok(1));
        });
        let mut taken = take(&mut reader, 2);
        senders.join().unwrap();
        taken.extend(take(&mut reader, 2));
        assert_eq!(taken, [0, 1]);
    });
}

#[test]
fn local_ring_never_loses_or_reorders() {
    model(3, || {
        let (mut writer, mut reader) = horus_shm::ring::local::ring::<Message>(2).unwrap();
        let sender =
            thread::spawn(move || (0..3).filter(|&i| writer.try_send(message(i)).is_ok()).collect::<Vec<u64>>());
        let mut taken = Vec::new();
        for _ in 0..2 {
            taken.extend(reader.try_recv());
            thread::yield_now();
        }
        let sent = sender.join().unwrap();
        taken.extend(std::iter::from_fn(|| reader.try_recv()));
        assert_eq!(taken, sent.into_iter().map(message).collect::<Vec<_>>());
    });
}

#[test]
fn joining_reader_with_history_loses_nothing_from_where_it_joined_on() {
    model(3, || {
        let lane = lane(2, 1);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        (0..2).for_each(|i| assert_eq!(send(&mut writer, i), Ok(i)));
        let sender = thread::spawn(move || {
            for _ in 0..3 {
                let next = writer.position();
                let _full = send(&mut writer, next);
            }
            writer.position()
        });
        // What is there when it joins is at least 0 and 1; of these the writer may overwrite some.
        let mut reader = reader_with_history(&lane, 0, DeliveryPolicy::Reliable, 2);
        let first = reader.position();
        let mut taken = take(&mut reader, 1);
        let sent = sender.join().unwrap();
        taken.extend(take(&mut reader, 4));
        assert!(taken.is_sorted_by(|a, b| a < b) && taken.iter().all(|&number| number >= first), "{taken:?}");
        assert!(taken.ends_with(&(first + 2..sent).collect::<Vec<_>>()), "{taken:?} of {first} + 2 to {sent}");
        assert_eq!(reader.missed(), 0, "history is not missed");
    });
}

/// A lane whose word of members is that of another, as in a segment.
#[derive(Clone)]
struct TwoLanes {
    lane: HeapLane,
    with_members: HeapLane,
}

impl TwoLanes {
    fn pair() -> [Self; 2] {
        let with_members = lane(1, 1);
        [lane(1, 1), with_members.clone()].map(|lane| Self { lane, with_members: with_members.clone() })
    }
}

impl Memory for TwoLanes {
    fn capacity(&self) -> u64 {
        self.lane.capacity()
    }

    fn subscribers(&self) -> usize {
        self.lane.subscribers()
    }

    fn members(&self) -> &AtomicU64 {
        self.with_members.members()
    }

    fn holders(&self) -> &AtomicU64 {
        self.lane.holders()
    }

    fn asking(&self) -> &AtomicU64 {
        self.lane.asking()
    }

    fn position(&self) -> &AtomicU64 {
        self.lane.position()
    }

    fn cursor(&self, subscriber: usize) -> &AtomicU64 {
        self.lane.cursor(subscriber)
    }

    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        self.lane.slot(sequence)
    }
}

#[test]
fn reader_of_two_lanes_loses_nothing_of_either_after_joining() {
    model(2, || {
        let shared = TwoLanes::pair();
        let mut writers = shared.clone().map(|lane| Producer::resume(lane, DeliveryPolicy::Reliable, false).unwrap());
        let sender = thread::spawn(move || {
            for writer in &mut writers {
                for _ in 0..2 {
                    let next = writer.position();
                    let _full = writer.try_send(message(next), next + 7);
                }
            }
            writers.map(|writer| writer.position())
        });
        let mut readers = join(shared.to_vec(), 0, DeliveryPolicy::Reliable, 0).unwrap();
        let starts: Vec<_> = readers.iter().map(Consumer::position).collect();
        let sent = sender.join().unwrap();
        for ((reader, start), sent) in readers.iter_mut().zip(starts).zip(sent) {
            let taken: Vec<u64> =
                std::iter::from_fn(|| reader.try_recv::<Message>()).map(|received| received.sequence).collect();
            assert_eq!(taken, (start..sent).collect::<Vec<_>>());
        }
    });
}

#[test]
fn held_message_is_never_overwritten() {
    model(3, || {
        let lane = lane(1, 1);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        send(&mut writer, 0).unwrap();
        let traces = Arc::new(Traces(std::array::from_fn(|_| UnsafeCell::new(()))));
        let seen = traces.clone();
        let sender = thread::spawn(move || {
            for _ in 0..2 {
                let next = writer.position();
                if send(&mut writer, next).is_ok() {
                    seen.0[next as usize - 1].with(|_| ());
                }
            }
        });
        if let Some(held) = reader.hold() {
            if let Some(trace) = traces.0.get(held.sequence as usize) {
                trace.with_mut(|_| ());
            }
            // Two looks at the same words, as a reader in place takes them, see the same whole message.
            for _ in 0..2 {
                let words: Vec<_> = reader.slot()[2..4].iter().map(|word| word.load(Relaxed)).collect();
                assert_eq!(words, message(held.sequence), "overwritten while held");
                thread::yield_now();
            }
            reader.let_go();
        }
        sender.join().unwrap();
    });
}

#[test]
fn message_refused_for_a_holder_is_never_lost_once_it_lets_go() {
    model(3, || {
        let lane = lane(1, 1);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        send(&mut writer, 0).unwrap();
        let holder = thread::spawn(move || {
            if reader.hold().is_some() {
                thread::yield_now();
                reader.let_go();
            }
            reader
        });
        let early = send(&mut writer, 1).is_ok();
        let mut reader = holder.join().unwrap();
        let next = 1 + u64::from(early);
        assert_eq!(send(&mut writer, next), Ok(next), "no reader holds any more");
        assert_eq!(take(&mut reader, 2).last(), Some(&next));
    });
}

/// A bell of its own, beside a lane.
#[derive(Clone)]
struct Tower(Arc<(AtomicU64, AtomicU64, AtomicU32)>);

impl Bell for Tower {
    fn sleepers(&self) -> &AtomicU64 {
        &self.0.0
    }

    fn asleep(&self) -> &AtomicU64 {
        &self.0.1
    }

    fn rings(&self) -> &AtomicU32 {
        &self.0.2
    }
}

fn tower() -> Tower {
    Tower(Arc::new((AtomicU64::new(1), AtomicU64::new(0), AtomicU32::new(0))))
}

/// What a publisher does after a message. The kernel's part, waking, has no place in a model: a sleeper whose count was
/// passed is awake.
fn ring_for(ringer: &mut Ringer, tower: &Tower) {
    if tower.sleepers().load(Relaxed) != 0 {
        rings(ringer, tower);
    }
}

/// Whether it rings, for those who lay down since its last ring.
fn rings(ringer: &mut Ringer, tower: &Tower) -> bool {
    ringer.must_ring(tower).map(|asleep| ringer.ring(tower, asleep)).is_some()
}

/// Waits as a subscriber does, until it has taken something or sleeps; true if it sleeps, on these rings.
fn sleeps(reader: &mut Reader, tower: &Tower, taken: &mut Vec<u64>) -> Option<u32> {
    let lain_down = bell::lie_down(tower, 0);
    let found = take(reader, 1);
    // What the kernel compares when it is asked to wait.
    let sleeps = lain_down.filter(|&rings| found.is_empty() && tower.rings().load(Relaxed) == rings);
    taken.extend(found);
    if sleeps.is_none() {
        bell::get_up(tower, 0);
    }
    sleeps
}

#[test]
fn message_is_never_slept_through() {
    model(3, || {
        let lane = lane(2, 1);
        let tower = tower();
        let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        let heard = tower.clone();
        let sender = thread::spawn(move || {
            let mut ringer = Ringer::new(&heard);
            send(&mut writer, 0).unwrap();
            ring_for(&mut ringer, &heard);
        });
        let asleep = sleeps(&mut reader, &tower, &mut Vec::new());
        sender.join().unwrap();
        assert!(asleep.is_none_or(|rings| tower.rings().load(Relaxed) != rings), "asleep, and no publisher will ring");
    });
}

#[test]
fn second_message_is_never_slept_through_because_of_a_late_ring_for_the_first() {
    model(3, || {
        let lane = lane(2, 1);
        let tower = tower();
        let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        let mut ringer = Ringer::new(&tower);
        // The first message is there, and taken, before its publisher comes to ring.
        send(&mut writer, 0).unwrap();
        let heard = tower.clone();
        let sender = thread::spawn(move || {
            ring_for(&mut ringer, &heard);
            send(&mut writer, 1).unwrap();
            ring_for(&mut ringer, &heard);
        });
        let mut taken = take(&mut reader, 1);
        assert_eq!(taken, [0]);
        let asleep = sleeps(&mut reader, &tower, &mut taken).or_else(|| match taken.len() {
            1 => sleeps(&mut reader, &tower, &mut taken),
            _ => None,
        });
        sender.join().unwrap();
        assert!(asleep.is_none_or(|rings| tower.rings().load(Relaxed) != rings), "asleep, and no publisher will ring");
    });
}

#[test]
fn bell_is_rung_once_for_a_sleeper_that_does_not_get_up() {
    model(2, || {
        let tower = tower();
        let mut ringers = [Ringer::new(&tower), Ringer::new(&tower)];
        assert!(!rings(&mut ringers[0], &tower), "no subscriber sleeps");
        assert!(bell::lie_down(&tower, 0).is_some());
        let rung = ringers.each_mut().map(|ringer| [(); 3].map(|()| rings(ringer, &tower)));
        assert_eq!(rung, [[true, false, false]; 2], "each publisher rings once");
        bell::get_up(&tower, 0);
        assert!(bell::lie_down(&tower, 0).is_some());
        assert!(rings(&mut ringers[0], &tower), "it sleeps anew");
    });
}

#[test]
fn slot_held_by_a_reader_is_passed_over_and_nothing_but_its_number_is_lost() {
    model(2, || {
        let lane = lane(2, 2);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut holder = reader(&lane, 0, DeliveryPolicy::Latest);
        let mut copier = reader(&lane, 1, DeliveryPolicy::Latest);
        send(&mut writer, 0).unwrap();
        assert_eq!(holder.hold().unwrap().sequence, 0);
        let sender = thread::spawn(move || {
            let sent = [1, 3].map(|number| {
                assert_eq!(writer.try_send(message(number), number + 7), Ok(number), "number 2 has the slot of 0");
                number
            });
            (sent, writer.position())
        });
        let words: Vec<_> = holder.slot()[2..4].iter().map(|word| word.load(Relaxed)).collect();
        assert_eq!(words, message(0), "overwritten while held");
        let mut taken = take(&mut copier, 2);
        let (sent, position) = sender.join().unwrap();
        taken.extend(take(&mut copier, 3));
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        assert_eq!((taken.last(), position), (sent.last(), 4), "the last message is there");
        assert_eq!(taken.len() as u64 + copier.missed(), position, "each number is taken or counted");
        let words: Vec<_> = holder.slot()[2..4].iter().map(|word| word.load(Relaxed)).collect();
        assert_eq!(words, message(0), "overwritten while held");
    });
}

#[test]
fn late_reader_is_never_left_without_a_message_by_numbers_that_were_passed_over() {
    model(2, || {
        let lane = lane(4, 2);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut holder = reader(&lane, 0, DeliveryPolicy::Latest);
        (0..4).for_each(|number| assert_eq!(send(&mut writer, number), Ok(number)));
        assert_eq!(holder.hold().unwrap().sequence, 0);
        // Number 4 has the slot that is held, and 5 is begun and never sent.
        let beginner = thread::spawn(move || assert!(writer.begin()));
        let mut late = reader_with_history(&lane, 1, DeliveryPolicy::Latest, 1);
        assert_eq!(take(&mut late, 1), [3]);
        beginner.join().unwrap();
    });
}

#[test]
fn slot_that_was_let_go_is_never_overwritten_before_its_holder_is_done() {
    model(3, || {
        let lane = lane(1, 1);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        send(&mut writer, 0).unwrap();
        let traces = Arc::new(Traces(std::array::from_fn(|_| UnsafeCell::new(()))));
        let held = traces.clone();
        let holder = thread::spawn(move || {
            if reader.hold().is_some_and(|held| held.sequence == 0) {
                held.0[0].with_mut(|_| ());
                reader.let_go();
            }
        });
        if send(&mut writer, 1).is_ok() {
            traces.0[0].with(|_| ());
        }
        holder.join().unwrap();
    });
}

#[test]
fn message_is_never_lost_to_one_reader_because_another_holds_it() {
    model(2, || {
        let lane = lane(1, 2);
        let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
        let mut holder = reader(&lane, 0, DeliveryPolicy::Latest);
        let mut copier = reader(&lane, 1, DeliveryPolicy::Latest);
        send(&mut writer, 0).unwrap();
        assert_eq!(holder.hold().unwrap().sequence, 0);
        let sender = thread::spawn(move || assert!(send(&mut writer, 1).is_err(), "it is held"));
        let mut taken = take(&mut copier, 1);
        sender.join().unwrap();
        taken.extend(take(&mut copier, 1));
        assert_eq!((taken, copier.missed()), (vec![0], 0));
    });
}

fn stage(writer: &mut Writer, sequence: u64) {
    let fill = |slot: &[AtomicU64]| (2..4).for_each(|word| slot[word].store(sequence + 100, Relaxed));
    assert_eq!(writer.stage_with(fill), Ok(()));
}

fn staged_while_reading(capacity: usize, sent: u64, staged: u64, is_released: bool) {
    model(2, move || {
        let lane = lane(capacity, 1);
        let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
        let mut writer = writer(&lane, DeliveryPolicy::Latest);
        (0..sent).for_each(|i| assert_eq!(send(&mut writer, i), Ok(i)));
        let sender = thread::spawn(move || {
            (sent..sent + staged).for_each(|i| stage(&mut writer, i));
            match is_released {
                true => writer.release(sent + staged - 1 + 7),
                false => writer.take_back(),
            }
        });
        let mut taken = take_staged(&mut reader, 2);
        assert_eq!(sender.join().unwrap(), staged);
        taken.extend(take_staged(&mut reader, capacity + 1));
        let visible = if is_released { sent + staged } else { sent };
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        assert!(taken.iter().all(|&number| number < visible), "{taken:?}: seen before its release");
        assert_eq!(taken.len() as u64 + reader.missed(), reader.position(), "each is taken or counted");
        assert_eq!((reader.position(), taken.last() == Some(&(visible - 1))), (visible, is_released || staged == 1));
    });
}

/// As `take`, of messages that share a time.
fn take_staged(reader: &mut Reader, attempts: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..attempts {
        if let Some(received) = reader.try_recv::<Message>() {
            assert_eq!(received.message, message(received.sequence), "half a message");
            taken.push(received.sequence);
        }
        thread::yield_now();
    }
    taken
}

#[test]
fn staged_message_is_seen_whole_or_not_at_all() {
    staged_while_reading(2, 1, 2, true);
    staged_while_reading(2, 2, 2, true);
}

#[test]
fn message_that_is_taken_back_is_never_seen_and_leaves_the_reader_where_it_is() {
    staged_while_reading(2, 2, 1, false);
}
