//! Processes of iceoryx2 that are killed: a publisher that publishes and a subscriber that receives, both without end.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use horus_benchmarks::content::{Mark, Prepared};
use horus_benchmarks::transport::Failure;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{BackpressureStrategy, Config, Node, ServiceName, ipc};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::iceoryx::{Marked, config, node};
use crate::tasks::Medium;

/// The hidden first argument of a victim.
pub const ARGUMENT: &str = "--this-is-a-victim";
/// Exit status of a victim that could not join.
pub const COULD_NOT_JOIN: i32 = 3;
/// Messages that a subscriber's buffer holds.
pub const CAPACITY: usize = 16;

/// The service that survivors and victims share.
pub type Service = PortFactory<ipc::Service, Marked<Medium>, ()>;
/// A publisher of it.
pub type Publishing = Publisher<ipc::Service, Marked<Medium>, ()>;
/// A subscriber of it.
pub type Subscribing = Subscriber<ipc::Service, Marked<Medium>, ()>;

/// Which end a victim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// Publishes as fast as it can, and drops what does not fit.
    Publisher,
    /// Receives as fast as it can.
    Subscriber,
}

impl Victim {
    /// Starts this program again as a victim; `number` marks its messages.
    pub fn start(self, directory: &Path, number: u64) -> Result<Child, Failure> {
        let role = if self == Self::Publisher { "publisher" } else { "subscriber" };
        let mut command = Command::new(std::env::current_exe()?);
        command.args([ARGUMENT, role, &number.to_string()]).arg(directory);
        Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
    }

    /// What a victim does; ends only when it could not join.
    pub fn be(arguments: &[String]) -> Result<(), Failure> {
        let [role, number, directory] = arguments else { return Err("a victim is started by the benchmark".into()) };
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let node = node(&config(Path::new(directory))?)?;
        let service = service(&node)?;
        if role == "publisher" { publish_forever(&service, number.parse()?) } else { receive_forever(&service) }
    }
}

fn publish_forever(service: &Service, publisher: u64) -> Result<(), Failure> {
    let port = service.publisher_builder().backpressure_strategy(BackpressureStrategy::DiscardData).create()?;
    let mut prepared = Prepared::new();
    for sequence in 0.. {
        let sample = port.loan_uninit()?;
        sample.write_payload(Marked(*prepared.number(Mark::Message { publisher, sequence }))).send()?;
        std::thread::yield_now();
    }
    Ok(())
}

fn receive_forever(service: &Service) -> Result<(), Failure> {
    let port = service.subscriber_builder().buffer_size(CAPACITY).create()?;
    loop {
        drop(port.receive()?);
        std::thread::yield_now();
    }
}

/// Opens the service, or makes it: lossless, with room for one victim of each kind and for several dead ones.
pub fn service(node: &Node<ipc::Service>) -> Result<Service, Failure> {
    let builder = node.service_builder(&ServiceName::new("kills")?).publish_subscribe::<Marked<Medium>>();
    Ok(builder
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(CAPACITY)
        .history_size(0)
        .max_publishers(16)
        .max_subscribers(16)
        .max_nodes(32)
        .open_or_create()?)
}

/// Files of this configuration: below its root directory, and shared memory with its prefix.
pub fn files(config: &Config) -> Vec<String> {
    let mut found = Vec::new();
    below(Path::new(&config.global.root_path().to_string()), &mut found);
    let prefix = config.global.prefix.to_string();
    for entry in std::fs::read_dir(crate::iceoryx::SHARED_MEMORY).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            found.push(entry.path().display().to_string());
        }
    }
    found.sort();
    found
}

fn below(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            below(&entry.path(), found);
        } else {
            found.push(entry.path().display().to_string());
        }
    }
}
