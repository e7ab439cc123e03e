//! What a call costs: HORUS's services beside iceoryx2's request-response, a Unix socket and a ROS 2 service, and beside what the machine needs.
//!
//! All are measured in turns, window by window, and compared within a round. Times are half of a round trip, as all times here: a call is twice as long.

use std::process::ExitCode;

use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::floor;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{ASLEEP, Task};
use horus_benchmarks::systems::calls::{Calls, SleepingCalls};
use horus_benchmarks::systems::futex::RawFutex;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::systems::sleeping::Sleeping;
use horus_benchmarks::transport::{Failure, Small};
use horus_benchmarks::windows::{InWindows, Medians, ratio};
use horus_compare::iceoryx;
use horus_compare::iceoryx_calls::{Iceoryx2Calls, Iceoryx2SleepingCalls};
use horus_compare::ros2_service;
use horus_compare::sleeping_sockets::SleepingPackets;
use horus_compare::sockets::UnixPackets;

/// What a call may cost over its floor: 10 %.
const MOST: f64 = 1.1;
const SERVICE: &str = "horus service";
/// What a call is compared with, spinning and asleep: one message of a topic, one wake-up by the kernel.
const FLOORS: [(&str, bool); 2] = [("horus", false), ("raw futex", true)];

/// One cache line from CPU to CPU.
fn line(stage: &Stage) -> Result<Measured, Failure> {
    let mut samples = Samples::new(1);
    floor::play(stage, stage.effort.samples, |ns| samples.record(ns))?;
    Ok(Measured { samples: Some(samples), ..Measured::default() })
}

fn tasks() -> Vec<Task> {
    let mut tasks = vec![
        Task::new(Heading::new(Path::Thread1To1, "cache line", 8), line),
        Task::calls::<Horus, Small>().note("one message of a topic"),
        Task::calls::<Calls, Small>(),
        Task::calls::<Iceoryx2Calls, Small>(),
        Task::calls::<UnixPackets, Small>(),
        Task::threads::<RawFutex, Small>().asleep(),
        Task::calls::<Sleeping, Small>().note("one message of a topic").asleep(),
        Task::calls::<SleepingCalls, Small>().asleep(),
        Task::calls::<Iceoryx2SleepingCalls, Small>().note("woken by its event service").asleep(),
        Task::calls::<SleepingPackets, Small>().asleep(),
    ];
    tasks.extend(ros2_service::task());
    tasks
}

fn is(cell: &Cell, system: &str, sleeps: bool) -> bool {
    cell.heading.system == system && (cell.heading.wait == ASLEEP) == sleeps
}

/// A call over its floor, and each rival's call over ours.
fn summary(cells: &[Cell], medians: &[Medians]) -> Vec<String> {
    let mut told = Vec::new();
    for (floor, sleeps) in FLOORS {
        let find = |system: &str| cells.iter().position(|cell| is(cell, system, sleeps));
        let Some(own) = find(SERVICE) else { continue };
        let how = if sleeps { "asleep" } else { "spinning" };
        if let Some([lower, middle, upper]) = find(floor).and_then(|floor| ratio(&medians[own], &medians[floor])) {
            let holds = if middle <= MOST { "holds" } else { "is missed" };
            told.push(format!(
                "A call, {how}, takes {middle:.2} times two of {floor} (quarters {lower:.2} and {upper:.2}); at most {MOST}: {holds}."
            ));
        }
        for (cell, other) in cells.iter().zip(medians) {
            let heading = &cell.heading;
            let is_rival = ![SERVICE, "horus", "raw futex", "cache line"].contains(&heading.system.as_str());
            if is_rival
                && (heading.wait == ASLEEP) == sleeps
                && let Some([lower, middle, upper]) = ratio(other, &medians[own])
            {
                told.push(format!(
                    "{}, {how}: {middle:.1} times as long as a call of HORUS (quarters {lower:.1} and {upper:.1}).",
                    heading.system
                ));
            }
        }
    }
    told
}

fn main() -> ExitCode {
    let status = InWindows { name: "service_benchmark", tasks, summary }.main();
    iceoryx::sweep();
    status
}
