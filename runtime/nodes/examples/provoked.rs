//! A node that breaks its own deadlines, for tests of the witness: `PROVOKED=minor cargo run --example provoked`.
//!
//! | PROVOKED | what its steps do |
//! |---|---|
//! | `minor` | 8 MiB of new memory are touched |
//! | `major` | pages of the program's file are touched that were not read before |
//! | `storm` | each computes for longer than its deadline |
//!
//! The program's memory must not be locked for the first two, or its pages are there before they are touched.
//! `MALLOC_MMAP_THRESHOLD_=65536` gives each step memory that is new.

use std::hint::black_box;

use horus::prelude::*;

/// So much of the program's file is read only where a step touches it. The kernel reads some hundred kilobytes around a touch.
static COLD: [u8; 16 << 20] = [1; 16 << 20];
const DISTANCE: usize = 256 << 10;
const PAGE: usize = 4096;

/// Touches memory that is new.
fn minor_faults(_: &Cycle) {
    let mut memory = vec![0_u8; 8 << 20];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *black_box(byte) = 1);
}

/// Touches what is still on the disk: where in [`COLD`] it goes on.
struct MajorFaults(usize);

impl Node for MajorFaults {
    /// Each reading is a fault that waits for the disk, until the cycle is late.
    fn step(&mut self, cycle: &Cycle) {
        while self.0 < COLD.len() && MonotonicTime::now() < cycle.deadline {
            black_box(COLD[black_box(self.0)]);
            self.0 += DISTANCE;
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
        Ok("major") => horus::app::main("major", |app| {
            app.node("major", MajorFaults(0)).period(ms(1500)).deadline(ms(5));
            Ok(())
        }),
        _ => horus::app::main("minor", |app| {
            app.node("minor", minor_faults).period(ms(1500)).deadline(ms(5));
            Ok(())
        }),
    }
}
