//! The floor beside every figure, measured by a thread of its own: who measures it is tied to a CPU from then on, and with it every process
//! that it starts.

use horus_benchmarks::stage::Stage;
use horus_benchmarks::transport::Failure;

/// One cache line from CPU to CPU, in nanoseconds.
///
/// # Errors
/// When it cannot be measured.
pub fn measure(stage: &Stage) -> Result<f64, Failure> {
    std::thread::scope(|scope| {
        let measured = scope.spawn(|| horus_benchmarks::floor::measure(stage));
        measured.join().expect("a panic there was printed there")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::sched_getaffinity;

    #[test]
    fn who_asks_for_the_floor_may_run_everywhere_afterwards() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let before = sched_getaffinity(None).unwrap();
        measure(&Stage::for_tests(directory.path())).unwrap();
        assert!(sched_getaffinity(None).unwrap() == before);
    }
}
