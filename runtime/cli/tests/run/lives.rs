//! The order of starts and ends, deaths, restarts, and signals.

use std::time::Duration;

use crate::running::{self, PING_AND_PONG, Scene, built, is_gone, pause_until};

/// Of a script: waits until the test makes the file `go`.
const UNTIL_GO: &str = "until [ -e go ]; do sleep 0.05; done\n";

#[test]
fn programs_start_when_those_before_them_are_ready_and_end_in_reverse_order() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    let place = |start: &str| {
        lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {lines:#?}"))
    };
    assert!(place("pong  ready after ") < place("ping |"), "ping starts when pong is ready: {lines:#?}");
    assert!(place("ping | ping: stopped") < place("pong | pong: stopped"), "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "ping, pong ended in order");
    assert_eq!(robot.status(), 0);
    assert!(lines.iter().all(|line| !line.contains('\x1b')), "no terminal, no colours: {lines:#?}");
    assert!(scene.has_left_nothing());
}

#[test]
fn sigterm_ends_all_as_ctrl_c_does_and_a_signal_that_comes_twice_is_one() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    robot.signal(rustix::process::Signal::TERM);
    let lines = robot.ends_by(rustix::process::Signal::TERM);
    assert_eq!(lines.last().unwrap(), "ping, pong ended in order");
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_fails_is_told_with_its_last_words_and_started_again_with_longer_pauses() {
    let scene = Scene::new("[programs.vision]\nrun = \"vision.py\"\nrestart = \"on-failure\"\n");
    scene.script("vision.py", "import no_such_module\n");
    let mut robot = scene.start(&[]);
    let words = "vision  ended: ModuleNotFoundError: No module named 'no_such_module' -> again in";
    robot.waits_for(&format!("{words} 0.5 s (1 of 5)"));
    robot.waits_for(&format!("{words} 1 s (2 of 5)"));
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_is_killed_runs_again_and_the_others_go_on() {
    let scene = Scene::new(&PING_AND_PONG.replace("[programs.pong]\n", "[programs.pong]\nrestart = \"on-failure\"\n"));
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let [pong] = scene.processes_of(&built("pong"))[..] else { panic!("one pong runs") };
    running::kill(pong);
    robot.waits_for("pong  ended by signal 9 (SIGKILL): ");
    robot.waits_for("pong  ready after ");
    let [again] = scene.processes_of(&built("pong"))[..] else { panic!("one pong runs again") };
    assert_ne!(pong, again);
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "ping, pong ended in order");
}

#[test]
fn a_killed_command_leaves_no_program_and_no_folder() {
    let scene = Scene::new(&format!("{PING_AND_PONG}[programs.more]\nrun = \"more.sh\"\nready = \"start\"\n"));
    // A program that hears no SIGTERM, and a child of it.
    scene.script("more.sh", "trap '' TERM\nsleep 61 &\necho $! > child\necho $$ > more\nwhile :; do sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    pause_until("the child runs", || scene.number("more").is_some());
    let own = [scene.processes_of(&built("ping")), scene.processes_of(&built("pong"))].concat();
    let others = [scene.number("child").unwrap(), scene.number("more").unwrap()];
    robot.kill();
    for process in own.iter().chain(&others) {
        pause_until("all end", || is_gone(*process));
    }
    pause_until("the folder is removed", || scene.has_left_nothing());
}

#[test]
fn a_program_that_does_not_end_is_killed_after_its_grace_time() {
    let scene = Scene::new("[programs.deaf]\nrun = \"deaf.sh\"\nready = \"start\"\n");
    scene.script("deaf.sh", "trap '' TERM\necho deaf\nwhile :; do sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("deaf | deaf");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert!(lines.contains(&"deaf  did not end within 5 s of SIGTERM: killed".to_owned()), "{lines:#?}");
    assert_eq!(robot.status(), 1);
}

#[test]
fn a_later_second_signal_kills_all_at_once() {
    let scene = Scene::new("[programs.deaf]\nrun = \"deaf.sh\"\nready = \"start\"\n");
    scene.script("deaf.sh", "trap 'echo asked' TERM\necho deaf\nwhile :; do sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("deaf | deaf");
    robot.signal(rustix::process::Signal::INT);
    robot.waits_for("deaf | asked");
    horus::time::pause(Duration::from_millis(1_100));
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert!(lines.contains(&"a second signal: all are killed".to_owned()), "{lines:#?}");
    assert_eq!(robot.status(), 1);
}

#[test]
fn a_program_that_is_never_ready_ends_all_if_another_waits_for_it() {
    let scene = Scene::new(
        "[programs.sim]\nrun = \"sim.sh\"\nready_within = \"300 ms\"\n[programs.nav]\nrun = \"nav.sh\"\nafter = [\"sim\"]\n",
    );
    scene.script("sim.sh", "exec sleep 60\n");
    scene.script("nav.sh", "touch started\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("sim  is not ready after 0.3 s: it has to say READY=1");
    robot.waits_for("nav starts after sim, which is not ready: all are ended");
    assert_eq!(robot.status(), 1);
    assert!(!scene.path("started").exists());
}

#[test]
fn a_program_that_is_never_ready_goes_on_if_no_other_waits_for_it() {
    let scene = Scene::new("[programs.sim]\nrun = \"sim.sh\"\nready_within = \"100 ms\"\n");
    scene.script("sim.sh", &format!("{UNTIL_GO}echo goes on\n"));
    let mut robot = scene.start(&[]);
    robot.waits_for("sim  is not ready after 0.1 s");
    std::fs::write(scene.path("go"), "").unwrap();
    robot.waits_for("sim | goes on");
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_dies_before_it_is_ready_ends_all_if_another_waits_for_it() {
    let scene = Scene::new(
        "[programs.other]\nrun = \"other.sh\"\nready = \"start\"\n[programs.sim]\nrun = \"sim.sh\"\n[programs.nav]\nrun = \"other.sh\"\nafter = [\"sim\"]\n",
    );
    scene.script("other.sh", "exec sleep 60\n");
    scene.script("sim.sh", "echo no road >&2\nexit 3\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("sim  ended with status 3: no road");
    robot.waits_for("sim was never ready, and nav starts after it: all are ended");
    robot.waits_for("other ended in order");
    assert_eq!(robot.status(), 1);
}

#[test]
fn an_optional_program_that_cannot_start_is_left_out_and_those_after_it_start() {
    let scene = Scene::new(
        "[programs.vision]\nrun = \"vision.py\"\noptional = true\nrestart = \"always\"\n[programs.arm]\nrun = \"arm\"\noptional = true\n\
         [programs.pong]\nrun = \"@pong@\"\nafter = [\"vision\", \"arm\"]\n",
    );
    scene.script("vision.py", "import no_such_module\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("arm is left out: there is no ");
    robot.waits_for("vision  is left out: ended: ModuleNotFoundError: No module named 'no_such_module'");
    robot.waits_for("pong  ready after ");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "pong ended in order");
    assert_eq!(robot.status(), 0);
}

#[test]
fn an_optional_program_that_was_ready_and_dies_is_a_failure_as_any_other() {
    let scene = Scene::new(
        "[programs.more]\nrun = \"more.sh\"\nready = \"start\"\noptional = true\n[programs.pong]\nrun = \"@pong@\"\n",
    );
    scene.script("more.sh", "sleep 0.5\necho no bulb >&2\nexit 1\n");
    let mut robot = scene.start(&[]);
    robot.waits_for_all(&["more  ended: no bulb", "pong  ready after "]);
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(robot.status(), 1);
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let scene = Scene::new("[programs.parent]\nrun = \"parent.sh\"\nready = \"start\"\n");
    scene.script("parent.sh", "sleep 62 &\necho $! > child\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("parent  ended");
    assert_eq!(robot.status(), 0);
    let child = scene.number("child").unwrap();
    pause_until("the child ends", || is_gone(child));
}

#[test]
fn a_group_brings_those_that_its_programs_start_after_and_no_other() {
    let scene = Scene::new(&format!(
        "{PING_AND_PONG}[programs.other]\nrun = \"other.sh\"\nready = \"start\"\ngroup = \"charge\"\n[groups]\ndrive = [\"ping\"]\n"
    ));
    scene.script("other.sh", "touch started\n");
    let mut robot = scene.start(&["--group", "drive"]);
    robot.waits_for("ping  ready after ");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "ping, pong ended in order");
    assert!(!scene.path("started").exists());
    let refused = scene.refused(&["--group", "drvie"]);
    assert!(refused.contains("there is no group `drvie`: did you mean `drive`?; there is charge, drive"), "{refused}");
}

#[test]
fn lines_of_programs_steer_no_terminal() {
    let scene = Scene::new("[programs.loud]\nrun = \"loud.sh\"\nready = \"start\"\n");
    scene.script("loud.sh", "printf 'a\\033[2Jb\\n\\377\\n'\nhead -c 100000 /dev/zero | tr '\\0' x\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("loud  ended");
    let lines = robot.rest();
    assert!(lines.contains(&"loud | a\u{fffd}[2Jb".to_owned()), "{lines:#?}");
    assert!(lines.iter().all(|line| line.len() < 5_000));
}

#[test]
fn a_reader_that_goes_ends_the_robot() {
    let scene = Scene::new("[programs.loud]\nrun = \"loud.sh\"\nready = \"start\"\n");
    scene.script("loud.sh", "while :; do echo loud; sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("loud | loud");
    robot.close();
    robot.status();
    assert!(scene.has_left_nothing());
}

#[test]
fn what_a_script_starts_has_time_to_end_although_the_script_ends_at_once() {
    let scene = Scene::new("[programs.arm]\nrun = \"arm.sh\"\nready = \"start\"\n");
    scene.script("arm.sh", "./motor.sh\n");
    scene.script("motor.sh", "trap 'sleep 0.5; echo stands; exit' TERM\necho turns\nwhile :; do sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("arm | turns");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert!(lines.contains(&"arm | stands".to_owned()), "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "arm ended in order");
}

#[test]
fn a_program_that_is_ready_late_is_told_so() {
    let scene = Scene::new("[programs.pong]\nrun = \"late.sh\"\nready_within = \"100 ms\"\n");
    scene.script("late.sh", &format!("{UNTIL_GO}exec {}\n", built("pong").display()));
    let mut robot = scene.start(&[]);
    robot.waits_for("pong  is not ready after 0.1 s");
    std::fs::write(scene.path("go"), "").unwrap();
    robot.waits_for("pong  ready after ");
    robot.ends_by(rustix::process::Signal::INT);
}

#[test]
fn a_command_that_is_killed_at_whatever_time_leaves_no_program() {
    let scene = Scene::new(PING_AND_PONG);
    for delay in [5, 20, 40, 60, 80, 110, 150, 250] {
        let mut robot = scene.start(&[]);
        horus::time::pause(Duration::from_millis(delay));
        robot.kill();
        let is_over = || scene.processes().is_empty() && scene.has_left_nothing();
        pause_until(&format!("all end after {delay} ms"), is_over);
    }
}

#[test]
fn what_leaves_its_group_ends_with_the_robot() {
    let scene = Scene::new("[programs.parent]\nrun = \"parent.sh\"\nready = \"start\"\n");
    scene.script("parent.sh", "setsid sleep 63 > log 2>&1 &\necho $! > child\necho parent\nexec sleep 63\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("parent | parent");
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(scene.processes(), Vec::<u32>::new());
    let mut robot = scene.start(&[]);
    robot.waits_for("parent | parent");
    robot.kill();
    pause_until("all end", || scene.processes().is_empty());
}

#[test]
fn a_reader_that_does_not_read_holds_up_no_end() {
    let scene = Scene::new(
        "[programs.loud]\nrun = \"loud.sh\"\nready = \"start\"\n[programs.calm]\nrun = \"calm.sh\"\nready = \"start\"\n",
    );
    scene.script("loud.sh", "while :; do echo loud; done\n");
    scene.script("calm.sh", "sleep 1\ntouch calm\n");
    let mut robot = scene.start_unread();
    pause_until("the other one ends", || scene.path("calm").exists());
    robot.signal(rustix::process::Signal::INT);
    assert_eq!(robot.status(), 0);
    assert!(scene.processes().is_empty() && scene.has_left_nothing());
}

#[test]
fn a_guard_that_is_killed_is_started_anew_and_does_its_work() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let guards = || {
        let all = scene.processes_of(std::path::Path::new(env!("CARGO_BIN_EXE_horus")));
        all.into_iter().filter(|process| *process != robot.id()).collect::<Vec<_>>()
    };
    let first = guards();
    assert_eq!(first.len(), 1);
    running::kill(first[0]);
    pause_until("another guard runs", || guards().len() == 1 && guards() != first);
    robot.waits_for("the guard, which ends programs when this command is killed, was killed itself: it runs again");
    robot.kill();
    pause_until("all end", || scene.processes().is_empty() && scene.has_left_nothing());
}

#[test]
fn the_first_signal_while_all_are_ended_anyway_kills_none() {
    let scene = Scene::new(
        "[programs.arm]\nrun = \"arm.sh\"\nready = \"start\"\n[programs.sim]\nrun = \"sim.sh\"\n[programs.nav]\nrun = \"arm.sh\"\nafter = [\"sim\"]\n",
    );
    scene.script("arm.sh", "trap 'sleep 2; echo stands; exit' TERM\ntouch turns\nwhile :; do sleep 0.1; done\n");
    scene.script("sim.sh", "until [ -e turns ]; do sleep 0.05; done\nexit 1\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("sim was never ready, and nav starts after it: all are ended");
    horus::time::pause(Duration::from_millis(1_100));
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert!(lines.contains(&"arm | stands".to_owned()) && lines.last().unwrap() == "arm ended in order", "{lines:#?}");
    assert_eq!(robot.status(), 1);
}

#[test]
fn when_the_command_is_killed_programs_say_what_they_have_to_and_end_in_order() {
    let scene = Scene::new(
        "[programs.sim]\nrun = \"sim.sh\"\nready = \"start\"\nrestart = \"on-failure\"\n\
         [programs.nav]\nrun = \"nav.sh\"\nready = \"start\"\nafter = [\"sim\"]\n",
    );
    // More than a pipe holds: each line would end it by SIGPIPE, or hold it up, if the pipe were not read.
    let end = "trap 'for i in $(seq 2000); do echo a line that none reads, and one more; done; echo NAME >> order; exit 0' TERM\n";
    let work = "echo $$ > NAME\necho NAME\nwhile :; do sleep 0.05; done\n";
    for name in ["sim", "nav"] {
        scene.script(&format!("{name}.sh"), &format!("{end}{work}").replace("NAME", name));
    }
    let mut robot = scene.start(&[]);
    robot.waits_for_all(&["nav | nav", "sim | sim"]);
    // Started again, so after the one that starts after it.
    running::kill(scene.number("sim").unwrap());
    robot.waits_for("sim  ended by signal 9 (SIGKILL)");
    robot.waits_for("sim | sim");
    robot.kill();
    pause_until("all end", || scene.has_left_nothing());
    assert_eq!(std::fs::read_to_string(scene.path("order")).unwrap(), "nav\nsim\n");
}
