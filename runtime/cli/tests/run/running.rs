//! A folder with a robot's file, and `horus run` in it.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Two programs of `runtime/nodes` that talk to each other, the later one first.
pub const PING_AND_PONG: &str =
    "[programs.ping]\nrun = \"@ping@\"\nafter = [\"pong\"]\n[programs.pong]\nrun = \"@pong@\"\n";

/// How long a program may take to do what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program of `runtime/nodes`, in the folder above that of this test.
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let above = test.parent().and_then(Path::parent).unwrap();
    let path = [above.join(name), above.join("nodes").join(name)].into_iter().find(|path| path.is_file());
    path.unwrap_or_else(|| panic!("no {name} in {}: `cargo build --package horus-nodes` builds it", above.display()))
}

/// Waits until something is so.
pub fn pause_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        horus::time::pause(Duration::from_millis(10));
    }
}

/// Whether a process has ended, waited for or not.
pub fn is_gone(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z"))
}

/// `kill -9`.
pub fn kill(process: u32) {
    kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// A robot's folder; its topics and its temporary files are apart from all others.
pub struct Scene {
    folder: tempfile::TempDir,
    topics: tempfile::TempDir,
}

impl Scene {
    /// With this file, in which `@ping@` is the path of that program.
    pub fn new(file: &str) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap(), topics: tempfile::tempdir_in("/dev/shm").unwrap() };
        let file =
            ["ping", "pong"].iter().fold(file.to_owned(), |file, name| match file.contains(&format!("@{name}@")) {
                true => file.replace(&format!("@{name}@"), built(name).to_str().unwrap()),
                false => file,
            });
        std::fs::write(scene.path("robot.toml"), file).unwrap();
        std::fs::create_dir(scene.path("temporary")).unwrap();
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program of the shell, or of Python where its name says so.
    pub fn script(&self, name: &str, text: &str) {
        let head = if name.ends_with(".py") { "" } else { "#!/bin/sh\n" };
        std::fs::write(self.path(name), format!("{head}{text}")).unwrap();
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The number in a file, if it is there.
    pub fn number(&self, name: &str) -> Option<u32> {
        std::fs::read_to_string(self.path(name)).ok()?.trim().parse().ok()
    }

    /// The processes of this scene that run `program`.
    pub fn processes_of(&self, program: &Path) -> Vec<u32> {
        let runs = |number: &u32| std::fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|path| path == program);
        self.processes().into_iter().filter(runs).collect()
    }

    /// The living processes of this scene, and of no other.
    pub fn processes(&self) -> Vec<u32> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let topics = self.topics.path().to_str().unwrap();
        let is_own = |number: &u32| {
            let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(topics)
        };
        numbers.filter(is_own).collect()
    }

    /// Whether no folder of a run is left.
    pub fn has_left_nothing(&self) -> bool {
        std::fs::read_dir(self.path("temporary")).unwrap().next().is_none()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.arg("run").arg("robot.toml").args(arguments).current_dir(self.folder.path());
        command.env("HORUS_SHM_DIR", self.topics.path()).env("TMPDIR", self.path("temporary"));
        command.env("HORUS_JOURNAL", "print").env_remove("HORUS_NAMESPACE").env_remove("HORUS_NODE_FILE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What another command says of the scene's topics.
    pub fn said(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        let output = command.args(arguments).env("HORUS_SHM_DIR", self.topics.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What is said of a file that is refused.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Starts the robot, and reads nothing of what it says.
    pub fn start_unread(&self) -> Robot {
        let child = self.command(&[]).stderr(Stdio::inherit()).spawn().unwrap();
        Robot { child, lines: None, seen: Vec::new() }
    }

    /// Starts the robot.
    pub fn start(&self, arguments: &[&str]) -> Robot {
        let mut child = self.command(arguments).stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, lines) = channel();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut line = String::new();
            while out.read_line(&mut line).is_ok_and(|length| length > 0)
                && sender.send(narrow(line.trim_end())).is_ok()
            {
                line.clear();
            }
        });
        Robot { child, lines: Some(lines), seen: Vec::new() }
    }
}

/// A line without the spaces that fill up a program's name.
pub fn narrow(line: &str) -> String {
    match line.split_once(' ') {
        Some((name, rest)) if rest.trim_start().starts_with('|') => format!("{name} {}", rest.trim_start()),
        Some((name, rest)) if rest.starts_with(' ') => format!("{name}  {}", rest.trim_start()),
        _ => line.to_owned(),
    }
}

/// A running `horus run`, which a failing test does not leave behind.
pub struct Robot {
    child: Child,
    lines: Option<Receiver<String>>,
    seen: Vec<String>,
}

impl Robot {
    /// Waits for a line that begins so, of those that were not waited for yet.
    pub fn waits_for(&mut self, start: &str) {
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.lines.as_ref().unwrap().recv_timeout(left) {
                Ok(line) => self.seen.push(line),
                Err(_) => panic!("no line begins with {start:?}: {:#?}", self.seen),
            }
            if self.seen.last().unwrap().starts_with(start) {
                return;
            }
        }
    }

    /// Waits until there is a line with each of these beginnings, in whatever order.
    pub fn waits_for_all(&mut self, starts: &[&str]) {
        let began = Instant::now();
        while !starts.iter().all(|start| self.seen.iter().any(|line| line.starts_with(start))) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let line = self.lines.as_ref().unwrap().recv_timeout(left);
            self.seen.push(line.unwrap_or_else(|_| panic!("not all of {starts:?}: {:#?}", self.seen)));
        }
    }

    /// The command's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Signals, and returns all that it ever said when it has ended.
    pub fn ends_by(&mut self, signal: Signal) -> Vec<String> {
        self.signal(signal);
        self.rest()
    }

    /// All that it ever said, when it has ended.
    pub fn rest(&mut self) -> Vec<String> {
        let began = Instant::now();
        loop {
            match self.lines.as_ref().unwrap().recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => return self.seen.clone(),
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:#?}", self.seen),
            }
        }
    }

    /// Reads no further: after the next line its pipe is closed.
    pub fn close(&mut self) {
        self.lines = None;
    }

    /// Its exit status, when it has ended.
    pub fn status(&mut self) -> i32 {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or_else(|| panic!("{status}"));
            }
            assert!(began.elapsed() < PATIENCE, "it does not end: {:#?}", self.seen);
            horus::time::pause(Duration::from_millis(10));
        }
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}
