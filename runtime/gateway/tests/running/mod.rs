//! A gateway in a thread of the test's own, on a Unix socket, with topics and logs of its own.

#![allow(dead_code, reason = "each test that includes this uses a part of it")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub mod certificates;
pub mod disk;
pub mod process;
pub mod talk;

use horus::topic::Options;
use horus_gateway::client::{Address, Connection};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;
use tempfile::TempDir;

/// Longer than anything takes on a machine that is not stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Gateway {
    scratch: TempDir,
    shared: TempDir,
    settings: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    /// A gateway with these settings, but for where it listens and logs.
    pub fn start(settings: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let shared = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut gateway = Self { scratch, shared, settings: settings.to_owned(), stop: Arc::default(), thread: None };
        gateway.run();
        gateway
    }

    fn run(&mut self) {
        let place = self.scratch.path().display();
        let settings =
            format!("log_directory = \"{place}/log\"\nlisten = [{{ unix = \"{place}/socket\" }}]\n{}", self.settings);
        let config: Config = settings.parse().unwrap();
        let directory = Directory::at(self.shared.path()).unwrap();
        let stop = Arc::clone(&self.stop);
        let (ready, is_ready) = std::sync::mpsc::channel();
        self.thread = Some(std::thread::spawn(move || {
            let mut server = Server::open(config, directory).unwrap();
            ready.send(()).unwrap();
            server.run(&stop).unwrap();
        }));
        is_ready.recv_timeout(PATIENCE).expect("the gateway starts");
    }

    /// Ends it and starts it anew on the same files.
    pub fn restart(mut self) -> Self {
        self.end();
        self.stop = Arc::default();
        self.run();
        self
    }

    pub fn address(&self) -> Address {
        Address::Unix(self.scratch.path().join("socket"))
    }

    pub fn connect(&self) -> Connection {
        Connection::open(&self.address(), "test").unwrap()
    }

    /// Options for an end of a topic that this gateway serves.
    pub fn topics(&self, options: Options) -> Options {
        options.directory(self.directory())
    }

    pub fn directory(&self) -> &Path {
        self.shared.path()
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
    }
}
