//! `horus run` with real programs and real signals: the order of starts and ends, deaths, restarts, and what is wrong with a file.
//!
//! Nothing here asserts how fast anything is.

mod running;

use std::time::Duration;

use running::{Scene, built, is_gone, pause_until};

const PING_AND_PONG: &str =
    "[programs.ping]\nrun = \"@ping@\"\nafter = [\"pong\"]\n[programs.pong]\nrun = \"@pong@\"\n";

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
    scene.script("sim.sh", "sleep 1\necho goes on\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("sim  is not ready after 0.1 s");
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

/// What is wrong with a file, and what is said of it after the file's name.
const MISTAKES: &[(&str, &str)] = &[
    ("[programs.sim\n", ", line 1: this is no TOML: "),
    ("", ": it has no programs: write [programs.NAME], and below it run = \"PATH\""),
    ("[programs]\n", ", line 1: there is no program: write [programs.NAME]"),
    ("[program.sim]\nrun = \"sim.sh\"\n", ": it has no programs"),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nafer = []\n",
        ", line 3: [programs.sim] has no key `afer`: did you mean `after`?; there is run, after, ",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\n[grups]\n",
        ", line 3: the file has no key `grups`: did you mean `groups`?; there is programs, groups",
    ),
    ("[programs.sim]\nafter = []\n", ", line 1: [programs.sim] does not say what runs: add run = \"PATH\""),
    ("[programs.sim]\nrun = 3\n", ", line 2: `run` holds a text: write it in quotation marks"),
    ("[programs.sim]\nrun = \"sim.sh\"\nafter = \"nav\"\n", ", line 3: `after` is a list: write after = [\"…\"]"),
    ("[programs.sim]\nrun = \"sim.sh\"\nenv = 3\n", ", line 3: `env` is a table: write [programs.sim.env]"),
    ("[programs.\"a b\"]\nrun = \"sim.sh\"\n", ", line 1: 'a b' is no name: use 1 to 64 of "),
    (
        "[programs.a]\nrun = \"sim.sh\"\nafter = [\"c\"]\n[programs.b]\nrun = \"sim.sh\"\nafter = [\"a\"]\n[programs.c]\nrun = \"sim.sh\"\nafter = [\"b\"]\n",
        ", line 1: no program of a -> c -> b -> a can be the first: remove one `after` of them",
    ),
    ("[programs.a]\nrun = \"sim.sh\"\nafter = [\"a\"]\n", ", line 1: no program of a -> a can be the first"),
    (
        "[programs.sim]\nrun = \"sim.sh\"\n[programs.nav]\nrun = \"sim.sh\"\nafter = [\"sin\"]\n",
        ", line 5: `after` names `sin`, which is no program of this file: did you mean `sim`?; there is sim, nav",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\n[groups]\ndrive = [\"nav\"]\n",
        ", line 4: `drive` names `nav`, which is no program of this file; there is sim",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\n[programs.nav]\nrun = \"sim.sh\"\nafter = [\"sim\", \"sim\"]\n",
        ", line 5: `after` names `sim` twice: remove one of them",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\n[programs.sim]\nrun = \"sim.sh\"\n",
        ", line 3: this name stands here for the second time: give one of both another name, or remove it",
    ),
    ("[programs.sim]\nrun = \"sin.sh\"\n", "/sin.sh: did you mean sim.sh, which is there?"),
    ("[programs.sim]\nrun = \"robot\"\n", "/robot: did you mean robot.toml, which is there?"),
    (
        "[programs.sim]\nrun = \"other/planner\"\n",
        "/other/planner: build it, or write its path from the folder of this file",
    ),
    (
        "[programs.sim]\nrun = \"robot.toml\"\n",
        "/robot.toml may not be executed: name a program, or give it the right with `chmod +x ",
    ),
    ("[programs.sim]\nrun = \".\"\n", " has no node.toml: name the program in it, or a folder that `horus new` made"),
    (
        "[programs.sim]\nrun = \"\"\n",
        ", line 2: `run` is empty: name a program, a folder with node.toml, or a .py file",
    ),
    ("[programs.sim]\nrun = \"arm\"\n", "/arm has no program arm yet: build it there with `cargo build`"),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nrestart = \"on_failure\"\n",
        ", line 3: `restart` cannot be \"on_failure\": did you mean `on-failure`?; write one of \"no\", \"on-failure\", \"always\"",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nready = \"now\"\n",
        ", line 3: `ready` cannot be \"now\"; write one of \"notify\", \"start\"",
    ),
    ("[programs.sim]\nrun = \"sim.sh\"\nready_within = \"soon\"\n", ", line 3: `ready_within`: "),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nready_within = \"2000 s\"\n[programs.nav]\nrun = \"sim.sh\"\nready_within = \"0 s\"\n",
        ", line 6: `ready_within` is more than nothing",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nnamespace = \"../lab\"\n",
        ", line 3: `namespace`: '.' cannot stand in the namespace",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nrename = { odom = \"a/b\" }\n",
        ", line 3: `rename`: '/' cannot stand in the topic name",
    ),
    (
        "[programs.sim]\nrun = \"sim.sh\"\nenv = { HORUS_NAMESPACE = \"lab\" }\n",
        ", line 3: `env` cannot set HORUS_NAMESPACE: write `namespace`",
    ),
    ("[programs.sim]\nrun = \"sim.sh\"\nenv = { \"A=B\" = \"c\" }\n", ", line 3: `A=B` names no variable"),
];

#[test]
fn each_mistake_of_a_file_is_a_sentence_with_its_line_and_nothing_is_started() {
    for (file, words) in MISTAKES {
        let scene = Scene::new(file);
        scene.script("sim.sh", "touch started\n");
        std::fs::create_dir(scene.path("arm")).unwrap();
        std::fs::write(scene.path("arm/node.toml"), "program = \"arm\"\n").unwrap();
        let refused = scene.refused(&[]);
        assert!(
            refused.starts_with("horus run: ") && refused.contains("robot.toml") && refused.contains(words),
            "{file}\n{refused}{words}"
        );
        assert_eq!(refused.lines().count(), 1, "{refused}");
        assert!(!scene.path("started").exists());
    }
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let scene = Scene::new("");
    std::fs::remove_file(scene.path("robot.toml")).unwrap();
    assert!(scene.refused(&[]).contains("there is no such file"));
}

#[test]
fn a_renamed_topic_is_the_same_for_both_ends_and_a_namespace_keeps_them_apart() {
    let rename = "rename = { ping = \"wheels.ping\" }\nnamespace = \"lab\"\n";
    let file = PING_AND_PONG.replace("run = ", &format!("{rename}run = "));
    let scene = Scene::new(&file);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let topics = scene.said(&["topic", "list", "--namespace", "lab"]);
    let has = |name: &str| topics.lines().any(|line| line.starts_with(&format!("{name} ")));
    assert!(has("wheels.ping") && has("pong") && !has("ping"), "{topics}");
    let info = scene.said(&["node", "info", "pong", "--namespace", "lab"]);
    assert!(info.contains("reads       wheels.ping"), "{info}");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    let account = lines.iter().find(|line| line.starts_with("pong | pong: ") && line.contains(" received")).unwrap();
    assert!(!account.contains(" 0 received"), "{account}");
}

/// A program that describes itself so; when it is run for real, it leaves the file `started`.
fn described(scene: &Scene, name: &str, nodes: &str) {
    let info = format!("{{\"name\": \"{name}\", \"nodes\": [{nodes}]}}");
    let text = format!("# HORUS_NODE_FILE\nif [ \"$1\" = --describe ]; then echo '{info}'; exit; fi\ntouch started\n");
    scene.script(&format!("{name}.sh"), &text);
}

/// A node of CPU 1 with a budget of so many microseconds a millisecond.
fn node(name: &str, budget: u32) -> String {
    format!(
        "{{\"name\": \"{name}\", \"period_ns\": 1000000, \"deadline_ns\": 1000000, \"budget_ns\": {budget}000, \"cpu\": \"1\", \
         \"scheduling_policy\": \"fifo:80\", \"thread\": 0, \"inputs\": [], \"outputs\": []}}"
    )
}

/// A machine with two CPUs, of which one is isolated.
fn machine(scene: &Scene) -> String {
    let cpus = scene.path("machine/sys/devices/system/cpu");
    std::fs::create_dir_all(&cpus).unwrap();
    for (file, text) in [("isolated", "1"), ("online", "0-1"), ("possible", "0-1"), ("present", "0-1")] {
        std::fs::write(cpus.join(file), format!("{text}\n")).unwrap();
    }
    format!("--root={}", scene.path("machine").display())
}

const TWO: &str = "[programs.a]\nrun = \"a.sh\"\nready = \"start\"\n[programs.b]\nrun = \"b.sh\"\nready = \"start\"\n";

#[test]
fn all_programs_are_admitted_together_before_one_starts() {
    let scene = Scene::new(TWO);
    described(&scene, "a", &node("drive", 300));
    described(&scene, "b", &format!("{},{}", node("lift", 200), node("blink", 1).replace("fifo:80", "other")));
    let mut robot = scene.start(&[&machine(&scene)]);
    robot.waits_for("3 nodes of 2 programs admitted: the fullest CPU is 1 with 50 %; 1 node without a promise");
    assert_eq!(robot.status(), 0);
    assert!(scene.path("started").exists());
}

#[test]
fn programs_that_fit_alone_and_not_together_are_refused_and_none_is_started() {
    let scene = Scene::new(TWO);
    described(&scene, "a", &node("drive", 600));
    described(&scene, "b", &node("lift", 600));
    let refused = scene.refused(&[&machine(&scene)]);
    assert!(refused.contains("refused: a/drive may take ") && refused.contains("b/lift"), "{refused}");
    assert!(!scene.path("started").exists());
}

#[test]
fn one_program_twice_on_the_same_topics_is_refused_and_in_two_namespaces_it_is_not() {
    let file =
        "[programs.left]\nrun = \"a.sh\"\nready = \"start\"\n[programs.right]\nrun = \"a.sh\"\nready = \"start\"\n";
    let scene = Scene::new(file);
    described(&scene, "a", &node("drive", 100));
    let refused = scene.refused(&[]);
    assert!(
        refused.contains("left and right are both the program `a` on the same topics: give one of them"),
        "{refused}"
    );
    assert!(!scene.path("started").exists());
    let scene = Scene::new(&format!("{file}namespace = \"right\"\n"));
    described(&scene, "a", &node("drive", 100));
    let mut robot = scene.start(&[&machine(&scene)]);
    robot.waits_for("2 nodes of 2 programs admitted: the fullest CPU is 1 with 20 %");
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_runs_already_is_told_before_one_starts() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("2 nodes of 2 programs: none asks for a scheduling policy, a budget and one CPU");
    robot.waits_for("ping  ready after ");
    let refused = scene.refused(&[]);
    assert!(refused.contains("ping runs already: the program `ping` is on the topics of /dev/shm/"), "{refused}");
    robot.ends_by(rustix::process::Signal::INT);
}

#[test]
fn a_program_that_cannot_describe_itself_is_told_and_started() {
    let scene = Scene::new("[programs.vision]\nrun = \"vision.py\"\n");
    scene.script("vision.py", "# horus.App(\nimport no_such_module\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("vision is not counted: ");
    robot.waits_for("vision  ended: ModuleNotFoundError: No module named 'no_such_module'");
    assert_eq!(robot.status(), 1);
}

#[test]
fn the_graph_of_what_runs_has_both_ends_of_each_topic() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let mermaid = scene.said(&["node", "graph", "--interval", "200ms"]);
    for line in [
        "flowchart LR",
        "  subgraph g0[\"ping\"]",
        "    n0[\"ping<br/>every 10 ms, deadline 8 ms<br/>longest ",
        "  n0 --> t0",
        "  t0 --> n1",
        "  n1 --> t1",
        "  t1 --> n0",
    ] {
        assert!(mermaid.lines().any(|found| found.starts_with(line)), "{line}\n{mermaid}");
    }
    let topic = mermaid.lines().find(|line| line.starts_with("  t0([\"ping<br/>horus/Stamp<br/>")).unwrap();
    assert!(topic.ends_with(" /s\"])") && !topic.contains(">0 /s"), "{topic}");
    let dot = scene.said(&["node", "graph", "--dot", "--interval", "100ms"]);
    assert!(dot.starts_with("digraph robot {\n") && dot.contains("  n0 -> t0;\n"), "{dot}");
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(scene.said(&["node", "graph", "--interval", "100ms"]), "flowchart LR\n");
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
    scene.script("late.sh", &format!("sleep 1\nexec {}\n", built("pong").display()));
    let mut robot = scene.start(&[]);
    robot.waits_for("pong  is not ready after 0.1 s");
    robot.waits_for("pong  ready after ");
    robot.ends_by(rustix::process::Signal::INT);
}
