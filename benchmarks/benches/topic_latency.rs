//! Criterion micro-benchmarks of a topic: send and receive in one thread, bytes and the messages of the field, and round
//! trips between two threads.
//!
//! For comparing two versions of the code on one machine. Figures to quote are those of the programs in `src/bin`, which
//! measure the floor beside them and verify what arrives.

use std::hint::{black_box, spin_loop};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use horus::message::Message;
use horus::messages::{BatteryState, CmdVel, Imu, JointCommand, LaserScan, Odometry, PointCloud1k, PointCloud100};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::options::LATENCY_CAPACITY;
use horus_benchmarks::pinning::{Cpus, pin_to};
use horus_benchmarks::stage::scratch;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::{Content, Meeting, Payload, Receiver, Sender, Threads};

/// On cache lines of its own, so that looking at it does not slow the timed thread's variables down.
#[repr(align(128))]
struct Flag(AtomicBool);

fn meeting(directory: &Path, name: &str) -> Meeting {
    Meeting { name: name.to_owned(), directory: directory.to_owned() }
}

fn same_thread<M: Message + Content>(criterion: &mut Criterion, directory: &Path, name: &str) {
    let (mut sender, mut receiver) =
        <Horus as Threads<M>>::channel(meeting(directory, &format!("same-{name}")), LATENCY_CAPACITY).expect("a topic");
    let message = *Prepared::<M>::default().number(Mark::nth(0, 1));
    let mut into = M::new_zeroed();
    let mut group = criterion.benchmark_group("topic_latency/same-thread");
    group.throughput(Throughput::Bytes(size_of::<M>() as u64));
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
        bencher.iter(|| {
            assert!(sender.try_send(black_box(&message)) && receiver.try_recv(black_box(&mut into)));
        });
        assert!(verify(&into).is_some());
    });
}

fn message_of_the_field<M: Message + Content>(criterion: &mut Criterion, directory: &Path) {
    same_thread::<M>(criterion, directory, M::TYPE_NAME.trim_start_matches("horus/"));
}

fn round_trip<const WORDS: usize>(criterion: &mut Criterion, directory: &Path, cpus: Cpus) {
    let bytes = size_of::<Payload<WORDS>>();
    let channel = |direction: &str| {
        let meeting = meeting(directory, &format!("{direction}-{bytes}"));
        <Horus as Threads<Payload<WORDS>>>::channel(meeting, LATENCY_CAPACITY)
    };
    let (mut there, mut arrives) = channel("there").expect("a topic");
    let (mut back, mut returns) = channel("back").expect("a topic");
    let stop = Flag(AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            let mut message = Payload([0; WORDS]);
            pin_to(cpus.second).expect("a second CPU");
            while !stop.0.load(Ordering::Relaxed) {
                if arrives.try_recv(&mut message) {
                    while !back.try_send(&message) && !stop.0.load(Ordering::Relaxed) {}
                }
                spin_loop(); // as in the programs' loops: a CPU that looks without a pause slows the other one down
            }
        });
        pin_to(cpus.first).expect("a first CPU");
        let message = *Prepared::default().number(Mark::nth(0, 1));
        let mut into = Payload([0; WORDS]);
        let mut group = criterion.benchmark_group("topic_latency/round-trip");
        group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
            bencher.iter(|| {
                while !there.try_send(black_box(&message)) {}
                while !returns.try_recv(black_box(&mut into)) {
                    spin_loop();
                }
            });
        });
        stop.0.store(true, Ordering::Relaxed);
    });
}

fn all(criterion: &mut Criterion) {
    let scratch = scratch().expect("a directory in memory");
    let directory = scratch.path();
    let cpus = Cpus::default_pair(); // before this thread is tied to one of them
    same_thread::<Payload<2>>(criterion, directory, "16");
    same_thread::<Payload<38>>(criterion, directory, "304");
    same_thread::<Payload<185>>(criterion, directory, "1480");
    message_of_the_field::<CmdVel>(criterion, directory);
    message_of_the_field::<BatteryState>(criterion, directory);
    message_of_the_field::<Imu>(criterion, directory);
    message_of_the_field::<Odometry>(criterion, directory);
    message_of_the_field::<JointCommand>(criterion, directory);
    message_of_the_field::<LaserScan>(criterion, directory);
    message_of_the_field::<PointCloud100>(criterion, directory);
    message_of_the_field::<PointCloud1k>(criterion, directory);
    round_trip::<2>(criterion, directory, cpus);
    round_trip::<38>(criterion, directory, cpus);
    round_trip::<185>(criterion, directory, cpus);
}

criterion_group!(benches, all);
criterion_main!(benches);
