//! What a cycle takes from its CPU, seen by a thread that wants all the rest: `cargo run --release --example cycle_cost -- --releases 1000`.
//!
//! A node of an empty step runs every millisecond. An ordinary thread on the same CPU reads the clock all the time. When it finds that
//! a cycle was run since its last look, the time between is the cycle's: interrupt, switch, step and switch back. The cycle may have come before
//! or after that look's own reading of the clock, so the longer of both gaps counts. In QEMU's virtual time (`-icount`, one CPU), a nanosecond
//! is an instruction.
//!
//! Prints the number of such gaps, their lower quartile, median and upper quartile. On a machine with other CPUs the thread has to be bound
//! to the node's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use horus::prelude::*;

/// The cycles at the start, which find cold memory, are not counted.
const WARM: u64 = 50;

fn main() -> std::process::ExitCode {
    let (cycles, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (seen, over) = (Arc::clone(&cycles), Arc::clone(&stop));
    let watcher = std::thread::spawn(move || {
        let mut gaps = Vec::with_capacity(1 << 20);
        let (mut before, mut number, mut gap_of_new) = (MonotonicTime::now(), 0, None);
        while !over.load(Ordering::Relaxed) {
            let (now, cycle) = (MonotonicTime::now(), seen.load(Ordering::Relaxed));
            let gap = now.nanos_since(before);
            if let Some(last) = gap_of_new.take() {
                gaps.push(gap.max(last));
            }
            if cycle != number && cycle > WARM {
                gap_of_new = Some(gap);
            }
            (before, number) = (now, cycle);
        }
        gaps
    });
    let ended = horus::app::main("cost", |app| {
        let counted = Arc::clone(&cycles);
        app.node("cost", move |_: &Cycle| {
            counted.fetch_add(1, Ordering::Relaxed);
        })
        .period(ms(1));
        Ok(())
    });
    stop.store(true, Ordering::Relaxed);
    let mut gaps = watcher.join().expect("the watcher only reads clocks");
    gaps.sort_unstable();
    match gaps.len() {
        0 => println!("gaps: 0 0 0 0"),
        count => println!("gaps: {count} {} {} {}", gaps[count / 4], gaps[count / 2], gaps[count * 3 / 4]),
    }
    ended
}
