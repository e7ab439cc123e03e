//! A node that breaks its own deadlines, for tests of the witness: `PROVOKED=faults cargo run --example provoked`.
//!
//! | PROVOKED | what its steps do |
//! |---|---|
//! | `faults` | by turns: 8 MiB of new memory are touched; pages of the program's file are touched that nobody read before |
//! | `storm` | each computes for longer than its deadline |
//!
//! The program's memory must not be locked for the first, or its pages are there before they are touched.
//! `MALLOC_MMAP_THRESHOLD_=65536` gives each turn memory that is new.

use std::hint::black_box;

use horus::prelude::*;

/// So much of the program's file is read only where a step touches it. The kernel reads some hundred kilobytes around a touch.
static COLD: [u8; 16 << 20] = [1; 16 << 20];
const DISTANCE: usize = 256 << 10;
const PAGE: usize = 4096;

/// A node of faults: where in [`COLD`] it goes on.
struct Faults {
    cold: usize,
}

impl Node for Faults {
    fn step(&mut self, cycle: &Cycle) {
        match cycle.number % 2 {
            0 => {
                let mut memory = vec![0_u8; 8 << 20];
                memory.iter_mut().step_by(PAGE).for_each(|byte| *black_box(byte) = 1);
            }
            // Each reading is a fault that waits for the disk, until the cycle is late.
            _ => {
                while self.cold < COLD.len() && MonotonicTime::now() < cycle.deadline {
                    black_box(COLD[black_box(self.cold)]);
                    self.cold += DISTANCE;
                }
            }
        }
    }
}

fn main() -> std::process::ExitCode {
    match std::env::var("PROVOKED").as_deref() {
        Ok("storm") => horus::app::main("storm", |app| {
            let late = |cycle: &Cycle| while MonotonicTime::now() <= cycle.deadline {};
            app.node("storm", late).rate(10_000.0).deadline(us(50));
            Ok(())
        }),
        _ => horus::app::main("faults", |app| {
            app.node("faults", Faults { cold: 0 }).period(ms(500)).deadline(ms(5));
            Ok(())
        }),
    }
}
