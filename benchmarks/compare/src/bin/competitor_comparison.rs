//! HORUS beside the systems that one would take instead: the same loops, payloads and checks, in one run.

use std::process::ExitCode;

use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::Small;
use horus_compare::disruptor::Disruptor;
use horus_compare::pipes::Pipes;
use horus_compare::rtrb::Rtrb;
use horus_compare::sockets::{Udp, UnixDatagrams, UnixPackets};
use horus_compare::tasks::{processes, threads};
#[cfg(feature = "zeromq")]
use horus_compare::zeromq::ZeroMq;

fn tasks() -> Vec<Task> {
    let mut tasks = vec![
        Task::same_thread::<Horus, Small>(),
        Task::same_thread::<Rtrb, Small>(),
        Task::same_thread::<Disruptor, Small>(),
    ];
    let noted = |note| move |task: Task| task.note(note);
    tasks.extend(threads::<Horus>());
    tasks.extend(threads::<Rtrb>().map(noted("no shared memory, threads only")));
    tasks.extend(
        threads::<Disruptor>().map(noted("no shared memory, threads only; the event poller takes one event at a time")),
    );
    #[cfg(feature = "aeron")]
    tasks.extend(threads::<horus_compare::aeron::Aeron>().map(noted(AERON)));
    #[cfg(feature = "zeromq")]
    tasks.extend(threads::<ZeroMq>().map(noted("calls with DONTWAIT")).map(unhurried));
    tasks.extend(processes::<Horus>());
    #[cfg(feature = "aeron")]
    tasks.extend(processes::<horus_compare::aeron::Aeron>().map(noted(AERON)));
    #[cfg(feature = "zeromq")]
    tasks.extend(
        processes::<ZeroMq>().map(noted("calls with DONTWAIT; two I/O threads between the ends")).map(unhurried),
    );
    tasks.extend(processes::<Pipes>().map(noted("non-blocking system calls")));
    tasks.extend(processes::<UnixPackets>().map(noted("non-blocking system calls")));
    tasks.extend(processes::<UnixDatagrams>().map(noted("non-blocking system calls")));
    tasks.extend(processes::<Udp>().map(noted("non-blocking system calls; full buffers drop messages")));
    tasks
}

#[cfg(feature = "aeron")]
const AERON: &str = "terms of 16 MiB instead of the asked capacity; a driver and a conductor thread want CPU time too";

#[cfg(feature = "zeromq")]
fn unhurried(task: Task) -> Task {
    task.effort(horus_benchmarks::options::Effort::unhurried)
}

/// Which optional rivals this program was built without.
fn missing() -> Vec<String> {
    let rivals = [("zeromq", cfg!(feature = "zeromq")), ("aeron", cfg!(feature = "aeron"))];
    rivals
        .iter()
        .filter(|(_, built)| !built)
        .map(|(rival, _)| format!("Built without {rival}: benchmarks/compare/setup.sh installs what it needs."))
        .collect()
}

fn main() -> ExitCode {
    Suite { name: "competitor_comparison", tasks, summary: |_| missing() }.main()
}
