//! Sender and receiver: an open loop, which sends when it is time and not when an answer came.
//!
//! Each message carries the time at which it was to be sent. Where the sender itself is late, the message's latency says so. Without a
//! rate the sender only waits for what is under way to get less than [`WINDOW`]; latencies would say nothing then, and are left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use horus_benchmarks::transport::Failure;
use horus_measure::meter::Meter;
use horus_sys::clock::monotonic_ns;

use super::plan::{Known, Plan, WINDOW};
use super::way::{Receiving, Sending, System, Way};

/// Before this long, the sender sleeps; after it, it spins.
const SPIN_NS: u64 = 60_000;
/// How long after the last message was sent a missing one is waited for, and how long a first one.
const PATIENCE_NS: u64 = 3_000_000_000;
/// What has not come by then after the last was sent, counts as lost: a system that takes in more than it hands out may have a long queue.
const DRAIN_NS: u64 = 5_000_000_000;
/// How long between messages that try whether a subscriber listens.
const PROBE_NS: u64 = 2_000_000;

/// What became of the messages.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Sent.
    pub sent: u64,
    /// Received whole, for the first time.
    pub received: u64,
    /// Received once more.
    pub twice: u64,
    /// Received after one with a higher number.
    pub out_of_order: u64,
    /// Received and not as they were sent.
    pub wrong: u64,
    /// From the first that was sent to the last that was sent, and to the last that came.
    pub sending_ns: u64,
    /// To the last that came.
    pub delivering_ns: u64,
    /// Latencies.
    pub latency: Meter,
}

/// What both threads know.
#[derive(Default)]
struct Shared {
    is_heard: AtomicBool,
    received: AtomicU64,
    /// How many were sent, once all are.
    sent: AtomicU64,
    /// When the last message was sent, or 0.
    ended_ns: AtomicU64,
}

/// Sends all messages of a plan by a system, and receives them.
///
/// # Errors
/// When the way is broken.
pub fn run(system: &System, plan: &Plan) -> Result<Outcome, Failure> {
    let Way { mut sending, mut receiving, middle } = (system.open)(plan)?;
    let shared = Arc::new(Shared::default());
    let plan = *plan;
    let receiver = {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || receive(&mut *receiving, &plan, &shared).map_err(|error| error.to_string()))
    };
    let began = send(&mut *sending, &plan, &shared);
    if began.is_err() {
        shared.ended_ns.store(1, Ordering::Relaxed); // so that the receiver ends
    }
    let received = receiver.join().expect("a panic there was printed there");
    drop((sending, middle)); // in this order: an end may need the middle to take its leave
    let (began, (mut outcome, last_ns)) = (began?, received?);
    outcome.sent = shared.sent.load(Ordering::Relaxed);
    outcome.sending_ns = shared.ended_ns.load(Ordering::Relaxed).saturating_sub(began);
    outcome.delivering_ns = last_ns.saturating_sub(began);
    Ok(outcome)
}

/// When it began.
fn send(way: &mut dyn Sending, plan: &Plan, shared: &Shared) -> Result<u64, Failure> {
    let until = monotonic_ns() + 10 * PATIENCE_NS;
    while !shared.is_heard.load(Ordering::Relaxed) {
        way.send(&plan.probe())?;
        wait_until(monotonic_ns() + PROBE_NS);
        if monotonic_ns() > until {
            return Err("nothing that was sent arrives".into());
        }
    }
    wait_until(monotonic_ns() + 50 * PROBE_NS); // what tried has passed by then
    let began = monotonic_ns();
    let mut bytes = Vec::new();
    let mut sent = 0;
    while sent < plan.count && monotonic_ns() - began < plan.longest_ns {
        let messages = (plan.batch as u64).min(plan.count - sent);
        let due_ns = if plan.rate > 0.0 {
            let due_ns = began + (sent as f64 / plan.rate * 1e9) as u64;
            wait_until(due_ns);
            due_ns
        } else {
            let mut patience = monotonic_ns() + PATIENCE_NS;
            let mut received = shared.received.load(Ordering::Relaxed);
            while sent - received > WINDOW {
                std::thread::yield_now();
                let now = shared.received.load(Ordering::Relaxed);
                if now > received {
                    (received, patience) = (now, monotonic_ns() + PATIENCE_NS);
                } else if monotonic_ns() > patience {
                    return Err(format!("{} messages are lost, and nothing comes any more", sent - received).into());
                }
            }
            monotonic_ns()
        };
        bytes.clear();
        (sent..sent + messages).for_each(|number| plan.write(number, due_ns, &mut bytes));
        way.send(&bytes)?;
        sent += messages;
    }
    shared.sent.store(sent, Ordering::Relaxed);
    shared.ended_ns.store(monotonic_ns(), Ordering::Release); // SYNC POINT: end of a load; the receiver's clock is the same
    Ok(began)
}

/// Sleeps, and spins the last of the time.
pub fn wait_until(due_ns: u64) {
    loop {
        let left = due_ns.saturating_sub(monotonic_ns());
        match left {
            0 => return,
            1..=SPIN_NS => std::hint::spin_loop(),
            _ => std::thread::sleep(Duration::from_nanos(left - SPIN_NS)),
        }
    }
}

/// What came, and when the last of it did.
fn receive(way: &mut dyn Receiving, plan: &Plan, shared: &Shared) -> Result<(Outcome, u64), Failure> {
    let mut outcome = Outcome { latency: Meter::new(), ..Outcome::default() };
    let mut seen = vec![false; usize::try_from(plan.count)?];
    let (mut highest, mut last_ns) = (None, 0);
    while outcome.received < plan.count {
        let ended_ns = shared.ended_ns.load(Ordering::Acquire); // SYNC POINT: end of a load; how many were sent is known then
        if ended_ns > 0 {
            let until = (ended_ns.max(last_ns) + PATIENCE_NS).min(ended_ns + DRAIN_NS);
            if outcome.received >= shared.sent.load(Ordering::Relaxed) || monotonic_ns() > until {
                break;
            }
        }
        let mut now = 0;
        way.receive(&mut |message| {
            if now == 0 {
                now = monotonic_ns(); // what came together came at one time
            }
            match plan.read(message) {
                Known::Probe => shared.is_heard.store(true, Ordering::Relaxed),
                Known::Wrong => outcome.wrong += 1,
                Known::Message { number, due_ns } => {
                    let Some(seen) = usize::try_from(number).ok().and_then(|number| seen.get_mut(number)) else {
                        return outcome.wrong += 1;
                    };
                    if std::mem::replace(seen, true) {
                        return outcome.twice += 1;
                    }
                    outcome.received += 1;
                    outcome.out_of_order += u64::from(highest.is_some_and(|highest| number < highest));
                    highest = highest.max(Some(number));
                    if plan.rate > 0.0 {
                        outcome.latency.record(now.saturating_sub(due_ns), number);
                    }
                    last_ns = now;
                }
            }
        })?;
        shared.received.store(outcome.received, Ordering::Relaxed);
    }
    Ok((outcome, last_ns))
}
