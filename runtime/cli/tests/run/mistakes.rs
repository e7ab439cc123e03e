//! What is wrong with a file: each mistake is a sentence with its line, and nothing is started.

use crate::running::Scene;

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
    (
        "[programs.sim]\nrun = \"sim.sh\"\noptional = \"yes\"\n",
        ", line 3: `optional` is true or false: write optional = true",
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
    std::fs::create_dir(scene.path("robot.toml")).unwrap();
    assert!(scene.refused(&[]).contains("this is a folder: name the robot.toml in it"));
}

#[test]
fn a_key_with_a_dot_is_told_with_its_quotation_marks() {
    for (keys, example) in [
        (
            "rename = { base.cmd = \"left.cmd\" }",
            "`rename`: a key with a dot stands in quotation marks: write \"base.cmd\" = \"left.cmd\"",
        ),
        ("env = { a.b.c = 3 }", "`env`: a key with a dot stands in quotation marks: write \"a.b.c\" = \"…\""),
        ("env = { a = {} }", "`a` holds a text: write it in quotation marks"),
    ] {
        let scene = Scene::new(&format!("[programs.sim]\nrun = \"sim.sh\"\n{keys}\n"));
        let refused = scene.refused(&[]);
        assert!(refused.contains(&format!("robot.toml, line 3: {example}")), "{refused}");
    }
}

#[test]
fn a_script_that_nothing_runs_is_told_before_a_program_starts() {
    let scene = Scene::new(
        "[programs.first]\nrun = \"first.sh\"\nready = \"start\"\n[programs.arm]\nrun = \"arm.sh\"\nafter = [\"first\"]\n",
    );
    scene.script("first.sh", "touch started\n");
    scene.script("arm.sh", "");
    for (text, words) in [
        ("#!/bin/sh\r\necho arm\r\n", "/arm.sh end as on Windows, so what runs it is not found: mend them with `sed "),
        ("#!/nowhere/lua\n", "/arm.sh is a script for /nowhere/lua, which is not there: install that, or "),
        ("echo arm\n", "/arm.sh is a script that does not say what runs it: write #!/bin/sh as its first line"),
    ] {
        std::fs::write(scene.path("arm.sh"), text).unwrap();
        let refused = scene.refused(&[]);
        assert!(refused.contains("robot.toml, line 5: ") && refused.contains(words), "{refused}");
        assert!(!scene.path("started").exists());
    }
}

#[test]
fn a_robot_of_which_no_program_is_left_is_refused() {
    let scene = Scene::new("[programs.sim]\nrun = \"sim.sh\"\n[groups]\ndrive = []\n");
    scene.script("sim.sh", "touch started\n");
    let refused = scene.refused(&["--group", "drive"]);
    assert!(refused.contains("no program is left to be started: "), "{refused}");
    assert!(!scene.path("started").exists());
    let scene = Scene::new("[programs.arm]\nrun = \"arm\"\noptional = true\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("arm is left out: there is no ");
    assert_eq!(robot.status(), 2);
}

#[test]
fn an_optional_program_that_ends_well_before_it_is_ready_is_left_out_and_those_after_it_start() {
    let scene = Scene::new(
        "[programs.arm]\nrun = \"arm.sh\"\noptional = true\n[programs.nav]\nrun = \"nav.sh\"\nready = \"start\"\nafter = [\"arm\"]\n",
    );
    scene.script("arm.sh", "exit 0\n");
    scene.script("nav.sh", "echo drives\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("arm  is left out: it ended before it was ready");
    robot.waits_for("nav | drives");
    assert_eq!(robot.status(), 0);
}

#[test]
fn programs_end_in_reverse_order_although_one_between_them_has_ended() {
    let scene = Scene::new(
        "[programs.base]\nrun = \"base.sh\"\nready = \"start\"\n[programs.calibrate]\nrun = \"calibrate.sh\"\nready = \"start\"\nafter = [\"base\"]\n\
         [programs.nav]\nrun = \"nav.sh\"\nready = \"start\"\nafter = [\"calibrate\"]\n",
    );
    scene.script("base.sh", "exec sleep 60\n");
    scene.script("calibrate.sh", "exit 0\n");
    scene.script("nav.sh", "trap 'sleep 0.5; exit' TERM\necho turns\nwhile :; do sleep 0.1; done\n");
    let mut robot = scene.start(&[]);
    robot.waits_for_all(&["calibrate  ended", "nav | turns"]);
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "nav, base ended in order");
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_stands_before_the_one_it_waits_for_starts_when_that_says_nothing_and_holds_up_no_end() {
    let file =
        "[programs.nav]\nrun = \"nav.sh\"\nready = \"start\"\nafter = [\"sim\"]\n[programs.sim]\nrun = \"sim.sh\"\n";
    let scene = Scene::new(&format!("{file}ready = \"start\"\n"));
    scene.script("sim.sh", "exec sleep 100\n");
    scene.script("nav.sh", "echo drives\nexec sleep 100\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("nav | drives");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "nav, sim ended in order");
    // One that still waits.
    let scene = Scene::new(&format!("{file}ready_within = \"90 s\"\n"));
    scene.script("sim.sh", "echo began\nexec sleep 100\n");
    scene.script("nav.sh", "touch started\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("sim | began");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "sim ended in order");
    assert!(!scene.path("started").exists());
}

#[test]
fn a_program_that_is_late_ends_a_virtual_run_and_the_file_says_its_seed() {
    let scene =
        Scene::new("[programs.sim]\nrun = \"sim.sh\"\nready_within = \"3 s\"\nenv = { PYTHONHASHSEED = \"7\" }\n");
    let node = r#"{"name": "wheels", "period_ns": 1000000, "deadline_ns": 1000000, "cpu": "1", "scheduling_policy": "other", "thread": 0, "inputs": [], "outputs": []}"#;
    let described = format!("echo '{{\"name\": \"sim\", \"nodes\": [{node}]}}'; exit");
    let runs = "echo seed $PYTHONHASHSEED\nexec sleep 60\n";
    scene.script("sim.sh", &format!("# HORUS_NODE_FILE\nif [ \"$1\" = --describe ]; then {described}; fi\n{runs}"));
    let mut robot = scene.start(&["--virtual", "--for", "1 s"]);
    robot.waits_for("sim | seed 7");
    robot.waits_for("sim  is not ready after 3 s, and time begins when all are; all are ended: ");
    let lines = robot.rest();
    assert_eq!(robot.status(), 1, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("digest ")), "{lines:#?}");
    assert!(scene.processes().is_empty() && scene.has_left_nothing());
}
