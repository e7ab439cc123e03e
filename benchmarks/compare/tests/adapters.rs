//! Every adapter carries messages whole, once and in order, by the loops that measure it.

use std::path::Path;

use horus_benchmarks::cell::Measured;
use horus_benchmarks::loops::{ping, pong};
use horus_benchmarks::options::Effort;
use horus_benchmarks::patience::{NEVER, PATIENCE, Patience};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::systems::calls::{Calls, SleepingCalls};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::threads::{same_thread, thread_to_thread};
use horus_benchmarks::transport::{Content, End, Large, Link, Medium, Meeting, Processes, Small, Threads};
use horus_compare::disruptor::Disruptor;
use horus_compare::iceoryx::{Iceoryx2, Iceoryx2Retrying, remove_shared_memory};
use horus_compare::iceoryx_calls::{Iceoryx2Calls, Iceoryx2SleepingCalls};
use horus_compare::iceoryx_event::Iceoryx2Event;
use horus_compare::iceoryx_in_place::Iceoryx2InPlace;
use horus_compare::pipes::Pipes;
use horus_compare::rtrb::Rtrb;
use horus_compare::sleeping_sockets::SleepingPackets;
use horus_compare::sockets::{Udp, UnixDatagrams, UnixPackets};

/// Round trips of a test.
const ROUNDS: u64 = Effort::TEST.samples + Effort::TEST.warm_up;

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
    there_and_back::<P, Small>(directory.path());
    there_and_back::<P, Medium>(directory.path());
    there_and_back::<P, Large>(directory.path());
}

fn there_and_back<P: Processes<M>, M: Content>(directory: &Path) {
    let meeting = Meeting { name: format!("{}-bytes", size_of::<M>()), directory: directory.to_owned() };
    let link = |end| Link { meeting: meeting.clone(), end };
    let patience = || Patience::new(PATIENCE, &NEVER).sharing(true);
    let (sent, received) = std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let (mut sender, mut receiver) = P::connect(link(End::Second), 16).unwrap();
            pong(&mut receiver, &mut sender, &patience()).unwrap()
        });
        let (mut sender, mut receiver) = P::connect(link(End::First), 16).unwrap();
        let sent = ping(&mut sender, &mut receiver, &Effort::TEST, &patience()).unwrap().1;
        // The second end has taken the last message's place: neither leaves before the other is done.
        (sent, second.join().unwrap())
    });
    let wanted = Counts { sent: ROUNDS, received: ROUNDS, ..Counts::default() };
    assert_eq!((sent, received), (wanted, wanted));
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
fn calls_of_services_have_their_answers() {
    processes::<Calls>();
    processes::<SleepingCalls>();
}

#[test]
fn calls_of_iceoryx2_have_their_answers() {
    processes::<Iceoryx2Calls>();
    processes::<Iceoryx2SleepingCalls>();
}

#[test]
fn iceoryx2_carries_64_kib_in_place() {
    there_and_back::<Iceoryx2InPlace<8192>, Small>(directory().path());
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
    processes::<SleepingPackets>();
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
