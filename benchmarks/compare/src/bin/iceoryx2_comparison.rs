//! HORUS beside iceoryx2 0.10: the same loops, payloads and checks, in one run.

use std::process::ExitCode;

use horus_benchmarks::cell::{Cell, Heading};
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::systems::in_place::{Head, InPlace};
use horus_benchmarks::systems::sleeping::Sleeping;
use horus_benchmarks::transport::{Payload, Small};
use horus_compare::iceoryx::{self, Iceoryx2, Iceoryx2Retrying};
use horus_compare::iceoryx_event::Iceoryx2Event;
use horus_compare::iceoryx_in_place::Iceoryx2InPlace;
use horus_compare::joining;
use horus_compare::tasks::{processes, threads};

/// 64 KiB in words.
const LARGE: usize = 8192;

fn in_place(task: Task) -> Task {
    task.about(|heading| Heading { bytes: size_of::<Payload<LARGE>>(), ..heading }.message("in place"))
        .note("written and read in place, 16 bytes of the message touched")
}

fn tasks() -> Vec<Task> {
    let mut tasks = vec![Task::same_thread::<Horus, Small>(), Task::same_thread::<Iceoryx2, Small>()];
    tasks.extend(threads::<Horus>());
    tasks.extend(threads::<Iceoryx2>());
    tasks.extend(processes::<Horus>());
    tasks.extend(processes::<Iceoryx2>());
    tasks.extend(processes::<Iceoryx2Retrying>().map(|task| task.note("a full buffer is waited for inside send")));
    tasks.push(in_place(Task::processes::<InPlace<LARGE>, Head>()));
    tasks.push(in_place(Task::processes::<Iceoryx2InPlace<LARGE>, Head>()));
    tasks.push(Task::processes::<Sleeping, Small>().asleep());
    tasks.push(Task::processes::<Iceoryx2Event, Small>().note("woken by its event service").asleep());
    tasks.push(joining::horus());
    tasks.push(joining::iceoryx2());
    tasks
}

/// Median and worst of HORUS and iceoryx2, cell by cell.
fn summary(cells: &[Cell]) -> Vec<String> {
    let others = cells.iter().filter(|cell| cell.heading.system.starts_with("iceoryx2"));
    let line = |other: &Cell| {
        let like = |cell: &&Cell| {
            let (ours, theirs) = (&cell.heading, &other.heading);
            ours.system == "horus"
                && (ours.path, ours.bytes, &ours.unit, &ours.wait, &ours.message)
                    == (theirs.path, theirs.bytes, &theirs.unit, &theirs.wait, &theirs.message)
        };
        let ours = cells.iter().find(like)?;
        let faster = other.p50_ns? / ours.p50_ns?;
        let more = match (ours.per_second, other.per_second) {
            (Some(ours), Some(others)) => format!(", messages a second {:.1} times as many", ours / others),
            _ => String::new(),
        };
        let Heading { path, system, bytes, unit, wait, .. } = &other.heading;
        let path = path.name();
        Some(format!(
            "{path}, {bytes} bytes, {unit}, {wait}: the median of {system} is {faster:.1} times that of HORUS{more}."
        ))
    };
    others.filter_map(line).collect()
}

fn main() -> ExitCode {
    let status = Suite { name: "iceoryx2_comparison", tasks, summary }.main();
    iceoryx::sweep();
    status
}
