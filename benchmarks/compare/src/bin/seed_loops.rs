//! Loops that others published their figures from, as they were, with HORUS in the same loops; each marked as such.

use std::process::ExitCode;

use horus_benchmarks::suite::{Suite, Task};
use horus_compare::{iceoryx, seed_csharp, seed_tables};

fn tasks() -> Vec<Task> {
    seed_tables::loops().into_iter().chain(seed_csharp::loops()).collect()
}

fn main() -> ExitCode {
    let summary = |_: &_| vec!["Every line is a loop that others published figures from, as it was.".to_owned()];
    let status = Suite { name: "seed_loops", tasks, summary }.main();
    iceoryx::sweep();
    status
}
