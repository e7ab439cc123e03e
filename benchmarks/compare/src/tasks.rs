//! The cells that every comparison has: one system, one path, one payload.

use horus_benchmarks::suite::Task;
use horus_benchmarks::transport::{Large, Medium, Processes, Small, Threads};

/// System `T` between two threads, three sizes.
pub fn threads<T: Threads<Small> + Threads<Medium> + Threads<Large> + 'static>() -> [Task; 3] {
    [Task::threads::<T, Small>(), Task::threads::<T, Medium>(), Task::threads::<T, Large>()]
}

/// System `P` between two processes, three sizes.
pub fn processes<P: Processes<Small> + Processes<Medium> + Processes<Large> + 'static>() -> [Task; 3] {
    [Task::processes::<P, Small>(), Task::processes::<P, Medium>(), Task::processes::<P, Large>()]
}
