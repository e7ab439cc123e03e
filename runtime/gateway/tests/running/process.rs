//! A gateway as a process of its own: one that can be killed, and whose memory, files, journal and, if it is wanted, disk are its own.
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
    println!("\nat {}", server.addresses()[0]);
    server.run(&stop).unwrap();
    std::process::exit(0); // nobody reads what the harness would print
}

pub struct Process {
    pub address: Address,
    child: Child,
    /// The gateway's own number, which is another one than the child's where it has a disk of its own.
    number: i32,
    /// Where its logs are.
    pub log: PathBuf,
    files: TempDir,
    topics: TempDir,
}

impl Process {
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
        let (child, number, address) = run(&files, &topics);
        Self { address, child, number, log, files, topics }
    }

    /// Kills it as it is, and starts it anew on the same files.
    pub fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.number, self.address) = run(&self.files, &self.topics);
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
        let pid = rustix::process::Pid::from_raw(self.number).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        self.journal()
    }

    fn said(&self) -> PathBuf {
        self.files.path().join("said")
    }

    /// Files that it has open.
    pub fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.number)).unwrap().count()
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

fn run(files: &TempDir, topics: &TempDir) -> (Child, i32, Address) {
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
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.find_map(|line| {
        if let Some(text) = line.strip_prefix("as ") {
            number = text.parse().unwrap();
        }
        line.strip_prefix("at ")?.parse().ok()
    });
    (child, number, address.expect("it begins to listen"))
}
