//! The ring in states that a killed or hostile peer leaves behind, set up word by word on the heap.
//!
//! Small enough for Miri: `cargo +nightly miri test -p horus-shm --test ring_states`.
#![cfg(not(loom))]

use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ring::heap::HeapLane;
use horus_shm::ring::{Consumer, Full, MAX_SEQUENCE, Memory, NotStaged, Producer, join};
use horus_shm::segment::layout::{DeliveryPolicy, STAMP_WORD};

type Message = [u64; 2];

fn lane(capacity: usize) -> HeapLane {
    HeapLane::new::<Message>(capacity, 2).unwrap()
}

fn writer(lane: &HeapLane, policy: DeliveryPolicy) -> Producer<HeapLane> {
    Producer::resume(lane.clone(), policy, false).unwrap()
}

fn reader(lane: &HeapLane, subscriber: usize, policy: DeliveryPolicy) -> Consumer<HeapLane> {
    join(vec![lane.clone()], subscriber, policy, 0).unwrap().into_vec().remove(0)
}

fn send(writer: &mut Producer<HeapLane>) -> Result<u64, Full<Message>> {
    writer.try_send([writer.position(); 2], 0)
}

fn set_stamp(lane: &HeapLane, sequence: u64, stamp: u64) {
    lane.slot(sequence)[STAMP_WORD].store(stamp, Ordering::Relaxed);
}

#[test]
fn half_written_message_of_a_dead_writer_is_never_seen_and_its_number_is_used_again() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let lane = lane(2);
        let mut reader = reader(&lane, 0, policy);
        let mut first = writer(&lane, policy);
        assert_eq!(send(&mut first), Ok(0));
        // Killed while writing message 1: the payload is half there.
        assert!(first.begin());
        first.slot()[2].store(u64::MAX, Ordering::Relaxed);
        drop(first);
        assert_eq!(reader.try_recv::<Message>().unwrap().message, [0; 2]);
        assert_eq!(reader.try_recv::<Message>(), None);
        let mut second = writer(&lane, policy);
        assert_eq!(reader.try_recv::<Message>(), None);
        assert_eq!(send(&mut second), Ok(1));
        assert_eq!(reader.try_recv::<Message>().unwrap().message, [1; 2]);
        assert_eq!(reader.missed(), 0);
    }
}

#[test]
fn history_that_a_dead_writer_began_to_overwrite_is_never_seen() {
    let lane = lane(2);
    let mut first = writer(&lane, DeliveryPolicy::Reliable);
    (0..2).for_each(|i| assert_eq!(send(&mut first), Ok(i)));
    // Killed while writing message 2: half of message 0 is gone, and its stamp still stands.
    assert!(first.begin());
    first.slot()[2].store(u64::MAX, Ordering::Relaxed);
    drop(first);
    for resumed in [false, true] {
        let _second = resumed.then(|| writer(&lane, DeliveryPolicy::Reliable));
        let mut late = join(vec![lane.clone()], 0, DeliveryPolicy::Reliable, 2).unwrap().into_vec().remove(0);
        assert_eq!(late.try_recv::<Message>().unwrap().message, [1; 2]);
        assert_eq!((late.try_recv::<Message>(), late.missed()), (None, 0));
    }
}

#[test]
fn reader_that_skips_history_makes_room_at_once() {
    let lane = lane(1);
    let mut first = writer(&lane, DeliveryPolicy::Reliable);
    assert_eq!(send(&mut first), Ok(0));
    assert!(first.begin()); // killed while it overwrites all the history there is
    drop(first);
    let mut late = join(vec![lane.clone()], 0, DeliveryPolicy::Reliable, 1).unwrap().into_vec().remove(0);
    assert_eq!(late.try_recv::<Message>(), None);
    assert_eq!(send(&mut writer(&lane, DeliveryPolicy::Reliable)), Ok(1));
    assert_eq!(late.try_recv::<Message>().unwrap().message, [1; 2]);
}

#[test]
fn scribbled_question_of_a_writer_costs_history_and_nothing_else() {
    for asking in [3, 1000, MAX_SEQUENCE - 1, MAX_SEQUENCE, u64::MAX] {
        let lane = lane(2);
        let mut writer = writer(&lane, DeliveryPolicy::Reliable);
        (0..2).for_each(|i| assert_eq!(send(&mut writer), Ok(i)));
        let mut late = join(vec![lane.clone()], 0, DeliveryPolicy::Reliable, 2).unwrap().into_vec().remove(0);
        lane.asking().store(asking, Ordering::Relaxed);
        let _history = std::iter::from_fn(|| late.try_recv::<Message>()).count();
        for sequence in 2..10 {
            assert_eq!(send(&mut writer), Ok(sequence));
            assert_eq!(late.try_recv::<Message>().unwrap().message, [sequence; 2]);
        }
        assert_eq!(late.missed(), 0);
    }
}

#[test]
fn finished_message_of_a_writer_that_died_before_saying_so_is_kept() {
    let lane = lane(2);
    let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
    let mut first = writer(&lane, DeliveryPolicy::Reliable);
    assert_eq!(send(&mut first), Ok(0));
    // Killed between the stamp of message 0 and the position.
    lane.position().store(0, Ordering::Relaxed);
    drop(first);
    let mut second = writer(&lane, DeliveryPolicy::Reliable);
    assert_eq!(send(&mut second), Ok(1), "number 0 is taken");
    assert_eq!(reader.try_recv::<Message>().unwrap().sequence, 0);
    assert_eq!(reader.try_recv::<Message>().unwrap().sequence, 1);
}

#[test]
fn writer_goes_on_when_a_reader_that_held_the_lane_leaves() {
    let lane = lane(2);
    let silent = reader(&lane, 0, DeliveryPolicy::Reliable);
    let mut writer = writer(&lane, DeliveryPolicy::Reliable);
    assert_eq!((send(&mut writer), send(&mut writer)), (Ok(0), Ok(1)));
    assert_eq!(send(&mut writer), Err(Full([2; 2])));
    silent.leave();
    assert_eq!(send(&mut writer), Ok(2));
}

#[test]
fn lane_without_readers_is_never_full() {
    let lane = lane(2);
    let mut writer = writer(&lane, DeliveryPolicy::Reliable);
    for sequence in 0..100 {
        assert_eq!(send(&mut writer), Ok(sequence));
    }
    let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
    assert_eq!(reader.try_recv::<Message>(), None, "what was sent before is not for who joins later");
    send(&mut writer).unwrap();
    assert_eq!(reader.try_recv::<Message>().unwrap().sequence, 100);
}

#[test]
fn overtaken_reader_goes_on_with_the_oldest_whole_message() {
    let lane = lane(4);
    let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
    let mut writer = writer(&lane, DeliveryPolicy::Latest);
    (0..10).for_each(|_| assert!(send(&mut writer).is_ok()));
    // The slot of message 6 is the next to be overwritten, so 7 is the oldest that is safe.
    let taken: Vec<_> = std::iter::from_fn(|| reader.try_recv::<Message>()).map(|received| received.sequence).collect();
    assert_eq!(taken, [7, 8, 9]);
    assert_eq!(reader.missed(), 7);
}

#[test]
fn late_reader_gets_the_newest_message_although_its_writer_passed_over_numbers_and_sent_nothing() {
    let lane = lane(4);
    let mut holder = reader(&lane, 0, DeliveryPolicy::Latest);
    let mut writer = Producer::resume(lane.clone(), DeliveryPolicy::Latest, true).unwrap();
    (0..4).for_each(|_| assert!(send(&mut writer).is_ok()));
    assert_eq!(holder.hold().map(|held| held.sequence), Some(0));
    assert!(writer.begin(), "number 4 has the slot that is held");
    drop(writer);
    assert_eq!(lane.position().load(Ordering::Relaxed), 5, "number 4 is passed over, and 5 was never sent");
    let mut late = join(vec![lane], 1, DeliveryPolicy::Latest, 1).unwrap().into_vec().remove(0);
    assert_eq!(late.try_recv::<Message>().map(|received| received.sequence), Some(3));
    assert_eq!((late.try_recv::<Message>(), late.missed()), (None, 0));
}

#[test]
fn cursor_that_claims_the_future_frees_nothing() {
    let lane = lane(2);
    let _honest = reader(&lane, 0, DeliveryPolicy::Reliable);
    let _liar = reader(&lane, 1, DeliveryPolicy::Reliable);
    let mut writer = writer(&lane, DeliveryPolicy::Reliable);
    assert_eq!((send(&mut writer), send(&mut writer)), (Ok(0), Ok(1)));
    lane.cursor(1).store(u64::MAX, Ordering::Relaxed);
    assert_eq!(send(&mut writer), Err(Full([2; 2])));
    lane.members().store(u64::MAX, Ordering::Relaxed);
    assert_eq!(send(&mut writer), Err(Full([2; 2])), "bits without a cursor are ignored");
}

#[test]
fn scribbled_words_never_panic_and_never_pass_for_messages() {
    let values = [0, 1, 2, 3, 7, 8, MAX_SEQUENCE - 1, MAX_SEQUENCE, 2 * MAX_SEQUENCE, u64::MAX - 1, u64::MAX];
    for stamp in values {
        for position in values {
            let lane = lane(2);
            let mut reader = reader(&lane, 0, DeliveryPolicy::Reliable);
            set_stamp(&lane, 0, stamp);
            set_stamp(&lane, 1, stamp);
            lane.position().store(position, Ordering::Relaxed);
            for _ in 0..10 {
                let before = reader.position();
                if let Some(received) = reader.try_recv::<Message>() {
                    assert!(received.sequence >= before && stamp == 2 * received.sequence + 2);
                }
                assert!(reader.position() <= MAX_SEQUENCE && reader.missed() <= MAX_SEQUENCE);
            }
            if let Some(mut writer) = Producer::resume(lane.clone(), DeliveryPolicy::Reliable, false) {
                let _full = send(&mut writer);
                lane.cursor(0).store(stamp, Ordering::Relaxed);
                let _full = send(&mut writer);
            }
            let _refused = join(vec![lane], 1, DeliveryPolicy::Reliable, 0);
        }
    }
}

#[test]
fn two_threads_pass_every_message_once_and_in_order() {
    let messages: u64 = if cfg!(miri) { 50 } else { 20_000 };
    let (mut writer, mut reader) = horus_shm::ring::local::ring::<Message>(8).unwrap();
    let sender = std::thread::spawn(move || {
        for sequence in 0..messages {
            while writer.try_send([sequence; 2]).is_err() {
                std::thread::yield_now();
            }
        }
    });
    for sequence in 0..messages {
        let received = loop {
            match reader.try_recv() {
                Some(received) => break received,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(received, [sequence; 2]);
    }
    sender.join().unwrap();
}

#[test]
fn reader_of_a_racing_writer_gets_whole_messages_and_counts_the_rest() {
    let messages: u64 = if cfg!(miri) { 50 } else { 20_000 };
    let lane = lane(4);
    let mut reader = reader(&lane, 0, DeliveryPolicy::Latest);
    let mut writer = writer(&lane, DeliveryPolicy::Latest);
    let sender = std::thread::spawn(move || {
        for turn in 0..messages {
            send(&mut writer).unwrap();
            if turn % 16 == 0 {
                std::thread::yield_now();
            }
        }
    });
    let mut taken = 0;
    while reader.position() < messages {
        match reader.try_recv::<Message>() {
            Some(received) => {
                assert_eq!(received.message, [received.sequence; 2]);
                taken += 1;
            }
            None => std::thread::yield_now(),
        }
    }
    sender.join().unwrap();
    assert_eq!(taken + reader.missed(), messages);
}

fn stage(writer: &mut Producer<HeapLane>, number: u64) -> Result<(), NotStaged> {
    writer.stage_with(|slot| (2..4).for_each(|word| slot[word].store(number, Ordering::Relaxed)))
}

fn numbers(reader: &mut Consumer<HeapLane>) -> Vec<u64> {
    std::iter::from_fn(|| reader.try_recv::<Message>())
        .map(|received| {
            assert_eq!(received.message, [received.sequence; 2], "half a message, or another one");
            received.sequence
        })
        .collect()
}

#[test]
fn staged_messages_of_a_dead_writer_were_never_sent_and_those_released_were() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let lane = lane(4);
        let mut early = reader(&lane, 0, policy);
        let mut first = writer(&lane, policy);
        (0..2).for_each(|i| assert_eq!(send(&mut first), Ok(i)));
        (2..4).for_each(|i| assert_eq!(stage(&mut first, i), Ok(())));
        assert_eq!(numbers(&mut early), [0, 1]);
        // Killed half-way through the release: message 2 has its stamp, and the position does not say so.
        set_stamp(&lane, 2, 2 * 2 + 2);
        drop(first);
        assert_eq!(numbers(&mut early), [2]);
        let mut second = writer(&lane, policy);
        assert_eq!(second.position(), 3);
        assert_eq!(numbers(&mut early), [0; 0]);
        assert_eq!(send(&mut second), Ok(3));
        assert_eq!((numbers(&mut early), early.missed()), (vec![3], 0));
    }
}

#[test]
fn history_that_was_staged_over_is_never_seen_also_when_it_is_taken_back_or_its_writer_dies() {
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        for staged in 1..=4 {
            let lane = lane(4);
            let mut first = writer(&lane, policy);
            (0..4).for_each(|i| assert_eq!(send(&mut first), Ok(i)));
            (4..4 + staged).for_each(|_| assert_eq!(stage(&mut first, u64::MAX), Ok(())));
            if staged == 4 {
                assert_eq!(stage(&mut first, 9), Err(NotStaged::Beyond));
            }
            let late = || join(vec![lane.clone()], 0, policy, 4).unwrap().into_vec().remove(0);
            let mut during = late();
            assert!(numbers(&mut during).iter().all(|&number| (staged..4).contains(&number)));
            assert!(during.position() <= 4, "it goes beyond what was sent: {}", during.position());
            during.leave();
            assert_eq!(first.take_back(), staged);
            drop(first);
            let mut second = writer(&lane, policy);
            assert_eq!(second.position(), 4);
            let mut after = late();
            assert!(numbers(&mut after).iter().all(|&number| (staged..4).contains(&number)));
            assert_eq!(send(&mut second), Ok(4));
            assert_eq!(numbers(&mut after), [4]);
        }
    }
}

#[test]
fn message_is_staged_over_none_that_a_reader_has_yet_to_read_or_holds() {
    let reliable = lane(2);
    let mut slow = reader(&reliable, 0, DeliveryPolicy::Reliable);
    let mut writer_of_all = writer(&reliable, DeliveryPolicy::Reliable);
    assert_eq!(send(&mut writer_of_all), Ok(0));
    assert_eq!(stage(&mut writer_of_all, 1), Ok(()));
    assert_eq!(stage(&mut writer_of_all, 2), Err(NotStaged::Full));
    assert_eq!(writer_of_all.release(0), 1);
    assert_eq!(numbers(&mut slow), [0, 1]);

    let held = lane(2);
    let mut holder = reader(&held, 0, DeliveryPolicy::Latest);
    let mut copier = reader(&held, 1, DeliveryPolicy::Latest);
    let mut writer = Producer::resume(held.clone(), DeliveryPolicy::Latest, true).unwrap();
    (0..2).for_each(|i| assert_eq!(send(&mut writer), Ok(i)));
    assert_eq!(holder.hold().unwrap().sequence, 0);
    // Number 2 has the slot of 0, and is passed over.
    assert_eq!(stage(&mut writer, 3), Ok(()));
    assert_eq!(stage(&mut writer, 4), Err(NotStaged::Full));
    assert_eq!(holder.slot()[2].load(Ordering::Relaxed), 0, "overwritten while held");
    assert_eq!(writer.release(0), 1);
    assert_eq!(numbers(&mut copier).last(), Some(&3));
    holder.let_go();
    assert_eq!(stage(&mut writer, 4), Ok(()));
    assert_eq!(writer.release(0), 1);
    assert_eq!((numbers(&mut copier), numbers(&mut holder)), (vec![4], vec![4]));
}

/// The end of a lane in a time namespace: its clock is so far ahead.
#[derive(Clone)]
struct Shifted(HeapLane, i64);

impl Memory for Shifted {
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }
    fn subscribers(&self) -> usize {
        self.0.subscribers()
    }
    fn members(&self) -> &AtomicU64 {
        self.0.members()
    }
    fn holders(&self) -> &AtomicU64 {
        self.0.holders()
    }
    fn asking(&self) -> &AtomicU64 {
        self.0.asking()
    }
    fn position(&self) -> &AtomicU64 {
        self.0.position()
    }
    fn cursor(&self, subscriber: usize) -> &AtomicU64 {
        self.0.cursor(subscriber)
    }
    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        self.0.slot(sequence)
    }
    fn ahead_ns(&self) -> i64 {
        self.1
    }
}

#[test]
fn stamps_are_by_the_readers_clock_in_whatever_way_they_come_and_no_message_is_lost() {
    const NOW: u64 = 1_000_000;
    for ((policy, is_held), (writes, reads)) in
        [(DeliveryPolicy::Reliable, false), (DeliveryPolicy::Latest, false), (DeliveryPolicy::Latest, true)]
            .into_iter()
            .flat_map(|kind| [(0, 0), (700, 0), (0, 700), (-700, 700), (700, 700)].map(|clocks| (kind, clocks)))
    {
        let lane = HeapLane::new::<Message>(4, 2).unwrap();
        let mut reader = join(vec![Shifted(lane.clone(), reads)], 0, policy, 0).unwrap().into_vec().remove(0);
        let mut writer = Producer::resume(Shifted(lane.clone(), writes), policy, is_held).unwrap();
        let (sent, seen) = (NOW.strict_add_signed(writes), NOW.strict_add_signed(reads));
        for round in 0..20 {
            let stamp = if round % 5 == 4 { 0 } else { sent };
            match round % 4 {
                0 => assert!(writer.try_send([round; 2], stamp).is_ok()),
                1 => {
                    assert!(writer.begin());
                    writer.slot()[2..4].iter().for_each(|word| word.store(round, Ordering::Relaxed));
                    writer.commit(stamp);
                }
                2 => {
                    let fill =
                        |slot: &[AtomicU64]| slot[2..4].iter().for_each(|word| word.store(round, Ordering::Relaxed));
                    if writer.send_at_once(stamp, fill).is_none() {
                        writer.send_with(stamp, fill).unwrap();
                    }
                }
                _ => {
                    let fill =
                        |slot: &[AtomicU64]| slot[2..4].iter().for_each(|word| word.store(round, Ordering::Relaxed));
                    writer.stage_with(fill).unwrap();
                    assert_eq!(writer.release(stamp), 1);
                }
            }
            let is_in_place = round % 3 == 0 && (is_held || policy == DeliveryPolicy::Reliable);
            let sent_ns = if is_in_place {
                let held = reader.hold().unwrap();
                assert_eq!(reader.slot()[2].load(Ordering::Relaxed), round);
                reader.let_go();
                held.sent_ns
            } else {
                let received = reader.try_recv::<Message>().unwrap();
                assert_eq!(received.message, [round; 2]);
                received.sent_ns
            };
            assert_eq!(sent_ns, if stamp == 0 { 0 } else { seen }, "{policy:?} {writes} {reads} {round}");
        }
        assert_eq!((reader.missed(), writer.last().unwrap().0), (0, 0), "the last one had no time");
    }
}
