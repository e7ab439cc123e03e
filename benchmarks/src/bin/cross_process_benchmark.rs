//! From process to process, one publisher and one subscriber: copied, in place, and to a subscriber that sleeps.

use std::process::ExitCode;

use horus_benchmarks::cell::{Cell, Heading};
use horus_benchmarks::suite::{ASLEEP, Suite, Task};
use horus_benchmarks::systems::futex::RawFutex;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::systems::in_place::{Head, InPlace};
use horus_benchmarks::systems::sleeping::Sleeping;
use horus_benchmarks::transport::{Large, Medium, Payload, Small};

/// Words of a message of 64 KiB.
const LARGE: usize = 8192;

fn in_place(heading: Heading) -> Heading {
    Heading { bytes: size_of::<Payload<LARGE>>(), ..heading }
        .message("in place")
        .note("only 16 bytes are written and read")
}

fn tasks() -> Vec<Task> {
    vec![
        Task::processes::<Horus, Small>(),
        Task::processes::<Horus, Medium>(),
        Task::processes::<Horus, Large>(),
        Task::processes::<Horus, Payload<LARGE>>(),
        Task::processes::<InPlace<LARGE>, Head>().about(in_place),
        Task::threads::<RawFutex, Small>().note("one slot: a wake for each message").asleep(),
        Task::threads::<Sleeping, Small>().asleep(),
        Task::processes::<Sleeping, Small>().asleep(),
    ]
}

/// What a wake-up costs above the least that it can.
fn summary(cells: &[Cell]) -> Vec<String> {
    let asleep = || cells.iter().filter(|cell| cell.heading.wait == ASLEEP);
    let Some(raw) = asleep().find(|cell| cell.heading.system == "raw futex").and_then(|cell| cell.p50_ns) else {
        return Vec::new();
    };
    let line = |cell: &Cell| {
        let (path, ratio) = (cell.heading.path.name(), cell.p50_ns? / raw);
        Some(format!(
            "Wake-up of a sleeper, {path}: median {ratio:.2} times a raw futex wake between threads ({raw:.0} ns)."
        ))
    };
    asleep().filter(|cell| cell.heading.system == "horus").filter_map(line).collect()
}

fn main() -> ExitCode {
    Suite { name: "cross_process_benchmark", tasks, summary }.main()
}
