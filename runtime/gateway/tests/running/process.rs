//! A gateway as a process of its own: one that can be killed, and whose memory, files, journal and, if it is wanted, disk are its own.
//!
//! It is the test's own program, which runs the one test below.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use horus_gateway::client::{Address, Connection};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;
use tempfile::TempDir;

use super::disk::Disk;

const SETTINGS: &str = "HORUS_TEST_GATEWAY_SETTINGS";
const TOPICS: &str = "HORUS_TEST_GATEWAY_TOPICS";

#[test]
#[ignore = "the gateway of other tests"]
fn gateway_process() {
    let (Some(settings), Some(topics)) = (std::env::var_os(SETTINGS), std::env::var_os(TOPICS)) else { return };
    let stop = horus::stop::on_termination().unwrap();
    let mut server =
        Server::open(Config::read(Path::new(&settings)).unwrap(), Directory::at(Path::new(&topics)).unwrap()).unwrap();
    println!("\nat {}", server.addresses().join(" "));
    server.run(&stop).unwrap();
    std::process::exit(0); // what the harness would print is not read
}

/// What the gateway of a test may grow by, whatever comes: some queues and decoders, and what the allocator keeps.
pub const GROWTH: u64 = 48 << 20;

pub struct Process {
    /// Where it listens; the first one of several.
    pub address: Address,
    pub addresses: Vec<Address>,
    child: Child,
    /// The gateway's own number, which is another one than the child's where it has a disk of its own.
    number: i32,
    /// Where its logs are.
    pub log: PathBuf,
    files: TempDir,
    topics: TempDir,
}

impl Process {
    /// One that listens on TCP as well.
    pub fn start_on_tcp(settings: &str) -> (Self, String) {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let socket = files.path().join("socket");
        let listen = format!("listen = [{{ unix = {socket:?} }}, {{ tcp = \"127.0.0.1:0\" }}]\n");
        let log = files.path().join("log");
        let gateway = Self::start_with(files, topics, log, Some(&listen), settings);
        let Address::Tcp(port) = &gateway.addresses[1] else { panic!("{:?}", gateway.addresses) };
        let port = port.clone();
        (gateway, port)
    }

    /// A gateway with these settings, but for where it logs; `listen` stands before them, or it is a Unix socket of the test's own.
    pub fn start(listen: Option<&str>, settings: &str) -> Self {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let log = files.path().join("log");
        Self::start_with(files, topics, log, listen, settings)
    }

    /// One that logs in a directory of the test's.
    pub fn start_logging_in(log: &Path, settings: &str) -> Self {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        Self::start_with(files, topics, log.to_owned(), None, settings)
    }

    /// One whose disk the test can break.
    pub fn start_on_a_disk(settings: &str) -> (Self, Disk) {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let disk = Disk(files.path().join("disk"));
        std::fs::create_dir(&disk.0).unwrap();
        let log = files.path().join("log");
        (Self::start_with(files, topics, log, None, settings), disk)
    }

    fn start_with(files: TempDir, topics: TempDir, log: PathBuf, listen: Option<&str>, settings: &str) -> Self {
        let place = files.path().display();
        let own = format!("listen = [{{ unix = \"{place}/socket\" }}]\n");
        let text = format!("log_directory = {log:?}\n{}{settings}", listen.unwrap_or(&own));
        std::fs::write(files.path().join("settings"), text).unwrap();
        let (child, number, addresses) = run(&files, &topics);
        Self { address: addresses[0].clone(), addresses, child, number, log, files, topics }
    }

    /// Kills it as it is, and starts it anew on the same files.
    pub fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.number, self.addresses) = run(&self.files, &self.topics);
        self.address = self.addresses[0].clone();
    }

    pub fn connect(&self) -> Connection {
        Connection::open(&self.address, "test").unwrap()
    }

    /// What it told the journal.
    pub fn journal(&self) -> String {
        let said = std::fs::read_to_string(self.said()).unwrap();
        assert!(said.contains("gateway: "), "it tells the journal that its clients came: {said:?}");
        said
    }

    /// Asks it to end; then what it told the journal.
    pub fn end(mut self) -> String {
        self.signal(rustix::process::Signal::TERM);
        assert!(self.child.wait().unwrap().success());
        self.journal()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_raw(self.number).unwrap(), signal).unwrap();
    }

    /// The file of a topic that it serves.
    pub fn topic_file(&self, topic: &str) -> PathBuf {
        self.topics.path().join(format!("{topic}.topic"))
    }

    fn said(&self) -> PathBuf {
        self.files.path().join("said")
    }

    /// Files that it has open.
    pub fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.number)).unwrap().count()
    }

    /// Waits until it has only so many files open: those who went are really gone.
    pub fn wait_for_files(&self, files: usize) {
        let until = Instant::now() + super::PATIENCE;
        while self.open_files() > files {
            assert!(Instant::now() < until, "{} files are open, and {files} were", self.open_files());
            std::thread::yield_now();
        }
    }

    /// The most bytes of memory that it had so far.
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.number)).unwrap();
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

fn run(files: &TempDir, topics: &TempDir) -> (Child, i32, Vec<Address>) {
    const ROLE: &str = "running::process::gateway_process";
    let said = File::options().create(true).append(true).open(files.path().join("said")).unwrap();
    let disk = files.path().join("disk");
    let mut command =
        if disk.exists() { Disk::command(&disk, ROLE) } else { Command::new(std::env::current_exe().unwrap()) };
    if !disk.exists() {
        command.args(["--exact", ROLE, "--ignored", "--nocapture"]);
    }
    let mut child = command
        .env(SETTINGS, files.path().join("settings"))
        .env(TOPICS, topics.path())
        .env(horus::journal::VARIABLE, horus::journal::PRINT)
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn()
        .unwrap();
    let mut number = child.id() as i32;
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let addresses = out.by_ref().lines().map(Result::unwrap).find_map(|line| {
        if let Some(text) = line.strip_prefix("as ") {
            number = text.parse().unwrap();
        }
        line.strip_prefix("at ")?.split(' ').map(|address| address.parse().ok()).collect::<Option<Vec<_>>>()
    });
    // The harness ends when it cannot print that a test takes more than a minute.
    child.stdout = Some(out.into_inner());
    (child, number, addresses.expect("it begins to listen"))
}
