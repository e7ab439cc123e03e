//! `horus action` as a program, beside a server in another process: this one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use horus::action::{ActionClient, ActionServer, Options};
use horus::messages::Vector3;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

horus::message! {
    /// Where to go.
    pub struct DriveTo = "test/DriveTo" {
        /// Metres.
        x: f64,
    }
}
horus::message! {
    /// How far it is.
    pub struct Remaining = "test/Remaining" {
        /// Metres.
        metres: f64,
    }
}

type Server = ActionServer<DriveTo, Remaining, Vector3>;

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(arguments).env("HORUS_SHM_DIR", directory).env_remove("HORUS_NAMESPACE");
    command
}

fn action(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, &[&["action"], arguments].concat()).output().unwrap()
}

fn said(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// While `during` runs, goals near by are reached, those farther than 5 are on their way until they are canceled, and those farther than 10 are
/// rejected.
fn while_served(directory: &Path, during: impl FnOnce()) {
    let mut server = Server::open("drive_to", Options::default().directory(directory)).unwrap();
    server.accept_if(|goal| if goal.x > 10.0 { Err("farther than 10 m".into()) } else { Ok(()) });
    let is_over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&is_over);
    let serving = std::thread::spawn(move || {
        while !until.load(Ordering::Relaxed) {
            let Some(mut goal) = server.next_goal(Duration::from_millis(10)) else { continue };
            let (x, is_new) = (goal.value().x, goal.is_new());
            if is_new {
                goal.feedback(Remaining { metres: x / 2.0 }).unwrap();
            }
            let here = Vector3 { x, y: 0.0, z: 0.0 };
            if x < 0.0 {
                goal.abort("there is a wall").unwrap();
            } else if x <= 5.0 {
                goal.succeed(here).unwrap();
            } else if goal.is_canceling() {
                let _ = goal.canceled_with(here);
            } else {
                goal.wait(Duration::from_millis(10));
            }
        }
    });
    during();
    is_over.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

#[test]
fn a_goal_is_sent_and_its_feedbacks_and_its_outcome_are_printed() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    while_served(scratch.path(), || {
        let text = said(action(scratch.path(), &["send", "drive_to", "x: 4"]));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("goal ") && lines[0].ends_with(" accepted"), "{text}");
        assert_eq!(lines[1..6], ["metres: 2.0", "---", "x: 4.0", "y: 0.0", "z: 0.0"]);
        assert!(lines[6].starts_with("succeeded after "), "{text}");
        let text = said(action(scratch.path(), &["send", "drive_to", "x: 4", "--json"]));
        let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events[1]["feedback"]["metres"], 2.0);
        assert_eq!((&events[2]["status"], &events[2]["result"]["x"]), (&"succeeded".into(), &4.0.into()));
    });
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_goal_that_is_not_reached_says_why() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    assert!(refusal(action(scratch.path(), &["send", "drive_to", "x: 4"])).contains("no program serves"));
    assert!(refusal(action(scratch.path(), &["cancel", "drive_to"])).contains("no program serves"));
    while_served(scratch.path(), || {
        let send = |values| refusal(action(scratch.path(), &["send", "drive_to", values]));
        assert!(send("x: 11").contains("rejected the goal: farther than 10 m"));
        assert!(send("x: -1").contains("the goal was aborted: there is a wall"));
        assert!(send("y: 1").contains("there is no field y"));
        let late = refusal(action(scratch.path(), &["send", "drive_to", "x: 7", "--timeout", "50ms"]));
        assert!(
            late.contains("the time is up: canceling the goal") && late.contains("the goal was canceled"),
            "{late}"
        );
        let none = refusal(action(scratch.path(), &["cancel", "drive_to", "00000000000000000000000000000009"]));
        assert!(none.contains("knows no goal"), "{none}");
        assert_eq!(said(action(scratch.path(), &["cancel", "drive_to"])), "no goal is left to cancel\n");
    });
}

#[test]
fn ctrl_c_cancels_the_goal_and_so_does_another_command() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    while_served(scratch.path(), || {
        for by_signal in [true, false] {
            let mut send = command(scratch.path(), &["action", "send", "drive_to", "x: 7"]);
            let mut child = send.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            let accepted = lines.next().unwrap();
            let goal = accepted.split(' ').nth(1).unwrap();
            assert!(lines.any(|line| line == "metres: 3.5"));
            if by_signal {
                kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            } else {
                let list: Value = serde_json::from_str(&said(action(scratch.path(), &["list", "--json"]))).unwrap();
                assert_eq!(
                    (&list[0]["goals"][0]["id"], &list[0]["goals"][0]["status"]),
                    (&goal.into(), &"executing".into())
                );
                let top = said(command(scratch.path(), &["top", "--json", "--interval", "100ms"]).output().unwrap());
                let top: Value = serde_json::from_str(&top).unwrap();
                let shown = &top["actions"][0];
                assert_eq!(
                    (&shown["name"], &shown["server"]["pid"], &shown["clients"], &shown["executing"]),
                    (&"drive_to".into(), &std::process::id().into(), &1.into(), &1.into())
                );
                assert_eq!((&shown["newest"]["id"], &top["services"]), (&goal.into(), &Value::Array(Vec::new())));
                let canceled = said(action(scratch.path(), &["cancel", "drive_to", &goal[..20]]));
                assert_eq!(canceled, format!("goal {goal} is canceling\n"));
            }
            assert!(lines.any(|line| line.starts_with("canceled after ")));
            assert_eq!(child.wait().unwrap().code(), Some(1));
        }
    });
}

#[test]
fn a_goal_whose_command_is_killed_is_canceled() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    while_served(scratch.path(), || {
        let mut send = command(scratch.path(), &["action", "send", "drive_to", "x: 7"]);
        let mut child = send.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "metres: 3.5"));
        child.kill().unwrap();
        child.wait().unwrap();
        let started = Instant::now();
        while !said(action(scratch.path(), &["list"])).contains("canceled") {
            assert!(started.elapsed() < Duration::from_secs(60), "the server does not learn of it");
        }
    });
}

#[test]
fn a_list_says_who_serves_and_topics_of_an_action_are_no_loose_topics() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    assert!(said(action(scratch.path(), &["list"])).starts_with("no actions in "));
    let options = Options::default().directory(scratch.path());
    let client = ActionClient::<DriveTo, Remaining, Vector3>::open("drive_to", options).unwrap();
    assert!(said(action(scratch.path(), &["list"])).contains("none"));
    while_served(scratch.path(), || {
        let list: Value = serde_json::from_str(&said(action(scratch.path(), &["list", "--json"]))).unwrap();
        assert_eq!(
            (&list[0]["name"], &list[0]["goal"], &list[0]["feedback"], &list[0]["result"]),
            (&"drive_to".into(), &"test/DriveTo".into(), &"test/Remaining".into(), &"horus/Vector3".into())
        );
        assert_eq!((&list[0]["server"]["pid"], &list[0]["clients"]), (&std::process::id().into(), &1.into()));
        let topics = said(command(scratch.path(), &["topic", "list"]).output().unwrap());
        assert!(!topics.contains("drive_to.goal") && topics.contains("horus action list"), "{topics}");
    });
    drop(client);
}
