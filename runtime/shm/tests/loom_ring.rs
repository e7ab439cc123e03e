//! Every interleaving and every permitted memory ordering of small rings, by the loom model checker.
//!
//! Each test is named after the outcome that it forbids. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p horus-shm --release --test loom_ring`.
#![cfg(loom)]

use horus_shm::heap::HeapLane;
use horus_shm::layout::Policy;
use horus_shm::ring::{Consumer, Full, Producer};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Two words that must arrive together, each telling the message's number.
type Message = [u64; 2];
type Writer = Producer<Message, HeapLane>;
type Reader = Consumer<Message, HeapLane>;

fn message(sequence: u64) -> Message {
    [sequence + 100, sequence + 100]
}

fn lane(capacity: usize, subscribers: usize) -> HeapLane {
    HeapLane::new::<Message>(capacity, subscribers).unwrap()
}

fn writer(lane: &HeapLane, policy: Policy) -> Writer {
    Producer::resume(lane.clone(), policy).unwrap()
}

fn reader(lane: &HeapLane, subscriber: usize) -> Reader {
    Consumer::join(lane.clone(), subscriber).unwrap()
}

/// Explores all schedules with at most `preemptions` switches away from a thread that could have gone on. Known bugs of
/// rings need two; every added one multiplies the time by about ten.
fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

/// Takes what is there, at most `attempts` looks; checks each message's contents against its number.
fn take(reader: &mut Reader, attempts: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..attempts {
        if let Some(received) = reader.try_recv() {
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
        let mut reader = reader(&lane, 0);
        let mut writer = writer(&lane, Policy::Latest);
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

#[test]
fn full_lane_never_overwrites_unread() {
    model(3, || {
        let lane = lane(2, 1);
        let mut reader = reader(&lane, 0);
        let mut writer = writer(&lane, Policy::Reliable);
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
        let mut fast = reader(&lane, 0);
        let mut slow = reader(&lane, 1);
        let mut writer = writer(&lane, Policy::Reliable);
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
    let mut writer = writer(&lane, Policy::Reliable);
    if after_another {
        let mut predecessor = reader(&lane, 0);
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
    let mut reader = reader(&lane, 0);
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
        let mut reader = reader(&lane, 0);
        let mut writer = writer(&lane, Policy::Reliable);
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
        let reader = reader(&lane, 0);
        let mut writer = writer(&lane, Policy::Reliable);
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
        let mut reader = reader(&lane, 0);
        let mut first = writer(&lane, Policy::Latest);
        let heir = lane.clone();
        let senders = thread::spawn(move || {
            send(&mut first, 0).unwrap();
            drop(first);
            let mut second = writer(&heir, Policy::Latest);
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
        let (mut writer, mut reader) = horus_shm::local::ring::<Message>(2).unwrap();
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
