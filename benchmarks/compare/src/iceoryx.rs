//! iceoryx2 0.10, publish-subscribe over its `ipc` service: fixed-size messages, lossless.
//!
//! A message is written straight into a loaned sample and copied out of the received one, so that it is copied as
//! often as HORUS copies it. Overflow is off, the buffer holds the asked capacity, and nothing is lost.

use std::path::Path;

use horus_benchmarks::patience::PATIENCE;
use horus_benchmarks::transport::{Content, Failure, Link, Meeting, Processes, Receiver, Sender, Threads};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::{BackpressureAction, BackpressureInfo};
use iceoryx2::prelude::{
    BackpressureStrategy, Config, FileName, LogLevel, Node, NodeBuilder, SemanticString, ServiceName,
    SignalHandlingMode, ZeroCopySend, ipc, set_log_level,
};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use walkdir::WalkDir;

pub struct Iceoryx2;

/// A message as iceoryx2 wants it marked.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Marked<M>(pub M);

// SAFETY: `Content` has no pointers, no padding that is read, and is valid for any bytes; both ends are the same
// program, so that size, alignment and layout agree, and `repr(transparent)` adds nothing.
unsafe impl<M: Printable> ZeroCopySend for Marked<M> {}

/// A payload that iceoryx2 takes: its ports want `Debug`.
pub trait Printable: Content + std::fmt::Debug {}

impl<M: Content + std::fmt::Debug> Printable for M {}

/// The publishing end; its port keeps service and node alive.
pub struct Publishing<M: Printable>(pub(crate) Publisher<ipc::Service, Marked<M>, ()>);

/// The subscribing end, likewise.
pub struct Subscribing<M: Printable>(pub(crate) Subscriber<ipc::Service, Marked<M>, ()>);

// SAFETY: what `ipc::Service` counts without atomics (node, service, port) is made for this end alone and moves with
// it as a whole: no reference to any of it stays behind in the thread that made it.
unsafe impl<M: Printable> Send for Publishing<M> {}
// SAFETY: as for `Publishing`.
unsafe impl<M: Printable> Send for Subscribing<M> {}

impl<M: Printable> Sender<M> for Publishing<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        let Ok(sample) = self.0.loan_uninit() else { return false };
        // The number of subscribers that got it: none when the one subscriber's buffer is full.
        sample.write_payload(Marked(*message)).send().is_ok_and(|reached| reached == 1)
    }
}

impl<M: Printable> Receiver<M> for Subscribing<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        match self.0.receive() {
            Ok(Some(sample)) => {
                *into = sample.payload().0;
                true
            }
            Ok(None) => false,
            Err(error) => panic!("iceoryx2 receive: {error}"),
        }
    }
}

impl<M: Printable> Threads<M> for Iceoryx2 {
    const SYSTEM: &'static str = "iceoryx2";

    fn channel(meeting: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let subscribing = subscribing(&meeting, capacity)?;
        Ok((publishing(&meeting, capacity)?, subscribing))
    }
}

impl<M: Printable> Processes<M> for Iceoryx2 {
    const SYSTEM: &'static str = "iceoryx2";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let subscribing = subscribing(&link.back(), capacity)?;
        Ok((publishing(&link.out(), capacity)?, subscribing))
    }
}

/// As [`Iceoryx2`] between processes, but a full buffer is waited for inside `send`, as iceoryx2 does when told nothing.
pub struct Iceoryx2Retrying;

impl<M: Printable> Processes<M> for Iceoryx2Retrying {
    const SYSTEM: &'static str = "iceoryx2-retry";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let subscribing = subscribing(&link.back(), capacity)?;
        let give_up = |info: &BackpressureInfo| match info.elapsed_time {
            waited if waited > PATIENCE => BackpressureAction::DiscardData,
            _ => BackpressureAction::Retry,
        };
        let publisher = open(&link.out(), capacity)?
            .publisher_builder()
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .set_backpressure_handler(give_up)
            .create()?;
        Ok((Publishing(publisher), subscribing))
    }
}

/// The publishing end of a meeting.
pub fn publishing<M: Printable>(meeting: &Meeting, capacity: usize) -> Result<Publishing<M>, Failure> {
    let publisher = open(meeting, capacity)?
        .publisher_builder()
        .max_loaned_samples(1)
        .backpressure_strategy(BackpressureStrategy::DiscardData)
        .create()?;
    Ok(Publishing(publisher))
}

/// The subscribing end of a meeting.
pub fn subscribing<M: Printable>(meeting: &Meeting, capacity: usize) -> Result<Subscribing<M>, Failure> {
    Ok(Subscribing(open(meeting, capacity)?.subscriber_builder().buffer_size(capacity).create()?))
}

/// Opens or makes the service of a meeting, in a node of its own.
pub fn open<M: Printable>(
    meeting: &Meeting,
    capacity: usize,
) -> Result<PortFactory<ipc::Service, Marked<M>, ()>, Failure> {
    Ok(node(&config(&meeting.directory)?)?
        .service_builder(&ServiceName::new(&meeting.name)?)
        .publish_subscribe::<Marked<M>>()
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(capacity)
        .subscriber_max_borrowed_samples(1)
        .history_size(0)
        .max_publishers(1)
        .max_subscribers(1)
        .max_nodes(2)
        .open_or_create()?)
}

/// A node that says nothing but errors and leaves signals alone.
pub fn node(config: &Config) -> Result<Node<ipc::Service>, Failure> {
    set_log_level(LogLevel::Error);
    Ok(NodeBuilder::new().config(config).signal_handling_mode(SignalHandlingMode::Disabled).create()?)
}

/// iceoryx2's defaults, but with all files under `directory`, and with its name before those of all shared memory: no
/// other user of iceoryx2 is touched.
pub fn config(directory: &Path) -> Result<Config, Failure> {
    let mut config = Config::default();
    let root = directory.join("iceoryx2");
    std::fs::create_dir_all(&root)?;
    let root = root.to_str().ok_or("the directory's name is not UTF-8")?;
    let prefix = directory.file_name().and_then(|name| name.to_str()).ok_or("the directory has no name")?;
    config.global.set_root_path(&iceoryx2::prelude::Path::new(root.as_bytes()).map_err(|error| format!("{error:?}"))?);
    config.global.prefix = FileName::new(format!("{prefix}_").as_bytes()).map_err(|error| format!("{error:?}"))?;
    Ok(config)
}

/// Where Linux shows POSIX shared memory as files.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// Removes the shared memory that iceoryx2 left behind in runs of the harness that are over, this one included: each
/// node leaves some, and so does every peer that is killed.
pub fn sweep() {
    remove_shared_memory(|name| {
        let run = name.strip_prefix("horus-bench-").and_then(|name| name.split_once('_'));
        let process = run.and_then(|(process, _)| process.parse::<u32>().ok());
        let over = |process| process == std::process::id() || !Path::new(&format!("/proc/{process}")).exists();
        process.is_some_and(over)
    });
}

/// Removes all shared memory whose name fits.
pub fn remove_shared_memory(fits: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&fits) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Files of this configuration: below its root directory, and shared memory with its prefix.
pub fn files(config: &Config) -> Vec<String> {
    let prefix = config.global.prefix.to_string();
    let shared = WalkDir::new(SHARED_MEMORY).max_depth(1).into_iter().flatten();
    let shared = shared.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let below = WalkDir::new(config.global.root_path().to_string()).into_iter().flatten();
    let files = below.chain(shared).filter(|entry| !entry.file_type().is_dir());
    let mut found: Vec<_> = files.map(|entry| entry.path().display().to_string()).collect();
    found.sort();
    found
}
