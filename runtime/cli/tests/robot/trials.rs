//! A version of a robot becomes ready as one, or the one before comes back as one.

use crate::machine::Machine;

const ROBOT: &str = r#"
version = "@"

[programs.nav]
run = "nav.sh"
after = ["sim"]

[programs.sim]
run = "sim.sh"

[programs.lights]
run = "lights.sh"
ready = "start"

[groups]
drive = ["nav"]
show = ["lights"]
"#;

const UNITS: [&str; 3] = ["horus-node@lights.service", "horus-node@nav.service", "horus-node@sim.service"];

/// The robot in this version; its nav has this line.
fn version(machine: &Machine, version: &str, nav: &str) {
    machine.file(&ROBOT.replace('@', version));
    machine.script("nav.sh", nav);
    machine.script("sim.sh", "");
    machine.script("lights.sh", "");
}

/// A machine with the version 1.
fn deployed() -> Machine {
    let machine = Machine::live();
    version(&machine, "1", "first");
    let (status, said) = machine.deploy();
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("nav is ready\n") && said.contains("robot 1 is ready: 3 programs"), "{said}");
    assert_eq!(machine.running(), UNITS);
    machine
}

fn nav(machine: &Machine) -> Option<String> {
    machine.text(&machine.current().join("programs/nav/nav.sh"))
}

#[test]
fn programs_start_when_those_before_them_are_ready_and_a_second_version_replaces_the_first() {
    let machine = deployed();
    let starts = machine.starts();
    let place = |name: &str| starts.iter().position(|start| start == &format!("horus-node@{name}.service"));
    assert!(starts.len() == 3 && place("sim") < place("nav"), "{starts:?}");
    version(&machine, "2", "second");
    let (status, said) = machine.deploy();
    assert_eq!(status, 0, "{said}");
    assert!(nav(&machine).unwrap().contains("second"));
    assert_eq!((machine.running().len(), machine.starts().len()), (3, 6));
    let calls = machine.text(&machine.path("calls")).unwrap();
    let second = &calls[calls.rfind("\nstop ").expect("the old version stops") + 1..];
    let order: Vec<_> = second.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(
        order.starts_with(&["stop", "reset-failed", "daemon-reload", "reset-failed", "start", "show"]),
        "{order:?}"
    );
}

#[test]
fn of_a_version_that_does_not_become_ready_the_program_is_named_with_its_last_words_and_the_old_one_is_back() {
    for (fate, words) in [
        ("fate: hangs says: no map", "robot 2: nav did not become ready: no map"),
        ("fate: dies says: no gyro", "robot 2: nav ended soon after its start: no gyro"),
    ] {
        let machine = deployed();
        version(&machine, "2", fate);
        let (status, said) = machine.deploy();
        assert_eq!(status, 1, "{said}");
        // One that dies may be seen so before all of them were ready.
        let words = if said.contains("nav did not") {
            words.replace("ended soon after its start", "did not become ready")
        } else {
            words.to_owned()
        };
        assert!(said.contains(&words) && said.contains("\nrobot 1 runs again"), "{said}");
        assert!(nav(&machine).unwrap().contains("first"));
        assert_eq!(machine.running(), UNITS);
        let (status, said) = machine.robot(&["list"]);
        assert_eq!((status, said.as_str()), (0, "robot 1: installed; programs lights, nav, sim; groups drive, show\n"));
    }
}

#[test]
fn a_first_version_that_does_not_become_ready_leaves_nothing() {
    let machine = Machine::live();
    version(&machine, "1", "fate: hangs");
    let (status, said) = machine.deploy();
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("nav did not become ready") && said.contains("no robot is installed"), "{said}");
    assert!(machine.running().is_empty() && nav(&machine).is_none());
    let (status, said) = machine.robot(&["status"]);
    assert!(status == 1 && said.contains("`horus deploy robot.toml HOST` on a laptop brings one"), "{said}");
}

#[test]
fn the_version_before_is_taken_back_by_a_command_and_again() {
    let machine = deployed();
    let (status, said) = machine.robot(&["rollback"]);
    assert!(status == 2 && said.contains("there is no version before"), "{said}");
    version(&machine, "2", "second");
    assert_eq!(machine.deploy().0, 0);
    for (expected, said_of) in [("first", "robot 1 is ready"), ("second", "robot 2 is ready")] {
        let (status, said) = machine.robot(&["rollback"]);
        assert!(status == 0 && said.contains(said_of), "{said}");
        assert!(nav(&machine).unwrap().contains(expected));
    }
    let (_, said) = machine.robot(&["list"]);
    assert!(said.starts_with("robot 2: installed; ") && said.contains("\nrobot 1: the version before; "), "{said}");
}

#[test]
fn groups_start_and_stop_and_their_states_are_told() {
    let machine = deployed();
    let (status, said) = machine.robot(&["status"]);
    assert!(
        status == 0 && said.starts_with("robot 1: 3 of 3 programs ready\nPROGRAM  STATE  RESTARTS  GROUPS\n"),
        "{said}"
    );
    assert_eq!(machine.robot(&["stop", "drive"]), (0, String::new()));
    assert_eq!(machine.running(), [UNITS[0], UNITS[2]]);
    let (status, said) = machine.robot(&["status"]);
    assert!(status == 1 && said.contains("nav      stopped") && said.contains("horus robot start"), "{said}");
    assert_eq!(machine.robot(&["status", "show"]).0, 0);
    // What a group starts after starts with it.
    assert_eq!(machine.robot(&["stop"]).0, 0);
    assert!(machine.running().is_empty());
    let (status, said) = machine.robot(&["start", "drive"]);
    assert!(status == 0 && said.contains("sim is ready\n"), "{said}");
    assert_eq!(machine.running(), UNITS[1..]);
    let (status, said) = machine.robot(&["stop", "sow"]);
    assert!(status == 1 && said.contains("the robot has no group sow; there is drive, show"), "{said}");
    // The same from the laptop.
    let (status, said) = machine.run(&["robot", "status", "drive", "--host", "robot.local", "--json"], &[]);
    assert!(status == 0 && said.contains("\"state\": \"ready\"") && !said.contains("lights"), "{said}");
    let (status, said) = machine.run(&["robot", "remove", "--host", "robot.local"], &[]);
    assert_eq!((status, machine.running().len()), (0, 0), "{said}");
    assert!(!machine.current().exists());
}

#[test]
fn a_robot_whose_file_is_damaged_is_stopped_and_removed_all_the_same() {
    let machine = deployed();
    assert!(!machine.running().is_empty());
    std::fs::write(machine.current().join("robot.toml"), "programs = 7\n").unwrap();
    let (status, said) = machine.robot(&["remove"]);
    assert_eq!((status, machine.running()), (0, Vec::new()), "{said}");
    assert!(!machine.current().exists());
}

#[test]
fn a_name_is_a_nodes_or_a_programs_of_the_robot() {
    let machine = deployed();
    std::fs::create_dir(machine.path("sim")).unwrap();
    std::fs::write(machine.path("sim/node.toml"), "program = \"sim\"\n").unwrap();
    machine.program("sim/sim", "#!/bin/sh\n");
    let (folder, root) = (machine.path("sim"), machine.root());
    let place = ["--root", root.to_str().unwrap()];
    let install = ["node", "install", folder.to_str().unwrap(), place[0], place[1]];
    let (status, said) = machine.run(&install, &[]);
    assert!(status == 2 && said.contains("sim is a program of the robot that is installed"), "{said}");
    let (status, said) = machine.run(&["node", "stop", "sim", place[0], place[1]], &[]);
    assert!(status == 1 && said.contains("`horus robot start` and `stop` are for it"), "{said}");
    assert_eq!(machine.robot(&["remove"]).0, 0);
    assert_eq!(machine.run(&install, &[]).0, 0);
    let (status, said) = machine.deploy();
    assert!(status == 2 && said.contains("remove that with `horus node remove sim`"), "{said}");
    assert!(machine.running().is_empty());
}

/// A program of nodes that says it has a node of CPU 1 with a budget of so many microseconds a millisecond.
fn describes(machine: &Machine, name: &str, budget: u32) {
    let cpus = machine.root().join("sys/devices/system/cpu");
    std::fs::create_dir_all(&cpus).unwrap();
    for (file, text) in [("isolated", "1"), ("online", "0-1"), ("possible", "0-1"), ("present", "0-1")] {
        std::fs::write(cpus.join(file), format!("{text}\n")).unwrap();
    }
    let info = format!(
        "{{\"name\": \"{name}\", \"nodes\": [{{\"name\": \"{name}\", \"period_ns\": 1000000, \"deadline_ns\": 1000000, \
         \"budget_ns\": {budget}000, \"cpu\": \"1\", \"scheduling_policy\": \"fifo:80\", \"thread\": 0, \"inputs\": [], \"outputs\": []}}]}}"
    );
    let text = format!("#!/bin/sh\n# HORUS_NODE_FILE\nif [ \"$1\" = --describe ]; then echo '{info}'; fi\n");
    machine.program(&format!("laptop/{name}.sh"), &text);
}

#[test]
fn programs_that_fit_alone_and_not_together_are_refused_while_the_old_version_runs_on() {
    let machine = deployed();
    let before = machine.starts();
    version(&machine, "2", "second");
    describes(&machine, "nav", 600);
    describes(&machine, "sim", 600);
    let (status, said) = machine.deploy();
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("refused: ") && said.contains("nav/nav") && said.contains("sim/sim"), "{said}");
    assert_eq!((machine.starts(), machine.running().len()), (before, 3));
    assert!(nav(&machine).unwrap().contains("first"));
    describes(&machine, "nav", 300);
    describes(&machine, "sim", 200);
    let (status, said) = machine.deploy();
    assert!(status == 0 && said.contains("2 nodes of 2 programs admitted: the fullest CPU is 1 with 50 %"), "{said}");
}

#[test]
fn a_program_of_nodes_that_does_not_describe_them_is_refused_unless_it_is_optional() {
    let machine = deployed();
    std::fs::create_dir(machine.path("laptop/arm")).unwrap();
    std::fs::write(machine.path("laptop/arm/node.toml"), "program = \"arm\"\n").unwrap();
    machine.program("laptop/arm/arm", "#!/bin/sh\n# fate: hangs\necho no arm here >&2; exit 3\n");
    let robot = format!("{}[programs.arm]\nrun = \"arm\"\n", ROBOT.replace('@', "2"));
    machine.file(&robot);
    let (status, said) = machine.deploy();
    assert!(status == 2 && said.contains("arm: ") && said.contains("no arm here"), "{said}");
    machine.file(&format!("{robot}optional = true\n"));
    let (status, said) = machine.deploy();
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("arm is left out: it did not become ready"), "{said}");
    assert!(said.contains("robot 2 is ready: 4 programs"), "{said}");
}

#[test]
fn a_version_whose_installation_was_killed_goes_back_before_the_next_one_is_looked_at() {
    let machine = deployed();
    version(&machine, "2", "second");
    machine.file(&format!("{}[programs.extra]\nrun = \"sim.sh\"\n", ROBOT.replace('@', "2")));
    assert_eq!(machine.deploy().0, 0);
    assert_eq!(machine.running().len(), 4);
    // As it stands when the installation is killed while the version is on trial.
    std::os::unix::fs::symlink("versions/1", machine.current().with_file_name("trial")).unwrap();
    machine.file("[programs.nav]\nrun = \"nav.sh\"\nnamespace = \"lab\"\n");
    machine.program("laptop/nav.sh", "#!/bin/lua\n");
    let (status, said) = machine.deploy();
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("the robot was being replaced when ") && said.contains("robot 1 is back"), "{said}");
    assert!(said.contains("a script for /bin/lua"), "{said}");
    assert!(nav(&machine).unwrap().contains("first"));
    assert_eq!(machine.running(), UNITS);
}

#[test]
fn a_robot_whose_installation_was_killed_when_it_had_stopped_runs_again_with_the_next_command() {
    let machine = deployed();
    version(&machine, "2", "second");
    std::fs::write(machine.path("kill-at-stop"), "").unwrap();
    assert_ne!(machine.deploy().0, 0);
    assert!(!machine.path("kill-at-stop").exists() && machine.running().is_empty(), "it was killed at the stop");
    let (status, said) = machine.robot(&["start"]);
    assert!(status == 0 && said.contains("robot 1 is back"), "{status} {said}");
    assert!(nav(&machine).unwrap().contains("first"));
    assert_eq!(machine.running(), UNITS);
    // And the version goes in.
    let (status, said) = machine.deploy();
    assert!(status == 0 && said.contains("robot 2 is ready"), "{said}");
}
