//! The loop behind the table of iceoryx2's C# binding (patdhlk/iceoryx2-csharp-int, `examples/PerformanceComparison`).
//!
//! Two threads of one process, unpinned. The producer loans and sends, and never writes the payload; the consumer
//! receives and drops it unread. The buffer overflows, so that messages get lost; those that came are counted. Here
//! without .NET: the loop's shape is theirs, the costs of the binding are not in it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use horus::topic::{Options, Publisher, Subscriber, WaitStrategy};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::{Failure, Meeting, Payload};
use iceoryx2::prelude::ServiceName;
use rustix::time::{ClockId, clock_gettime};

use crate::iceoryx::{Marked, config, node};
use crate::seed::{duration, task};

/// The loops: 8 bytes, 1 KiB, 64 KiB, 512 KiB.
pub fn loops() -> Vec<Task> {
    [of::<1>(), of::<128>(), of::<8192>(), of::<65536>()].into_iter().flatten().collect()
}

fn of<const WORDS: usize>() -> [Task; 2] {
    let bytes = size_of::<Payload<WORDS>>();
    let heading = |system| Heading::new(Path::Thread1To1, system, bytes).unit("C# throughput");
    let note = "payload neither written nor read; losses allowed; two unpinned threads of one process";
    [task(heading("horus"), note, horus::<WORDS>), task(heading("iceoryx2"), note, iceoryx2::<WORDS>)]
}

/// 1024 as theirs, but no more than 64 MiB: HORUS holds all of a topic in memory from the start.
fn capacity(bytes: usize) -> usize {
    ((64 << 20) / bytes).min(1024)
}

fn horus<const WORDS: usize>(stage: &Stage) -> Result<Measured, Failure> {
    let options = Options::latest(capacity(size_of::<Payload<WORDS>>()))
        .directory(&stage.meeting.directory)
        .wait_strategy(WaitStrategy::Spin);
    let name = &stage.meeting.name;
    let mut publisher = Publisher::<Payload<WORDS>>::open(name, &options)?;
    let mut subscriber = Subscriber::<Payload<WORDS>>::open(name, &options)?;
    let send = move || publisher.loan().map(|loan| loan.publish()).is_ok();
    throughput(stage, || Ok(send), || subscriber.borrow().is_some())
}

fn iceoryx2<const WORDS: usize>(stage: &Stage) -> Result<Measured, Failure> {
    let capacity = capacity(size_of::<Payload<WORDS>>());
    let meeting = stage.meeting.clone();
    let open = move |meeting: &Meeting| -> Result<_, Failure> {
        let node = node(&config(&meeting.directory)?)?;
        let builder = node.service_builder(&ServiceName::new(&meeting.name)?);
        let builder = builder.publish_subscribe::<Marked<Payload<WORDS>>>().subscriber_max_buffer_size(capacity);
        Ok(builder.enable_safe_overflow(true).max_subscribers(1).open_or_create()?)
    };
    let subscriber = open(&stage.meeting)?.subscriber_builder().buffer_size(capacity).create()?;
    throughput(
        stage,
        move || {
            let publisher = open(&meeting)?.publisher_builder().create()?;
            Ok(move || {
                let Ok(sample) = publisher.loan_uninit() else { return false };
                // SAFETY: the sample lies in memory that the kernel handed out zeroed, and any bytes are valid words.
                let sample = unsafe { sample.assume_init() };
                sample.send().is_ok()
            })
        },
        || subscriber.receive().is_ok_and(|sample| sample.is_some()),
    )
}

/// Sends in a thread of its own, by what `sender` makes there, and takes in this one.
fn throughput<S: FnMut() -> bool>(
    stage: &Stage,
    sender: impl FnOnce() -> Result<S, Failure> + Send,
    mut take: impl FnMut() -> bool,
) -> Result<Measured, Failure> {
    let warm_up = if stage.effort.is_quick() { Duration::from_millis(100) } else { Duration::from_secs(2) };
    let over = AtomicBool::new(false);
    let sent = AtomicU64::new(0);
    let mut take_until = |end: Instant| {
        let mut taken = 0_u64;
        while Instant::now() < end {
            taken += u64::from(take());
        }
        taken
    };
    std::thread::scope(|scope| {
        let producer = scope.spawn(|| -> Result<(), Failure> {
            let mut send = sender()?;
            while !over.load(Ordering::Relaxed) {
                if send() {
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        });
        take_until(Instant::now() + warm_up);
        let (start, sent_before, used_before) = (Instant::now(), sent.load(Ordering::Relaxed), processor_time());
        let received = take_until(start + duration(stage));
        let seconds = start.elapsed().as_secs_f64();
        let used = (processor_time() - used_before).as_secs_f64() / seconds;
        let sent = sent.load(Ordering::Relaxed) - sent_before;
        over.store(true, Ordering::Relaxed);
        producer.join().map_err(|_| "the producer panicked")??;
        Ok(Measured {
            counts: Counts { sent, received, lost: sent.saturating_sub(received), ..Counts::default() },
            per_second: Some(received as f64 / seconds),
            note: Some(format!("{:.0} % of a CPU", 100.0 * used)),
            ..Measured::default()
        })
    })
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
