//! What a cycle takes from its CPU, seen by a thread that wants all the rest: `cycle_cost --releases 1000`, as root.
//!
//! A node of an empty step runs every millisecond. A thread of a lower real-time priority on the same CPU reads the clock all the time. When it finds that
//! a cycle was run since its last look, the time between is the cycle's: interrupt, switch, step and switch back. The cycle may have come before
//! or after that look's own reading of the clock, so the longer of both gaps counts. In QEMU's virtual time (`-icount`, one CPU), a nanosecond
//! is an instruction.
//!
//! Prints the number of such gaps, their lower quartile, median and upper quartile, and then the same of the wake-ups: from the release to the
//! step. On a machine with other CPUs the thread has to be bound to the node's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use horus::prelude::*;

/// The cycles at the start, which find cold memory, are not counted.
const WARM: u64 = 50;
/// So long after a cycle there is none to come.
const SILENCE_NS: u64 = 20_000_000;

fn main() -> std::process::ExitCode {
    let cycles = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&cycles);
    let watcher = std::thread::spawn(move || watch(&seen));
    let wakings = Arc::new(Mutex::new(Vec::with_capacity(1 << 20)));
    let ended = horus::app::main("cost", |app| {
        let (counted, wakings) = (Arc::clone(&cycles), Arc::clone(&wakings));
        app.node("cost", move |cycle: &Cycle| {
            let waking = cycle.wake.nanos_since(cycle.release);
            if counted.fetch_add(1, Ordering::Relaxed) > WARM {
                wakings.lock().expect("no other thread has it").push(waking);
            }
        })
        .period(ms(1));
        Ok(())
    });
    print_quartiles("gaps", watcher.join().expect("the watcher ends when cycles do"));
    print_quartiles("wakings", std::mem::take(&mut wakings.lock().expect("the node has ended")));
    ended
}

/// The gaps in a thread's time, until cycles end.
fn watch(cycles: &AtomicU64) -> Vec<u64> {
    let mut gaps = Vec::with_capacity(1 << 20);
    let (mut before, mut number, mut gap_of_new) = (MonotonicTime::now(), 0, None);
    let mut changed = before;
    loop {
        let (now, cycle) = (MonotonicTime::now(), cycles.load(Ordering::Relaxed));
        let gap = now.nanos_since(before);
        if let Some(last) = gap_of_new.take() {
            gaps.push(gap.max(last));
        }
        if cycle != number {
            changed = now;
            if number == WARM {
                raise();
            } else if cycle > WARM {
                gap_of_new = Some(gap);
            }
        } else if cycle > WARM && now.nanos_since(changed) > SILENCE_NS {
            return gaps;
        }
        (before, number) = (now, cycle);
    }
}

/// Puts the calling thread above ordinary ones, which would come between two cycles, and below the node.
fn raise() {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let done = std::process::Command::new("chrt").args(["--rr", "--pid", "1", &thread]).status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "chrt could not give this thread a real-time priority: run this as root"
    );
}

fn print_quartiles(what: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    match times.len() {
        0 => println!("{what}: 0 0 0 0"),
        count => println!("{what}: {count} {} {} {}", times[count / 4], times[count / 2], times[count * 3 / 4]),
    }
}
