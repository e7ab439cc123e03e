//! Runs a test of this binary as another process: a peer to talk to, and to kill.
#![allow(dead_code)] // each test binary uses a part

mod fate;
mod home;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use horus::topic::{Directory, Options};
use horus_shm::peers::clean::clean;

pub use home::Home;

/// Longer than anything here takes on the slowest machine; what it ends is a hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

const DIRECTORY: &str = "HORUS_TEST_DIRECTORY";
const POLICY: &str = "HORUS_TEST_POLICY";

/// A process that runs one ignored test of this binary; killed when dropped.
pub struct Peer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the test `role` in a process of its own.
    pub fn start(role: &str, directory: &Path, policy: &str) -> Self {
        Self::start_with(role, directory, policy, None)
    }

    /// Starts the test `role` in a process of its own, with one more environment variable.
    pub fn start_with(role: &str, directory: &Path, policy: &str, variable: Option<(&str, String)>) -> Self {
        Self::start_in(Home::Here, role, directory, policy, variable)
    }

    /// Starts the test `role` in a process of its own, in namespaces of its own.
    pub fn start_in(home: Home, role: &str, directory: &Path, policy: &str, variable: Option<(&str, String)>) -> Self {
        let mut child = home
            .command(&std::env::current_exe().unwrap())
            .args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory)
            .env(POLICY, policy)
            .envs(variable)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until the peer says [`ready`].
    pub fn wait_until_ready(&mut self) {
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the peer ended early");
        }
    }

    /// Waits for a line that begins with `label`, and returns the number behind it.
    pub fn wait_for_number(&mut self, label: &str) -> i32 {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the peer ended early");
            if let Some(number) = line.trim().strip_prefix(label) {
                return number.parse().unwrap();
            }
        }
    }

    /// SIGKILL. The process stays as a zombie until the end of the test, as that of a busy parent would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.await_death();
    }

    /// SIGKILL is delivered a moment after it was sent; the tests want to look at a corpse.
    fn await_death(&self) {
        let started = Instant::now();
        while !self.is_dead() {
            assert!(started.elapsed() < PATIENCE, "the peer does not die");
            std::thread::yield_now();
        }
    }

    /// Waits for a peer that ends by itself, and expects that it found nothing wrong.
    pub fn finish(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

/// In a peer: tells the parent that it may go on.
pub fn ready() {
    fate::end_with_parent();
    println!("\nready");
}

/// In a peer: where its parent keeps the topics.
pub fn directory() -> PathBuf {
    std::env::var_os(DIRECTORY).expect("started by its parent").into()
}

/// In a peer: the policy that its parent chose.
pub fn policy() -> String {
    std::env::var(POLICY).expect("started by its parent")
}

/// In a peer: options for that policy.
pub fn options() -> Options {
    options_for(&policy(), &directory())
}

/// Options for the policy of this name.
pub fn options_for(policy: &str, directory: &Path) -> Options {
    match policy {
        "reliable" => Options::reliable(CAPACITY),
        "latest" => Options::latest(CAPACITY),
        other => panic!("no policy {other}"),
    }
    .directory(directory)
}

/// Messages in every topic of these tests.
pub const CAPACITY: usize = 4;

/// How many files the directory holds.
pub fn files_in(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

/// The last peer removed its file, unless a lock stood a moment longer than its owner. The kernel lets go of a killed
/// process's locks a moment after its end, and a process that another test is just starting holds this one's until its `exec`.
/// Then the next peer that opens or cleans removes it, as this does. That the last peer removes it by itself is held by tests that start no
/// process beside: `message_path.rs`, `kill_matrix.rs`.
pub fn await_no_file(directory: &Path) {
    let left = Instant::now();
    while files_in(directory) > 0 {
        assert!(left.elapsed() < PATIENCE, "a file is left in {}", directory.display());
        clean(&Directory::at(directory).unwrap()).unwrap();
    }
}

/// Different waiting times, spread over the steps of whatever the peer repeats.
pub fn some_time(turn: u64) -> Duration {
    Duration::from_micros(200 + turn.wrapping_mul(2_654_435_761) % 5_000)
}
