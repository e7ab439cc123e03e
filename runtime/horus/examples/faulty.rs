//! A control node with a fault of your choice, to see what becomes of it: `FAULT=hang cargo run --example faulty`.
//!
//! | FAULT | in cycle 5 |
//! |---|---|
//! | `hang` | the step never returns |
//! | `sleep` | the step waits for ever, and takes no CPU |
//! | `panic` | the step panics |
//! | `late` | from then on, every step ends 45 ms after its release |
//! | `greedy` | from then on, every step takes 12 ms of CPU time, and its budget is 5 ms |
//! | nothing | nothing |

use horus::prelude::*;
use horus::time::{Clock, SystemClock};

const CYCLE: u64 = 5;

struct Faulty {
    cmd: Output<CmdVel>,
    fault: String,
}

impl Node for Faulty {
    fn step(&mut self, cycle: &Cycle) {
        self.cmd.set(CmdVel { forward: 1.0, turn: 0.0 });
        if cycle.number < CYCLE {
            return;
        }
        match self.fault.as_str() {
            "hang" => loop {
                std::hint::spin_loop();
            },
            "sleep" => loop {
                sleep(ms(1000));
            },
            "panic" => panic!("a wheel came off"),
            "late" => compute_until(cycle.release.plus(ms(45))),
            "greedy" => compute_for(ms(12)),
            _ => {}
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.cmd.set(CmdVel::STOP);
    }
}

fn compute_until(end: MonotonicTime) {
    while MonotonicTime::now() < end {
        std::hint::spin_loop();
    }
}

/// By the thread's own clock: on a busy machine that takes longer.
fn compute_for(span: std::time::Duration) {
    let end = SystemClock.cpu_time() + span.as_nanos() as u64;
    while SystemClock.cpu_time() < end {
        std::hint::spin_loop();
    }
}

fn faulty(app: &mut App) -> horus::Result {
    let node = Faulty { cmd: app.output("faulty.cmd")?, fault: std::env::var("FAULT").unwrap_or_default() };
    app.node("faulty", node).period(ms(50)).deadline(ms(40)).budget(ms(5)).on_miss(SafeState::after(3).within(100));
    Ok(())
}

/// Runs it; the test `faults` does so too.
pub fn run() -> horus::Result {
    let mut app = App::new("faulty")?;
    faulty(&mut app)?;
    app.run().map(|accounts| accounts.iter().for_each(|account| println!("{account}")))
}

#[cfg(not(test))]
fn main() -> horus::Result {
    run()
}
