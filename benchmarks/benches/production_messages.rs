//! Criterion micro-benchmarks of the messages of the field: each sent and received in one thread.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use horus::message::Message;
use horus::messages::{BatteryState, CmdVel, Imu, JointCommand, LaserScan, Odometry, PointCloud1k, PointCloud100};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::options::LATENCY_CAPACITY;
use horus_benchmarks::stage::Scratch;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::{Content, Meeting, Receiver, Sender, Threads};

fn send_and_receive<M: Message + Content>(criterion: &mut Criterion, scratch: &Scratch) {
    let name = M::TYPE_NAME.trim_start_matches("horus/");
    let meeting = Meeting { name: name.to_owned(), directory: scratch.path().to_owned() };
    let (mut sender, mut receiver) = <Horus as Threads<M>>::channel(&meeting, LATENCY_CAPACITY).expect("a topic");
    let message = *Prepared::<M>::new().number(Mark::nth(0, 1));
    let mut into = M::new_zeroed();
    let mut group = criterion.benchmark_group("production_messages");
    group.throughput(Throughput::Bytes(size_of::<M>() as u64));
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
        bencher.iter(|| {
            assert!(sender.try_send(black_box(&message)) && receiver.try_recv(black_box(&mut into)));
        });
        assert!(verify(&into).is_some());
    });
}

fn all(criterion: &mut Criterion) {
    let scratch = Scratch::new().expect("a directory in memory");
    send_and_receive::<CmdVel>(criterion, &scratch);
    send_and_receive::<BatteryState>(criterion, &scratch);
    send_and_receive::<Imu>(criterion, &scratch);
    send_and_receive::<Odometry>(criterion, &scratch);
    send_and_receive::<JointCommand>(criterion, &scratch);
    send_and_receive::<LaserScan>(criterion, &scratch);
    send_and_receive::<PointCloud100>(criterion, &scratch);
    send_and_receive::<PointCloud1k>(criterion, &scratch);
}

criterion_group!(benches, all);
criterion_main!(benches);
