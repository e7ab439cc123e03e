//! The cells that every comparison has: one system, one path, one payload.

use horus_benchmarks::cell::{Heading, Path};
use horus_benchmarks::options::Effort;
use horus_benchmarks::processes::{be_the_peer, process_to_process};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::threads::thread_to_thread;
use horus_benchmarks::transport::{Content, Payload, Processes, Threads};

/// 16 bytes: a velocity command.
pub type Small = Payload<2>;
/// 304 bytes: an IMU message.
pub type Medium = Payload<38>;
/// 1480 bytes: a laser scan.
pub type Large = Payload<185>;

/// System `T` in one thread, 16 bytes.
pub fn same_thread<T: Threads<Small> + 'static>() -> Task {
    Task::same_thread::<T, Small>(Heading::new(Path::SameThread, T::SYSTEM, size_of::<Small>()))
}

/// System `T` between two threads, three sizes.
pub fn threads<T: Threads<Small> + Threads<Medium> + Threads<Large> + 'static>(note: &str) -> Vec<Task> {
    let heading = |bytes| heading(Path::Thread1To1, <T as Threads<Small>>::SYSTEM, bytes, note);
    vec![
        Task::threads::<T, Small>(heading(size_of::<Small>())),
        Task::threads::<T, Medium>(heading(size_of::<Medium>())),
        Task::threads::<T, Large>(heading(size_of::<Large>())),
    ]
}

/// System `P` between two processes, three sizes.
pub fn processes<P: Processes<Small> + Processes<Medium> + Processes<Large> + 'static>(note: &str) -> Vec<Task> {
    let heading = |bytes| heading(Path::Process1To1, <P as Processes<Small>>::SYSTEM, bytes, note);
    vec![
        Task::processes::<P, Small>(heading(size_of::<Small>())),
        Task::processes::<P, Medium>(heading(size_of::<Medium>())),
        Task::processes::<P, Large>(heading(size_of::<Large>())),
    ]
}

/// As [`threads`], for a system that takes its time: its warm-up alone would use up the time of a quick run.
pub fn slow_threads<T: Threads<Small> + Threads<Medium> + Threads<Large> + 'static>(note: &str) -> Vec<Task> {
    fn task<T: Threads<M> + 'static, M: Content>(note: &str) -> Task {
        Task::new(heading(Path::Thread1To1, T::SYSTEM, size_of::<M>(), note), |stage| {
            thread_to_thread::<T, M>(&unhurried(stage))
        })
    }
    vec![task::<T, Small>(note), task::<T, Medium>(note), task::<T, Large>(note)]
}

/// As [`processes`], for a system that takes its time.
pub fn slow_processes<P: Processes<Small> + Processes<Medium> + Processes<Large> + 'static>(note: &str) -> Vec<Task> {
    fn task<P: Processes<M> + 'static, M: Content>(note: &str) -> Task {
        Task::new(heading(Path::Process1To1, P::SYSTEM, size_of::<M>(), note), |stage| {
            process_to_process::<P, M>(&unhurried(stage))
        })
        .with_peer(be_the_peer::<P, M>)
    }
    vec![task::<P, Small>(note), task::<P, Medium>(note), task::<P, Large>(note)]
}

/// A twentieth of the warm-up, and twice the time.
fn unhurried(stage: &Stage) -> Stage {
    let effort = Effort { warm_up: stage.effort.warm_up / 20, limit: 2 * stage.effort.limit, ..stage.effort };
    Stage { effort, ..stage.clone() }
}

fn heading(path: Path, system: &str, bytes: usize, note: &str) -> Heading {
    let heading = Heading::new(path, system, bytes);
    if note.is_empty() { heading } else { heading.note(note) }
}
