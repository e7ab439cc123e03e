//! The cells that every comparison has: one system, one path, one payload.

use horus_benchmarks::cell::{Heading, Path};
use horus_benchmarks::suite::Task;
use horus_benchmarks::transport::{Payload, Processes, Threads};

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

fn heading(path: Path, system: &str, bytes: usize, note: &str) -> Heading {
    let heading = Heading::new(path, system, bytes);
    if note.is_empty() { heading } else { heading.note(note) }
}
