//! `horus run --virtual`: several programs on one virtual clock. Their steps are in `program.rs`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::Signal;

use crate::running::Scene;

/// `program.rs`, which cargo builds with these tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let above = test.parent().and_then(std::path::Path::parent).unwrap();
    let path = above.join("examples/virtual-robot");
    assert!(path.is_file(), "no {}: `cargo build --package horus-cli --examples` builds it", path.display());
    path
}

/// A robot of these programs: the name of each, its argument, and more lines of its table.
fn robot(programs: &[(&str, &str, &str)]) -> Scene {
    let program = program();
    let tables = programs.iter().map(|(name, role, more)| {
        format!("[programs.{name}]\nrun = \"{}\"\nargs = [{role}]\n{more}\n", program.display())
    });
    Scene::new(&tables.collect::<String>())
}

/// Three programs with topics, a service, transforms, a parameter and a publisher of a node's own.
fn three(gain: &str) -> Scene {
    let nav = format!("after = [\"sim\"]\nenv = {{ GAIN = \"{gain}\" }}");
    robot(&[("sim", "\"sim\"", ""), ("nav", "\"nav\"", &nav), ("goals", "\"goals\"", "")])
}

/// The lines with the numbers of all topics, and that of all, of a run that goes well.
fn digest(scene: &Scene, span: &str) -> Vec<String> {
    let mut run = scene.start(&["--virtual", "--for", span]);
    let lines = run.rest();
    assert_eq!(run.status(), 0, "{lines:#?}");
    let digest: Vec<_> =
        lines.iter().filter(|line| line.starts_with(' ') || line.starts_with("digest ")).cloned().collect();
    assert!(digest.last().is_some_and(|line| line.ends_with(&format!(" at {span}"))), "{lines:#?}");
    digest
}

/// All CPUs are busy until the last one of this is dropped.
struct Load(Arc<AtomicBool>);

impl Load {
    fn new() -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            let goes_on = Arc::clone(&goes_on);
            thread::spawn(move || while goes_on.load(Ordering::Relaxed) {});
        }
        Self(goes_on)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn two_runs_of_three_programs_are_the_same_bit_for_bit_on_a_busy_machine_too() {
    let first = digest(&three("0.8"), "1 s");
    for topic in ["base.cmd", "goal", "lines", "odom", "transforms"] {
        assert!(first.iter().any(|line| line.trim_start().starts_with(&format!("{topic} "))), "{topic}: {first:#?}");
    }
    let _load = Load::new();
    assert_eq!(digest(&three("0.8"), "1 s"), first);
}

#[test]
fn another_parameter_makes_another_run() {
    let [one, other] = ["0.8", "0.9"].map(|gain| digest(&three(gain), "1 s"));
    let of = |lines: &[String], topic: &str| lines.iter().find(|line| line.trim_start().starts_with(topic)).cloned();
    assert_ne!(of(&one, "base.cmd "), of(&other, "base.cmd "));
    assert_ne!(one.last(), other.last());
}

#[test]
fn a_longer_run_has_another_number() {
    let scene = three("0.8");
    assert_ne!(digest(&scene, "1 s").last(), digest(&scene, "2 s").last());
}

#[test]
fn a_program_of_a_shell_is_refused_with_what_to_do() {
    let scene = Scene::new("[programs.log]\nrun = \"log.sh\"\nready = \"start\"\n");
    scene.script("log.sh", "echo never > ran\n");
    let refused = scene.refused(&["--virtual"]);
    assert!(refused.contains("log is no program of nodes") && refused.contains("optional = true"), "{refused}");
    assert!(!scene.path("ran").exists());
    let refused = scene.refused(&["--for", "1s"]);
    assert!(refused.contains("--virtual"), "{refused}");
}

#[test]
fn a_program_of_a_shell_that_is_optional_is_left_out() {
    let text = format!(
        "[programs.log]\nrun = \"log.sh\"\noptional = true\n[programs.sim]\nrun = \"{}\"\nargs = [\"sim\"]\nafter = [\"log\"]\n",
        program().display()
    );
    let scene = Scene::new(&text);
    scene.script("log.sh", "echo never > ran\n");
    let mut run = scene.start(&["--virtual", "--for", "10 ms"]);
    run.waits_for("log is left out: it is no program of nodes");
    let lines = run.rest();
    assert_eq!(run.status(), 0, "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("  odom ") && line.ends_with("  10 messages")), "{lines:#?}");
    assert!(!scene.path("ran").exists());
}

#[test]
fn a_step_that_hangs_ends_the_run_and_is_named() {
    let scene = robot(&[("sim", "\"sim\"", ""), ("arm", "\"broken\"", "env = { FAULT = \"hang\" }")]);
    let mut run = scene.start(&["--virtual", "--turn-limit", "5s"]);
    run.waits_for("arm  has not come back for 5 s from its turn at 0.11 s of virtual time: node gear is in a step");
    let lines = run.rest();
    assert_eq!(run.status(), 1, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("digest ")), "{lines:#?}");
    assert!(scene.processes().is_empty());
}

#[test]
fn a_program_that_dies_or_leaves_in_its_step_ends_the_run() {
    for (fault, sentence) in [
        ("panic", "arm  ended: node gear panicked: the gear is gone"),
        ("leave", "arm  is gone in its turn at 0.11 s of virtual time, and the others wait for it"),
    ] {
        let fault = format!("env = {{ FAULT = \"{fault}\" }}");
        let scene = robot(&[("sim", "\"sim\"", ""), ("arm", "\"broken\"", &fault)]);
        let mut run = scene.start(&["--virtual"]);
        run.waits_for(sentence);
        let lines = run.rest();
        assert_eq!(run.status(), 1, "{lines:#?}");
        assert!(scene.processes().is_empty() && scene.has_left_nothing());
    }
}

#[test]
fn programs_that_answer_each_other_without_end_are_told() {
    let first = "env = { FIRST = \"1\", NAME = \"first\" }";
    let scene = robot(&[("one", "\"echo\"", first), ("other", "\"echo\"", "env = { NAME = \"other\" }")]);
    let mut run = scene.start(&["--virtual", "--for", "10s"]);
    let lines = run.rest();
    let is_told =
        |line: &String| line.contains(" release each other without end at 1.") && line.contains("min_inter_arrival");
    assert!(lines.iter().any(is_told), "{lines:#?}");
    assert_eq!(run.status(), 1);
}

#[test]
fn a_robot_whose_nodes_have_ended_ends() {
    let scene = robot(&[("arm", "\"broken\", \"--releases\", \"5\"", "")]);
    let mut run = scene.start(&["--virtual"]);
    run.waits_for("nothing more is due");
    run.waits_for("0.05 s of virtual time in ");
    let lines = run.rest();
    assert!(
        lines.iter().any(|line| line.starts_with("arm | gear: 5 releases") && line.ends_with("in virtual time")),
        "{lines:#?}"
    );
    assert_eq!(run.status(), 0);
}

#[test]
fn ctrl_c_ends_a_run_without_an_end_in_order() {
    let scene = three("0.8");
    let mut run = scene.start(&["--virtual"]);
    run.waits_for("goals  ready after ");
    let lines = run.ends_by(Signal::INT);
    assert_eq!(run.status(), 0, "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("stopped: two runs that are stopped by hand")), "{lines:#?}");
    // nav starts after sim, and so it ends before it; goals ends when it likes.
    let ended: Vec<_> = lines.last().unwrap().trim_end_matches(" ended in order").split(", ").collect();
    let place = |name: &str| ended.iter().position(|ended| *ended == name).unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(place("nav") < place("sim") && place("goals") < 3, "{lines:#?}");
    assert!(scene.processes().is_empty() && scene.has_left_nothing());
}
