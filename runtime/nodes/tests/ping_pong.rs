//! The nodes as real processes: what they count, what they survive, what they tell the service manager.
//!
//! Nothing here asserts how fast anything is; a slow machine makes these tests long, not red.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long a process may take to do what a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A node of this package, from where cargo leaves it or where the image has it, below the folder above that of this test:
/// another machine may run the test than the one that built it.
fn node(name: &str, topics: &Path) -> Command {
    let test = std::env::current_exe().unwrap();
    let above = test.parent().and_then(Path::parent).unwrap();
    let path = [above.join(name), above.join("nodes").join(name)].into_iter().find(|path| path.is_file());
    let path = path.unwrap_or_else(|| panic!("no {name} in {}: `cargo test` builds it", above.display()));
    let mut command = Command::new(path);
    command.env("HORUS_SHM_DIR", topics).env_remove("NOTIFY_SOCKET").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env(horus::journal::VARIABLE, horus::journal::PRINT); // also on a machine that has a journal
    command
}

/// A process that a failing test does not leave behind.
struct Running(Option<Child>);

impl Running {
    fn start(mut command: Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.0.as_ref().unwrap()), signal).unwrap();
    }

    fn end(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The number before `word` in what a node prints at its end.
fn count(output: &Output, word: &str) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |part: &str| part.trim().strip_suffix(word)?.trim().parse().ok();
    match text.split([',', ';', ':']).filter_map(number).collect::<Vec<_>>()[..] {
        [number] => number,
        _ => panic!("no single '{word}' in {text:?}, stderr {:?}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Gives a node a `node.toml` with this line.
fn settings(command: &mut Command, scratch: &TempDir, name: &str, line: &str) {
    let file = scratch.path().join(format!("{name}.toml"));
    std::fs::write(&file, format!("[node.{name}]\n{line}\n")).unwrap();
    command.env("HORUS_NODE_FILE", file);
}

fn topics() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path().join("topics");
    (scratch, topics)
}

/// A service manager's end of `sd_notify`.
struct Manager(UnixDatagram, PathBuf);

impl Manager {
    fn new(scratch: &TempDir) -> Self {
        let path = scratch.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket, path)
    }

    /// Reads until a message has `line`.
    fn wait_for(&self, line: &str) {
        let mut buffer = [0; 4096];
        loop {
            let length = match self.recv(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no node sent {line}"),
                Err(error) => panic!("{error}"),
            };
            if String::from_utf8_lossy(&buffer[..length]).lines().any(|found| found == line) {
                return;
            }
        }
    }

    /// The next message. A machine that was frozen for a moment interrupts a socket that has a time limit: signal(7).
    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.recv(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

#[test]
fn every_answer_that_comes_is_the_one_that_was_sent() {
    let (_scratch, topics) = topics();
    let pong = Running::start(node("pong", &topics));
    let ping = node("ping", &topics).args(["--releases", "100"]).output().unwrap();
    assert!(ping.status.success(), "{ping:?}");
    assert_eq!(count(&ping, "releases"), 100);
    assert_eq!(count(&ping, "mismatched"), 0);
    let (sent, received, lost) = (count(&ping, "sent"), count(&ping, "received"), count(&ping, "lost"));
    assert!(received > 0 && received + lost <= sent, "{ping:?}");
    pong.signal(Signal::TERM);
    let pong = pong.end();
    assert!(pong.status.success(), "{pong:?}");
    assert!(count(&pong, "received") >= received, "{pong:?}");
}

#[test]
fn a_provoked_stall_is_counted_and_told() {
    let (_scratch, topics) = topics();
    let _pong = Running::start(node("pong", &topics));
    let ping = node("ping", &topics).args(["--releases", "50"]).env("HORUS_PING_STALL", "25ms 10").output().unwrap();
    // Releases 0, 10, … 40 stall over two more each, or are skipped themselves: a miss in any case.
    assert!(count(&ping, "deadline misses") >= 15, "{ping:?}");
    let stderr = String::from_utf8_lossy(&ping.stderr).into_owned();
    assert!(stderr.contains("node ping missed"), "{stderr}");
    assert!(!stderr.contains("cannot write to the journal"), "it was to print:\n{stderr}");
}

#[test]
fn a_journal_that_is_not_there_is_said_once() {
    let (_scratch, topics) = topics();
    let mut ping = node("ping", &topics);
    let ping = ping.args(["--releases", "20"]).env_remove(horus::journal::VARIABLE).output().unwrap();
    let stderr = String::from_utf8_lossy(&ping.stderr).into_owned();
    let is_missing = !Path::new("/run/systemd/journal/socket").exists();
    assert_eq!(stderr.matches("cannot write to the journal").count(), usize::from(is_missing), "{stderr}");
}

#[test]
fn a_killed_pong_costs_messages_and_a_new_one_takes_over() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let answering = || {
        let mut pong = node("pong", &topics);
        pong.env("NOTIFY_SOCKET", &manager.1);
        pong
    };
    let first = Running::start(answering());
    let ping = Running::start(node("ping", &topics));
    manager.wait_for("READY=1");
    first.signal(Signal::KILL);
    assert!(!first.end().status.success());

    let second = answering().args(["--releases", "100"]).output().unwrap();
    assert!(count(&second, "received") > 0, "{second:?}");
    ping.signal(Signal::TERM);
    let ping = ping.end();
    assert!(ping.status.success() && count(&ping, "mismatched") == 0, "{ping:?}");
}

#[test]
fn the_service_manager_hears_readiness_and_progress() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let mut pong = node("pong", &topics);
    // WATCHDOG_PID is left out, which means "the process that reads this".
    pong.env("NOTIFY_SOCKET", &manager.1).env("WATCHDOG_USEC", "400000");
    let pong = Running::start(pong);
    manager.wait_for("READY=1");
    manager.wait_for("WATCHDOG=1"); // no node publishes what it hears, and it is alive
    let ping = Running::start(node("ping", &topics));
    manager.wait_for("WATCHDOG=1");
    pong.signal(Signal::TERM);
    let pong = pong.end();
    assert!(pong.status.success(), "{pong:?}");
    drop(ping);
}

#[test]
fn a_step_that_hangs_starves_the_watchdog() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let mut ping = node("ping", &topics);
    ping.env("HORUS_PING_STALL", "60s 5").env("NOTIFY_SOCKET", &manager.1).env("WATCHDOG_USEC", "400000");
    let _ping = Running::start(ping);
    manager.wait_for("WATCHDOG=1");
    // It is fed ten times a second while the node lives, and for a second more.
    manager.0.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let mut buffer = [0; 4096];
    let fed = std::iter::from_fn(|| manager.recv(&mut buffer).ok()).take(100).count();
    assert!(fed < 100, "fed although the step hangs");
}

/// Starts a node under a manager, and waits until it has its topics.
fn speaking(mut node: Command, manager: &Manager) -> Running {
    node.env("NOTIFY_SOCKET", &manager.1);
    let node = Running::start(node);
    manager.wait_for("READY=1");
    node
}

/// The lines of a node that say something of its input, from the journal where there is one.
fn said_of_input(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|line| line.contains("input "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_node_whose_peer_is_stopped_says_when_its_input_is_stale_and_when_it_is_fresh_again() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let ping = speaking(node("ping", &topics), &manager);
    let mut pong = node("pong", &topics);
    settings(&mut pong, &scratch, "pong", "stale_after = \"200 ms\"");
    pong.env("WATCHDOG_USEC", "400000");
    let pong = speaking(pong, &manager);
    (0..5).for_each(|_| manager.wait_for("WATCHDOG=1")); // half a second, in which ping's messages come to pong
    ping.signal(Signal::STOP);
    (0..8).for_each(|_| manager.wait_for("WATCHDOG=1"));
    ping.signal(Signal::CONT);
    (0..5).for_each(|_| manager.wait_for("WATCHDOG=1"));
    pong.signal(Signal::TERM);
    let pong = pong.end();
    assert!(count(&pong, "stale inputs") >= 1, "{pong:?}");
    let said = said_of_input(&pong);
    let stale =
        said.find("input ping of node pong is stale: nothing came for 200ms").unwrap_or_else(|| panic!("{pong:?}"));
    let fresh = said.find("input ping of node pong is fresh again after").unwrap_or_else(|| panic!("{pong:?}"));
    assert!(stale < fresh, "{said}");
}

#[test]
fn a_node_without_a_peer_says_that_nothing_came_yet_and_counts_no_stale_input() {
    let (scratch, topics) = topics();
    let mut ping = node("ping", &topics);
    settings(&mut ping, &scratch, "ping", "stale_after = \"100 ms\"");
    let ping = ping.args(["--releases", "100"]).output().unwrap();
    assert!(ping.status.success() && !String::from_utf8_lossy(&ping.stdout).contains("stale"), "{ping:?}");
    let stderr = String::from_utf8_lossy(&ping.stderr).into_owned();
    assert_eq!(stderr.matches("input pong of node ping has had no message yet").count(), 1, "{stderr}");
}

#[test]
fn a_node_that_nobody_answers_still_obeys() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let ping = speaking(node("ping", &topics), &manager);
    ping.signal(Signal::TERM);
    let ping = ping.end();
    assert!(ping.status.success(), "{ping:?}");
}

#[test]
fn impossible_settings_are_refused_with_file_line_and_remedy() {
    let (scratch, topics) = topics();
    for (line, remedy) in [
        ("deadline = \"20 ms\"", "node ping deadline 20ms is longer than period 10ms: shorten the deadline"),
        ("period = \"10\"", "line 2"),
        ("period = \"10\"", "write a whole number and a unit"),
        ("cpu = \"fastest\"", "write any, isolated"),
        ("cpu = 4095", "cpu = \"4095\": this machine has CPUs"),
        ("scheduling_policy = \"fifo:99\"", "choose 1 to 98"),
        ("speed = 3", "unknown field `speed`"),
        ("[node.pong]", "the program has no such node (did you mean ping?); it has ping"),
    ] {
        let mut ping = node("ping", &topics);
        settings(&mut ping, &scratch, "ping", line);
        let ping = ping.output().unwrap();
        let stderr = String::from_utf8_lossy(&ping.stderr).into_owned();
        assert!(!ping.status.success() && stderr.contains(remedy), "{line}: {stderr}");
    }
}

#[test]
fn a_second_program_of_one_name_is_refused_and_the_first_runs_on() {
    let (scratch, topics) = topics();
    let manager = Manager::new(&scratch);
    let first = speaking(node("pong", &topics), &manager);
    let second = node("pong", &topics).output().unwrap();
    let stderr = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && stderr.contains("a program named pong runs already"), "{stderr}");
    let ping = node("ping", &topics).args(["--releases", "100"]).output().unwrap();
    assert!(count(&ping, "received") > 0, "{ping:?}");
    first.signal(Signal::TERM);
    let first = first.end();
    assert!(first.status.success(), "{first:?}");
}

#[test]
fn a_monitor_that_is_asked_for_help_starts_no_watch() {
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    for (option, succeeds, words) in
        [("--help", true, "Watches over all nodes"), ("--once", false, "there is no option '--once'")]
    {
        let output = node("monitor", topics.path()).arg(option).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(output.status.success(), succeeds);
        assert!(String::from_utf8_lossy(&said).contains(words));
    }
    assert_eq!(std::fs::read_dir(topics.path()).unwrap().count(), 0);
}

#[test]
fn a_program_says_first_which_settings_it_has() {
    let (topics, folder) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    let first_of = |file: Option<&str>| {
        let settings = folder.path().join("node.toml");
        match file {
            Some(text) => std::fs::write(&settings, text).unwrap(),
            None => drop(std::fs::remove_file(&settings)),
        }
        let mut ping = node("ping", topics.path());
        let output =
            ping.args(["--releases", "1"]).env_remove("HORUS_NODE_FILE").current_dir(&folder).output().unwrap();
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned()
    };
    for (file, words) in [
        (None, "ping has its own settings: $HORUS_NODE_FILE names no file, and "),
        (Some("program = \"ping\""), "ping has the settings of "),
        (Some("program = \"pingg\""), "is not read: it is for program 'pingg', and this is 'ping'"),
        (Some("strict = false"), "is not read: it names no program: add program = \"ping\""),
    ] {
        let line = first_of(file);
        assert!(line.contains(words), "{line}");
    }
}
