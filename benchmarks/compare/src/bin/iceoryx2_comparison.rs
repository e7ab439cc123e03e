//! HORUS beside iceoryx2 0.10: the same loops, payloads and checks, in one run.

use std::process::ExitCode;

use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_compare::iceoryx::{self, Iceoryx2};
use horus_compare::tasks::{processes, same_thread, threads};

fn tasks() -> Vec<Task> {
    let mut tasks = vec![same_thread::<Horus>(), same_thread::<Iceoryx2>()];
    tasks.extend(threads::<Horus>(""));
    tasks.extend(threads::<Iceoryx2>(""));
    tasks.extend(processes::<Horus>(""));
    tasks.extend(processes::<Iceoryx2>(""));
    tasks
}

fn main() -> ExitCode {
    let status = Suite { name: "iceoryx2_comparison", tasks, summary: |_| Vec::new() }.main();
    iceoryx::sweep();
    status
}
