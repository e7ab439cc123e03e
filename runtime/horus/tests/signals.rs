//! Programs of nodes that are asked to end, once or more often: they do so in order, and what is safe is the last that they publish.
//!
//! 20 runs of each way; `HORUS_SIGNAL_RUNS=100` asks for more.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use horus::prelude::*;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const DRIVE: CmdVel = CmdVel { forward: 5.0, turn: 0.0 };

#[test]
#[ignore = "a program that other tests of this file start"]
fn motor_program() {
    let hangs = std::env::var("HANGS").is_ok();
    let mut app = App::new("motor").unwrap();
    if let Ok(grace) = std::env::var("GRACE") {
        app.grace(horus::time::parse_duration(&grace).unwrap());
    }
    let cmd = app.output::<CmdVel>("motor.cmd").unwrap();
    app.node("motor", Motor { cmd, hangs }).period(ms(2)).on_miss(SafeState::after(1000).within(1000));
    app.run().unwrap().iter().for_each(|account| println!("{account}"));
}

struct Motor {
    cmd: Output<CmdVel>,
    hangs: bool,
}

impl Node for Motor {
    fn step(&mut self, cycle: &Cycle) {
        self.cmd.set(DRIVE);
        if cycle.number == 0 || self.hangs {
            println!("drives");
        }
        if self.hangs {
            loop {
                sleep(ms(100));
            }
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.cmd.set(CmdVel::STOP);
    }
}

/// The program, or `timeout` with the program as its child.
struct Motoring {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Motoring {
    /// Waits for the first step: the signals are caught by then.
    fn start(before: &[&str], topics: &Path, variables: &[(&str, &str)]) -> Self {
        let this = std::env::current_exe().unwrap();
        let mut command = match before {
            [] => Command::new(this),
            [first, others @ ..] => {
                let mut command = Command::new(first);
                command.args(others).arg(this);
                command
            }
        };
        command
            .args(["--exact", "motor_program", "--ignored", "--nocapture"])
            .env("HORUS_SHM_DIR", topics)
            .env(horus::journal::VARIABLE, horus::journal::PRINT)
            .envs(variables.iter().copied())
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("drives") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the program ended early");
        }
        Self { child, output }
    }

    fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether a signal that was sent to the program still waits for one of its threads.
    fn is_pending(&self, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let is_of_signals = |line: &&str| line.starts_with("ShdPnd:") || line.starts_with("SigPnd:");
        let mut sets = status.lines().filter(is_of_signals).map(|line| line.split_whitespace().nth(1).unwrap());
        sets.any(|set| u64::from_str_radix(set, 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1)
    }

    /// How it ended, and what it said at its end.
    fn ended(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Motoring {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// Has a program asked to end by `ask` many times. Each time it ends in order, by its own account.
fn ends_in_order(before: &[&str], ask: impl Fn(&Motoring)) {
    let runs = std::env::var("HORUS_SIGNAL_RUNS").map_or(20, |runs| runs.parse().unwrap());
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    for run in 0..runs {
        let motoring = Motoring::start(before, topics.path(), &[]);
        let options = Options::default().directory(topics.path());
        let mut seen = Subscriber::<CmdVel>::open("motor.cmd", options).unwrap();
        ask(&motoring);
        let (status, said) = motoring.ended();
        assert!(status.success(), "run {run}: {status}");
        assert!(said.contains("motor: "), "run {run}: it gave no account: {said}");
        let last = std::iter::from_fn(|| seen.try_recv()).last().expect("something safe comes");
        assert_eq!(last.message, CmdVel::STOP, "run {run}: the last command");
        drop(seen);
        let left: Vec<_> = std::fs::read_dir(topics.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "run {run} left {left:?}");
    }
}

#[test]
fn timeout_signals_its_child_and_its_group_and_the_child_ends_in_order() {
    ends_in_order(&["timeout", "100"], |timeout| timeout.send(Signal::TERM));
}

#[test]
fn sigint_and_sigterm_in_a_row_are_one_request_to_end() {
    ends_in_order(&[], |motor| {
        motor.send(Signal::INT);
        motor.send(Signal::TERM);
    });
}

#[test]
fn ctrl_c_in_a_terminal_that_a_parent_passes_on_is_one_request_to_end() {
    ends_in_order(&[], |motor| {
        kill_process_group(motor.pid(), Signal::INT).unwrap();
        motor.send(Signal::INT);
    });
}

#[test]
fn sigterm_twice_is_one_request_to_end() {
    ends_in_order(&[], |motor| {
        motor.send(Signal::TERM);
        sleep(ms(1));
        let _ = kill_process(motor.pid(), Signal::TERM); // it may have ended, and waits for us
    });
}

#[test]
fn a_third_signal_ends_what_hangs_at_once() {
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut motor = Motoring::start(&[], topics.path(), &[("HANGS", "1"), ("GRACE", "1 min")]);
    // Signals of one number that wait are one.
    let mut sent = 0;
    while motor.child.try_wait().unwrap().is_none() {
        motor.send(Signal::TERM);
        sent += 1;
        sleep(ms(20));
    }
    let (status, said) = motor.ended();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    assert!(sent >= 3 && !said.contains("motor: "), "{sent}");
}

#[test]
fn a_second_signal_after_the_grace_time_ends_what_hangs() {
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut motor = Motoring::start(&[], topics.path(), &[("HANGS", "1"), ("GRACE", "200 ms")]);
    motor.send(Signal::TERM);
    while motor.is_pending(Signal::TERM) {
        sleep(ms(1));
    }
    sleep(ms(400)); // the grace time begins when the program takes the first signal
    assert!(motor.child.try_wait().unwrap().is_none(), "the step goes on");
    motor.send(Signal::INT);
    let (status, _) = motor.ended();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()));
}
