//! The loops find what a bad system does to messages: each fault is injected on purpose and must be in the counts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use horus_benchmarks::cell::Measured;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::threads::{same_thread, thread_to_thread};
use horus_benchmarks::transport::{Content, Failure, Meeting, Payload, Receiver, Sender, Threads};

/// Messages of which one in so many meets the fault; beyond the round trips of a test, so that it is in the stream.
const EVERY: u64 = 500;

const PERFECT: u8 = 0;
const LOSING: u8 = 1;
const FLIPPING: u8 = 2;
const REPEATING: u8 = 3;

/// A queue behind a lock, with a fault.
struct Faulty<const FAULT: u8>;

impl<M: Content, const FAULT: u8> Threads<M> for Faulty<FAULT> {
    const SYSTEM: &'static str = "faulty";

    fn channel(_: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let entry = Arc::new(Mutex::new(VecDeque::new()));
        let exit = Arc::clone(&entry);
        let mut sent: u64 = 0;
        let send = move |message: &M| {
            let mut queue = entry.lock().unwrap();
            if queue.len() >= capacity {
                return false;
            }
            sent += 1;
            let meets_fault = sent.is_multiple_of(EVERY);
            let mut message = *message;
            match FAULT {
                LOSING if meets_fault => return true,
                FLIPPING if meets_fault => message.as_mut_bytes()[9] ^= 4,
                REPEATING if meets_fault => queue.push_back(message),
                _ => {}
            }
            queue.push_back(message);
            true
        };
        let receive = move |into: &mut M| exit.lock().unwrap().pop_front().map(|message| *into = message).is_some();
        Ok((send, receive))
    }
}

fn measured<const FAULT: u8>() -> Measured {
    let scratch = tempfile::tempdir().unwrap();
    thread_to_thread::<Faulty<FAULT>, Payload<2>>(&Stage::for_tests(scratch.path())).unwrap()
}

/// Round trips there and back with warm-up, and the stream: as many as `Effort::TEST` says.
const SENT: u64 = 2 * (200 + 20) + 2000;
/// Multiples of [`EVERY`] among the messages of the stream, the end's mark not counted.
const FAULTS: u64 = 2000 / EVERY;

#[test]
fn a_perfect_system_has_nothing_to_be_blamed_for() {
    let counts = measured::<PERFECT>().counts;
    assert_eq!((counts.sent, counts.received), (SENT, SENT));
    assert_eq!((counts.lost, counts.corrupt, counts.repeated), (0, 0, 0));
}

#[test]
fn a_lost_message_is_counted() {
    let counts = measured::<LOSING>().counts;
    assert_eq!((counts.sent, counts.received), (SENT, SENT - FAULTS));
    assert_eq!((counts.lost, counts.corrupt, counts.repeated), (FAULTS, 0, 0));
}

#[test]
fn a_flipped_bit_is_counted() {
    let counts = measured::<FLIPPING>().counts;
    assert_eq!((counts.corrupt, counts.lost), (FAULTS, FAULTS), "what is corrupt did not arrive");
}

#[test]
fn a_repeated_message_is_counted() {
    let counts = measured::<REPEATING>().counts;
    assert_eq!((counts.received, counts.repeated, counts.lost), (SENT, FAULTS, 0));
}

#[test]
fn one_thread_sends_and_receives_all() {
    let scratch = tempfile::tempdir().unwrap();
    let measured = same_thread::<Faulty<PERFECT>, Payload<38>>(&Stage::for_tests(scratch.path())).unwrap();
    assert_eq!(measured.counts.sent, measured.counts.received);
    assert!(measured.samples.unwrap().meter.samples() > 0);
}

#[test]
fn a_system_that_cannot_start_is_an_error_and_no_hang() {
    struct Absent;
    impl<M: Content> Threads<M> for Absent {
        const SYSTEM: &'static str = "absent";

        fn channel(_: Meeting, _: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
            Err::<(fn(&M) -> bool, fn(&mut M) -> bool), _>("is not installed".into())
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let error = thread_to_thread::<Absent, Payload<2>>(&Stage::for_tests(scratch.path())).unwrap_err();
    assert_eq!(error.to_string(), "is not installed");
}
