//! The loops behind the tables "HORUS vs iceoryx2" and "HORUS vs Raw UDP" of the original HORUS.
//!
//! Read in softmata/horus, `benchmarks/src/bin/iceoryx2_comparison.rs` and `competitor_comparison.rs`: what is timed is
//! theirs, the code is ours. Its own topic types are not here: where it used one, there is a topic of ours.

use std::hint::black_box;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use horus::topic::{Options, Publisher, Subscriber, WaitStrategy};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::patience::PATIENCE;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::transport::{Failure, Meeting, Payload};
use iceoryx2::prelude::{ServiceName, ipc};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use crate::iceoryx::{Marked, config, node};
use crate::seed::{calls_per_second, duration, each_call, task};

type Word = Payload<1>;
const WORD: Word = Payload([7]);
const ENDS: usize = 2;

pub fn loops() -> Vec<Task> {
    let same = |system, bytes, unit| Heading::new(Path::SameThread, system, bytes).unit(unit);
    let one_thread = "one thread: the message never leaves its CPU; two clock reads are in each time";
    let alone = "no peer subscribes: a message goes nowhere";
    let successful = "neither sending nor waiting is timed, only the call that finds a message; unpinned";
    let mpmc =
        |system| Heading::new(Path::ThreadNToN, system, 8).ends(ENDS, ENDS).unit("successful receive call alone");
    vec![
        task(same("horus", 8, "send + receive"), one_thread, |stage| horus_same_thread::<1>(stage, false)),
        task(same("iceoryx2", 8, "send + receive"), one_thread, |stage| iceoryx2_same_thread(stage, false)),
        task(same("udp", 8, "send + receive"), one_thread, udp_same_thread::<8>),
        task(same("horus", 32, "send + receive"), one_thread, |stage| horus_same_thread::<4>(stage, false)),
        task(same("udp", 32, "send + receive"), one_thread, udp_same_thread::<32>),
        task(same("horus", 8, "throughput"), one_thread, |stage| horus_same_thread::<1>(stage, true)),
        task(same("iceoryx2", 8, "throughput"), one_thread, |stage| iceoryx2_same_thread(stage, true)),
        task(same("horus", 8, "send without subscriber"), alone, horus_alone),
        task(same("iceoryx2", 8, "send without subscriber"), alone, iceoryx2_alone),
        task(mpmc("horus"), successful, horus_mpmc),
        task(mpmc("iceoryx2"), successful, iceoryx2_mpmc),
    ]
}

fn options(meeting: &Meeting) -> Options {
    Options::latest(64).publishers(ENDS + 1).directory(&meeting.directory).wait_strategy(WaitStrategy::Spin)
}

fn horus_same_thread<const WORDS: usize>(stage: &Stage, throughput: bool) -> Result<Measured, Failure> {
    let (name, options) = (&stage.meeting.name, options(&stage.meeting));
    let mut publisher = Publisher::<Payload<WORDS>>::open(name, &options)?;
    let mut subscriber = Subscriber::<Payload<WORDS>>::open(name, &options)?;
    let call = || {
        let _ = publisher.try_send(black_box(Payload([7; WORDS])));
        black_box(subscriber.try_recv());
    };
    Ok(if throughput { calls_per_second(stage, call) } else { each_call(stage, call) })
}

fn horus_alone(stage: &Stage) -> Result<Measured, Failure> {
    let mut publisher = Publisher::<Word>::open(&stage.meeting.name, options(&stage.meeting))?;
    Ok(calls_per_second(stage, || {
        let _ = publisher.try_send(black_box(WORD));
    }))
}

fn horus_mpmc(stage: &Stage) -> Result<Measured, Failure> {
    let (name, options) = (&stage.meeting.name, options(&stage.meeting));
    let publisher = || Publisher::<Word>::open(name, &options);
    let _first = publisher()?;
    mpmc(
        stage,
        || {
            let mut publisher = publisher()?;
            Ok(move || publisher.try_send(WORD).is_ok())
        },
        || {
            let mut subscriber = Subscriber::<Word>::open(name, &options)?;
            Ok(move || subscriber.try_recv().is_some())
        },
    )
}

/// A service as iceoryx2 makes it when it is told nothing, but for the number of publishers.
fn default_service(meeting: &Meeting) -> Result<PortFactory<ipc::Service, Marked<Word>, ()>, Failure> {
    let node = node(&config(&meeting.directory)?)?;
    let builder = node.service_builder(&ServiceName::new(&meeting.name)?).publish_subscribe::<Marked<Word>>();
    Ok(builder.max_publishers(ENDS + 1).open_or_create()?)
}

fn iceoryx2_same_thread(stage: &Stage, throughput: bool) -> Result<Measured, Failure> {
    let service = default_service(&stage.meeting)?;
    let publisher = service.publisher_builder().create()?;
    let subscriber = service.subscriber_builder().create()?;
    let call = || {
        let _ = publisher.send_copy(black_box(Marked(WORD)));
        let _ = black_box(subscriber.receive());
    };
    Ok(if throughput { calls_per_second(stage, call) } else { each_call(stage, call) })
}

fn iceoryx2_alone(stage: &Stage) -> Result<Measured, Failure> {
    let publisher = default_service(&stage.meeting)?.publisher_builder().create()?;
    Ok(calls_per_second(stage, || {
        let _ = publisher.send_copy(black_box(Marked(WORD)));
    }))
}

fn iceoryx2_mpmc(stage: &Stage) -> Result<Measured, Failure> {
    mpmc(
        stage,
        || {
            let publisher = default_service(&stage.meeting)?.publisher_builder().create()?;
            Ok(move || publisher.send_copy(Marked(WORD)).is_ok())
        },
        || {
            let subscriber = default_service(&stage.meeting)?.subscriber_builder().create()?;
            Ok(move || subscriber.receive().is_ok_and(|sample| sample.is_some()))
        },
    )
}

/// Two threads that publish and two that receive, each with an end of its own; calls that found a message are timed.
fn mpmc<S: FnMut() -> bool, R: FnMut() -> bool>(
    stage: &Stage,
    sender: impl Fn() -> Result<S, Failure> + Sync,
    receiver: impl Fn() -> Result<R, Failure> + Sync,
) -> Result<Measured, Failure> {
    let here = AtomicUsize::new(0);
    let wait_for_all = || {
        here.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        while here.load(Ordering::Relaxed) < 2 * ENDS && began.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    };
    let length = duration(stage);
    let mut samples = Samples::new(1);
    std::thread::scope(|scope| {
        let publishing = |_| {
            scope.spawn(|| -> Result<(), Failure> {
                let mut send = sender()?;
                wait_for_all();
                let began = Instant::now();
                while began.elapsed() < length {
                    send();
                }
                Ok(())
            })
        };
        let receiving = |_| {
            scope.spawn(|| -> Result<Samples, Failure> {
                let (mut take, mut times) = (receiver()?, Samples::new(1));
                wait_for_all();
                let began = Instant::now();
                while began.elapsed() < length {
                    let start = Instant::now();
                    if take() {
                        times.record(start.elapsed().as_nanos() as u64);
                    }
                }
                Ok(times)
            })
        };
        let publishers: Vec<_> = (0..ENDS).map(publishing).collect();
        let subscribers: Vec<_> = (0..ENDS).map(receiving).collect();
        for publisher in publishers {
            publisher.join().map_err(|_| "a publisher panicked")??;
        }
        for subscriber in subscribers {
            samples.meter.add(&subscriber.join().map_err(|_| "a subscriber panicked")??.meter);
        }
        Ok(Measured { samples: Some(samples), ..Measured::default() })
    })
}

fn udp_same_thread<const BYTES: usize>(stage: &Stage) -> Result<Measured, Failure> {
    let (sender, receiver) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    sender.connect(receiver.local_addr()?)?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    let mut into = [0; BYTES];
    Ok(each_call(stage, || {
        let _ = sender.send(black_box(&[7; BYTES]));
        let _ = black_box(receiver.recv(&mut into));
    }))
}
