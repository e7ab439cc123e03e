//! From process to process, one publisher and one subscriber: copied, in place, and to a subscriber that sleeps.

use std::process::ExitCode;

use horus_benchmarks::cell::{Cell, Heading, Path};
use horus_benchmarks::suite::{ASLEEP, Suite, Task};
use horus_benchmarks::systems::futex::RawFutex;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::systems::in_place::{Head, InPlace};
use horus_benchmarks::systems::sleeping::Sleeping;
use horus_benchmarks::transport::Payload;

/// Words of a message of 64 KiB.
const LARGE: usize = 8192;

fn heading(bytes: usize) -> Heading {
    Heading::new(Path::Process1To1, "horus", bytes)
}

fn copied<const WORDS: usize>() -> Task {
    Task::processes::<Horus, Payload<WORDS>>(heading(size_of::<Payload<WORDS>>()))
}

fn tasks() -> Vec<Task> {
    let in_place = heading(size_of::<Payload<LARGE>>()).message("in place").note("only 16 bytes are written and read");
    let threads = |system| Heading::new(Path::Thread1To1, system, size_of::<Head>());
    vec![
        copied::<2>(),
        copied::<38>(),
        copied::<185>(),
        copied::<LARGE>(),
        Task::processes::<InPlace<LARGE>, Head>(in_place),
        Task::threads::<RawFutex, Head>(threads("raw futex").note("one slot: a wake for each message")).asleep(),
        Task::threads::<Sleeping, Head>(threads("horus")).asleep(),
        Task::processes::<Sleeping, Head>(heading(size_of::<Head>())).asleep(),
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
