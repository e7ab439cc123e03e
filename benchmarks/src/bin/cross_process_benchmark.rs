//! From process to process: one publisher, one subscriber, messages of three sizes.

use std::process::ExitCode;

use horus_benchmarks::cell::{Heading, Path};
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::Payload;

fn processes<const WORDS: usize>() -> Task {
    Task::processes::<Horus, Payload<WORDS>>(Heading::new(Path::Process1To1, "horus", size_of::<Payload<WORDS>>()))
}

fn tasks() -> Vec<Task> {
    vec![processes::<2>(), processes::<38>(), processes::<185>()]
}

fn main() -> ExitCode {
    Suite { name: "cross_process_benchmark", tasks, summary: |_| Vec::new() }.main()
}
