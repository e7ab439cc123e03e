//! Every adapter carries messages whole, once and in order, by the loops that measure it.

use std::path::Path;

use horus_benchmarks::cell::Measured;
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::threads::{same_thread, thread_to_thread};
use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender, Threads};
use horus_compare::disruptor::Disruptor;
use horus_compare::iceoryx::{Iceoryx2, Iceoryx2Retrying, remove_shared_memory};
use horus_compare::iceoryx_event::Iceoryx2Event;
use horus_compare::iceoryx_in_place::Iceoryx2InPlace;
use horus_compare::pipes::Pipes;
use horus_compare::rtrb::Rtrb;
use horus_compare::sockets::{Udp, UnixDatagrams, UnixPackets};
use horus_compare::tasks::{Large, Medium, Small};

const MESSAGES: u64 = 2_000;

/// A directory with a name that no other run has; goes, and what iceoryx2 left in shared memory with it.
struct Directory(tempfile::TempDir);

fn directory() -> Directory {
    Directory(tempfile::Builder::new().prefix("horus-compare-test-").tempdir().unwrap())
}

impl Directory {
    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let prefix = self.path().file_name().unwrap().to_str().unwrap();
        remove_shared_memory(|name| name.starts_with(prefix));
    }
}

fn nothing_is_wrong_in(measured: &Measured) {
    let counts = measured.counts;
    assert!(counts.sent > 0);
    assert_eq!((counts.lost, counts.corrupt, counts.repeated), (0, 0, 0), "{counts:?}");
}

fn threads<T: Threads<Small> + Threads<Medium> + Threads<Large>>() {
    let directory = directory();
    let stage = |name: &str| {
        let stage = Stage::for_tests(directory.path());
        Stage { meeting: stage.meeting.of(name), ..stage }
    };
    nothing_is_wrong_in(&same_thread::<T, Small>(&stage("same")).unwrap());
    nothing_is_wrong_in(&thread_to_thread::<T, Small>(&stage("small")).unwrap());
    nothing_is_wrong_in(&thread_to_thread::<T, Medium>(&stage("medium")).unwrap());
    nothing_is_wrong_in(&thread_to_thread::<T, Large>(&stage("large")).unwrap());
}

/// Two threads stand in for the two processes: an adapter cannot tell.
fn processes<P: Processes<Small> + Processes<Medium> + Processes<Large>>() {
    let directory = directory();
    let meeting = |name: &str| Meeting { name: name.to_owned(), directory: directory.path().to_owned() };
    there_and_back::<P, Small>(&meeting("small"));
    there_and_back::<P, Medium>(&meeting("medium"));
    there_and_back::<P, Large>(&meeting("large"));
}

fn there_and_back<P: Processes<M>, M: Content>(meeting: &Meeting) {
    let ends = |end| P::connect(meeting, end, 16);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| -> Result<(), Failure> {
            let (mut sender, mut receiver) = ends(End::Second)?;
            let mut message = M::new_zeroed();
            for _ in 0..MESSAGES {
                until(|| receiver.try_recv(&mut message));
                until(|| sender.try_send(&message));
            }
            until(|| receiver.try_recv(&mut message));
            Ok(())
        });
        let (mut sender, mut receiver) = ends(End::First).unwrap();
        let (mut prepared, mut answer) = (Prepared::<M>::new(), M::new_zeroed());
        for number in 0..MESSAGES {
            let mark = Mark::nth(number, 1);
            let message = *prepared.number(mark);
            until(|| sender.try_send(&message));
            until(|| receiver.try_recv(&mut answer));
            assert_eq!(verify(&answer), Some(mark));
        }
        // The second end has taken the last answer's place: neither leaves before the other is done.
        let last = *prepared.number(Mark::End { publisher: 0, sent: MESSAGES });
        until(|| sender.try_send(&last));
        second.join().unwrap().unwrap();
    });
}

fn until(mut done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        std::thread::yield_now();
        assert!(start.elapsed().as_secs() < 20, "stuck");
    }
}

#[test]
fn rtrb_carries_messages() {
    threads::<Rtrb>();
}

#[test]
fn disruptor_carries_messages() {
    threads::<Disruptor>();
}

#[test]
fn iceoryx2_carries_messages_between_threads() {
    threads::<Iceoryx2>();
}

#[test]
fn iceoryx2_carries_messages_between_processes() {
    processes::<Iceoryx2>();
    processes::<Iceoryx2Retrying>();
}

#[test]
fn iceoryx2_wakes_a_sleeper() {
    processes::<Iceoryx2Event>();
}

#[test]
fn iceoryx2_carries_64_kib_in_place() {
    let directory = directory();
    let meeting = Meeting { name: "large".to_owned(), directory: directory.path().to_owned() };
    there_and_back::<Iceoryx2InPlace<8192>, Small>(&meeting);
}

#[test]
fn pipes_carry_messages() {
    processes::<Pipes>();
}

#[test]
fn unix_datagrams_carry_messages() {
    processes::<UnixDatagrams>();
}

#[test]
fn unix_packets_carry_messages() {
    processes::<UnixPackets>();
}

#[test]
fn udp_carries_messages() {
    processes::<Udp>();
}

#[cfg(feature = "zeromq")]
#[test]
fn zeromq_carries_messages() {
    threads::<horus_compare::zeromq::ZeroMq>();
    processes::<horus_compare::zeromq::ZeroMq>();
}

#[cfg(feature = "aeron")]
#[test]
fn aeron_carries_messages() {
    threads::<horus_compare::aeron::Aeron>();
    processes::<horus_compare::aeron::Aeron>();
}
