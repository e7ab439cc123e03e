//! A gateway as a process of its own: one that can be killed, and whose memory, files and journal are its own.
//!
//! It is the test's own program, which runs the one test below.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use horus_gateway::client::{Address, Connection};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;
use tempfile::TempDir;

const SETTINGS: &str = "HORUS_TEST_GATEWAY_SETTINGS";
const TOPICS: &str = "HORUS_TEST_GATEWAY_TOPICS";

#[test]
#[ignore = "the gateway of other tests"]
fn gateway_process() {
    let (Some(settings), Some(topics)) = (std::env::var_os(SETTINGS), std::env::var_os(TOPICS)) else { return };
    let stop = horus::stop::on_termination().unwrap();
    let mut server =
        Server::open(Config::read(Path::new(&settings)).unwrap(), Directory::at(Path::new(&topics)).unwrap()).unwrap();
    println!("\nat {}", server.addresses()[0]);
    server.run(&stop).unwrap();
    std::process::exit(0); // nobody reads what the harness would print
}

pub struct Process {
    pub address: Address,
    child: Child,
    files: TempDir,
    topics: TempDir,
}

impl Process {
    /// A gateway with these settings, but for where it logs; `listen` stands before them, or it is a Unix socket of the test's own.
    pub fn start(listen: Option<&str>, settings: &str) -> Self {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let place = files.path().display();
        let own = format!("listen = [{{ unix = \"{place}/socket\" }}]\n");
        let text = format!("log_directory = \"{place}/log\"\n{}{settings}", listen.unwrap_or(&own));
        std::fs::write(files.path().join("settings"), text).unwrap();
        let (child, address) = run(&files, &topics);
        Self { address, child, files, topics }
    }

    /// Kills it as it is, and starts it anew on the same files.
    pub fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.address) = run(&self.files, &self.topics);
    }

    pub fn connect(&self) -> Connection {
        Connection::open(&self.address, "test").unwrap()
    }

    /// What it told the journal; `None` where the machine has one, which is not the test's.
    pub fn journal(&self) -> Option<String> {
        let has_journal = Path::new("/run/systemd/journal/socket").exists();
        (!has_journal).then(|| std::fs::read_to_string(self.said()).unwrap())
    }

    /// Asks it to end; then what it told the journal.
    pub fn end(mut self) -> Option<String> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        self.journal()
    }

    /// Where its logs are.
    pub fn log(&self) -> PathBuf {
        self.files.path().join("log")
    }

    fn said(&self) -> PathBuf {
        self.files.path().join("said")
    }

    /// Files that it has open.
    pub fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// The most bytes of memory that it had so far.
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // of one that is at its end, nothing
        let _ = self.child.wait();
    }
}

fn run(files: &TempDir, topics: &TempDir) -> (Child, Address) {
    let said = File::options().create(true).append(true).open(files.path().join("said")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "running::process::gateway_process", "--ignored", "--nocapture"])
        .env(SETTINGS, files.path().join("settings"))
        .env(TOPICS, topics.path())
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address =
        lines.into_iter().find_map(|line| line.strip_prefix("at ")?.parse().ok()).expect("it begins to listen");
    (child, address)
}
