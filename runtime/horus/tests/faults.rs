//! Nodes that fail, as real processes beside a real monitor: what is safe gets published, and the journal says why.
//!
//! Nothing here asserts how fast that is; a slow machine makes these tests long, not red.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use horus::journal::Entry;
use horus::monitor::Monitor;
use horus::prelude::*;
use horus::topic::Directory;
use rustix::process::{Pid, Signal, kill_process};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

#[path = "../examples/faulty.rs"]
mod faulty;

#[test]
#[ignore = "a program that other tests of this file start"]
fn faulty_program() {
    if let Err(error) = faulty::run() {
        eprintln!("faulty: {error}");
        std::process::exit(1);
    }
}

#[test]
fn a_program_without_horus_main_is_described_and_does_not_run() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = Directory::at(scratch.path().join("topics")).unwrap();
    let options = Options::latest(8).publishers(2).directory(directory.path());
    let mut commands = Subscriber::<CmdVel>::open("faulty.cmd", &options).unwrap();
    let mut program = command("none", directory.path());
    // The word is an argument of the tests' own option, and the program sees it.
    let done = program.args(["--skip", "--describe"]).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(
        done.status.success() && said.contains("\"name\": \"faulty\"") && said.contains("\"faulty.cmd\""),
        "{said}"
    );
    assert!(commands.try_recv().is_none(), "it published");
}

/// A faulty node, a monitor, and who listens to the node's commands.
struct Scene {
    node: Child,
    monitor: Monitor,
    commands: Subscriber<CmdVel>,
    told: Vec<Entry>,
    /// Whether the monitor looks.
    is_watched: bool,
    _scratch: tempfile::TempDir,
}

/// Starts the faulty program.
fn start(fault: &str, topics: &Path) -> Child {
    command(fault, topics).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn command(fault: &str, topics: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "faulty_program", "--ignored", "--nocapture"])
        .env("FAULT", fault)
        .env("HORUS_SHM_DIR", topics)
        .env(horus::journal::VARIABLE, horus::journal::PRINT) // also on a machine that has a journal
        .env_remove("NOTIFY_SOCKET");
    command
}

impl Scene {
    fn begin(fault: &str) -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path().join("topics")).unwrap();
        let options = Options::latest(8).publishers(2).directory(directory.path());
        let commands = Subscriber::<CmdVel>::open("faulty.cmd", &options).unwrap();
        let node = start(fault, directory.path());
        Self { node, monitor: Monitor::new(directory), commands, told: Vec::new(), is_watched: true, _scratch: scratch }
    }

    /// Starts the node once more, on the same topics and under the same monitor.
    fn restart(&mut self) {
        self.ended();
        self.node = start("none", &self._scratch.path().join("topics"));
        self.told.clear();
    }

    /// Lets the monitor look until `is_over` likes what came.
    fn until(&mut self, what: &str, mut is_over: impl FnMut(&mut Self, Option<CmdVel>) -> bool) {
        let end = MonotonicTime::now().plus(PATIENCE);
        loop {
            let mut next = MonotonicTime::now().plus(ms(100));
            if self.is_watched {
                let (told, soon) = self.monitor.look(MonotonicTime::now()).unwrap();
                self.told.extend(told);
                next = soon;
            }
            let command = self.commands.recv_timeout(next.since(MonotonicTime::now())).map(|received| received.message);
            if is_over(self, command) {
                return;
            }
            assert!(MonotonicTime::now() < end, "{what}: {:?}", self.texts());
        }
    }

    fn texts(&self) -> Vec<&str> {
        self.told.iter().map(Entry::message).collect()
    }

    /// Waits until the node drives, and then until what is safe was published.
    fn until_safe(&mut self) {
        self.until("it drives", |_, command| command.is_some_and(|command| command.forward > 0.0));
        self.until("it is safe", |_, command| command == Some(CmdVel::STOP));
    }

    /// Waits until the node has ended; one that does not is shown with what its threads wait for.
    fn ended(&mut self) -> ExitStatus {
        let end = MonotonicTime::now().plus(PATIENCE);
        loop {
            if let Some(status) = self.node.try_wait().unwrap() {
                return status;
            }
            if MonotonicTime::now() > end {
                let tasks = std::fs::read_dir(format!("/proc/{}/task", self.node.id())).unwrap();
                let wait = |task: std::io::Result<std::fs::DirEntry>| {
                    let read =
                        |file| std::fs::read_to_string(task.as_ref().unwrap().path().join(file)).unwrap_or_default();
                    format!("{} {} {}", read("comm").trim(), read("wchan"), read("syscall").trim())
                };
                let waits: Vec<_> = tasks.map(wait).collect();
                let _ = self.node.kill();
                panic!("it does not end: {waits:?}, it said {}", self.said());
            }
            sleep(ms(10));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.node), signal).unwrap();
    }

    /// What the node said, when it has ended.
    fn said(&mut self) -> String {
        let mut text = String::new();
        self.node.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

/// One at a time: each keeps a CPU busy.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn a_step_that_hangs_is_made_safe_by_the_monitor() {
    let _alone = alone();
    for fault in ["hang", "sleep"] {
        let mut scene = Scene::begin(fault);
        scene.until_safe();
        let texts = scene.texts();
        assert!(
            texts.iter().any(|text| text.starts_with("node faulty is made safe by the monitor: cycle ")),
            "{texts:?}"
        );
    }
}

#[test]
fn a_monitor_that_is_started_again_does_not_repeat_what_was_made_safe_before() {
    let _alone = alone();
    let mut scene = Scene::begin("sleep");
    scene.until_safe();
    // Its successor has the first one's lanes, and finds there what that one said.
    let directory = Directory::at(scene._scratch.path().join("topics")).unwrap();
    scene.monitor = Monitor::new(directory);
    scene.told.clear();
    let mut looks = 0;
    scene.until("it has looked", |scene, command| {
        assert_eq!(command, None, "it was published again");
        looks += u32::from(!scene.monitor.is_idle());
        looks > 5
    });
    assert!(!scene.texts().iter().any(|text| text.contains("made safe")), "{:?}", scene.texts());
    // What was said before the last cycle counts no more.
    scene.signal(Signal::KILL);
    scene.restart();
    scene.until("it drives", |_, command| command.is_some_and(|command| command.forward > 0.0));
    scene.signal(Signal::STOP);
    scene.monitor = Monitor::new(Directory::at(scene._scratch.path().join("topics")).unwrap());
    scene.until("it is safe", |_, command| command == Some(CmdVel::STOP));
}

#[test]
fn a_node_that_is_stopped_is_made_safe_and_goes_on_with_its_safe_state() {
    let _alone = alone();
    let mut scene = Scene::begin("none");
    scene.until("it drives", |_, command| command.is_some_and(|command| command.forward > 0.0));
    scene.signal(Signal::STOP);
    scene.until("it is safe", |_, command| command == Some(CmdVel::STOP));
    assert!(scene.texts().iter().any(|text| text.contains("made safe by the monitor")), "{:?}", scene.texts());
    scene.signal(Signal::CONT);
    let mut safe = 0;
    // What it had set before it was stopped may still come; then only what is safe does.
    scene.until("it goes on", |_, command| {
        safe = if command == Some(CmdVel::STOP) {
            safe + 1
        } else if command.is_some() {
            0
        } else {
            safe
        };
        safe >= 20
    });
}

#[test]
fn a_node_that_is_killed_is_made_safe_and_its_successor_too() {
    let _alone = alone();
    let mut scene = Scene::begin("none");
    for run in 0..2 {
        scene.until("it drives", |_, command| command.is_some_and(|command| command.forward > 0.0));
        scene.until("the monitor knows it", |scene, _| !scene.monitor.is_idle());
        scene.signal(Signal::KILL);
        if run == 0 {
            scene.restart(); // before the monitor looks again
        }
        scene.until("it is safe", |_, command| command == Some(CmdVel::STOP));
        let texts = scene.texts();
        // Its process is gone; or it had hung before, on a busy machine.
        assert!(texts.iter().any(|text| text.starts_with("node faulty is made safe by the monitor: ")), "{texts:?}");
    }
}

#[test]
fn a_program_that_ends_in_order_leaves_what_is_safe() {
    let _alone = alone();
    let mut scene = Scene::begin("none");
    scene.until("it drives", |_, command| command.is_some_and(|command| command.forward > 0.0));
    scene.signal(Signal::TERM);
    scene.until("it is safe", |_, command| command == Some(CmdVel::STOP));
    assert!(scene.ended().success());
    assert!(!scene.texts().iter().any(|text| text.contains("is gone")), "{:?}", scene.texts());
}

#[test]
fn a_node_that_panics_publishes_what_is_safe_and_says_why_it_ends() {
    let _alone = alone();
    let mut scene = Scene::begin("panic");
    scene.until_safe();
    assert!(!scene.ended().success());
    let said = scene.said();
    assert!(said.contains("faulty: node faulty panicked: a wheel came off"), "{said}");
}

#[test]
fn a_node_that_is_late_takes_its_safe_state_by_itself() {
    let _alone = alone();
    let mut scene = Scene::begin("late");
    scene.is_watched = false;
    scene.until_safe();
    scene.signal(Signal::TERM);
    assert!(scene.ended().success());
    let said = scene.said();
    assert!(said.contains("node faulty is in its safe state: 3 misses within 100 cycles"), "{said}");
}

#[test]
fn a_budget_that_is_exceeded_is_told_with_the_cpu_time() {
    let _alone = alone();
    let mut scene = Scene::begin("greedy");
    scene.is_watched = false;
    let mut cycles = 0;
    scene.until("some cycles", |_, command| {
        cycles += u32::from(command.is_some());
        cycles > 15
    });
    scene.signal(Signal::TERM);
    scene.ended();
    let said = scene.said();
    assert!(said.contains("of CPU time in cycle ") && said.contains("its budget is 5ms"), "{said}");
}
