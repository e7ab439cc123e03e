//! `horus topic` commands that go on until they are interrupted, started and read by tests.
#![allow(dead_code)] // each test file uses a part of it

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use horus::topic::Options;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A directory of topics.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn options(&self, options: Options) -> Options {
        options.directory(self.path())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.arg("topic").args(arguments).env("HORUS_SHM_DIR", self.path()).env_remove("HORUS_NAMESPACE");
        command
    }

    /// Runs a command that ends by itself.
    pub fn topic(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What it prints when it succeeds.
    pub fn said(&self, arguments: &[&str]) -> String {
        let output = self.topic(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        lines_of(self.said(&[arguments, &["--json"]].concat()).as_bytes())
    }

    /// Starts a command that goes on.
    pub fn start(&self, arguments: &[&str]) -> Watching {
        let mut child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let notes = BufReader::new(child.stderr.take().unwrap()).lines();
        Watching { child, out: Some(out), notes }
    }
}

/// The values of output that has one a line.
pub fn lines_of(output: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(output).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A command that goes on.
pub struct Watching {
    child: Child,
    out: Option<Lines<BufReader<ChildStdout>>>,
    notes: Lines<BufReader<ChildStderr>>,
}

impl Watching {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn text_line(&mut self) -> String {
        self.out.as_mut().unwrap().next().expect("the command ended early").unwrap()
    }

    pub fn line(&mut self) -> Value {
        serde_json::from_str(&self.text_line()).unwrap()
    }

    /// Reads windows until they have `wanted` messages together, and returns how many they have.
    pub fn count_to(&mut self, wanted: u64) -> u64 {
        let mut counted = 0;
        while counted < wanted {
            counted += self.line()["messages"].as_u64().unwrap();
        }
        counted
    }

    /// The next thing that it says beside its output.
    pub fn note(&mut self) -> String {
        self.notes.next().expect("the command ended without a word").unwrap()
    }

    pub fn interrupt(&mut self) {
        self.signal(Signal::INT);
    }

    /// Stops the process as Ctrl-Z does.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// Closes its output.
    pub fn close(&mut self) {
        self.out = None;
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn status(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// The rest of its output, when it ends without an error.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        for line in self.out.take().unwrap() {
            rest.extend(line.unwrap().into_bytes());
            rest.push(b'\n');
        }
        let status = self.status();
        let notes: Vec<_> = self.notes.by_ref().map_while(Result::ok).collect();
        assert_eq!(status, Some(0), "{notes:?}");
        rest
    }

    pub fn finish_with_lines(&mut self) -> Vec<Value> {
        lines_of(&self.finish())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}
