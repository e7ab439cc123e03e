//! Every way that a message can take, with 16 bytes: one thread, threads, processes; one or two ends on either side.

use std::process::ExitCode;

use horus_benchmarks::cell::{Heading, Path};
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::Payload;

type Small = Payload<2>;

const SHARED: &str = "N = 2: publishers share one CPU, subscribers the other; an answer waits for all subscribers";

fn heading<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Heading {
    let heading = Heading::new(path, "horus", size_of::<Small>()).ends(PUBLISHERS, SUBSCRIBERS);
    if PUBLISHERS + SUBSCRIBERS > 2 { heading.note(SHARED) } else { heading }
}

fn threads<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Task {
    Task::threads::<Horus<PUBLISHERS, SUBSCRIBERS>, Small>(heading::<PUBLISHERS, SUBSCRIBERS>(path))
}

fn processes<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Task {
    Task::processes::<Horus<PUBLISHERS, SUBSCRIBERS>, Small>(heading::<PUBLISHERS, SUBSCRIBERS>(path))
}

fn tasks() -> Vec<Task> {
    vec![
        Task::same_thread::<Horus, Small>(heading::<1, 1>(Path::SameThread)),
        threads::<1, 1>(Path::Thread1To1),
        threads::<1, 2>(Path::Thread1ToN),
        threads::<2, 1>(Path::ThreadNTo1),
        threads::<2, 2>(Path::ThreadNToN),
        processes::<1, 1>(Path::Process1To1),
        processes::<1, 2>(Path::Process1ToN),
        processes::<2, 1>(Path::ProcessNTo1),
        processes::<2, 2>(Path::ProcessNToN),
    ]
}

fn main() -> ExitCode {
    Suite { name: "all_paths_latency", tasks, summary: |_| Vec::new() }.main()
}
