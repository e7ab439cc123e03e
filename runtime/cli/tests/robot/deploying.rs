//! What is sent of a robot, and what is told before anything is sent.

use std::env::consts::ARCH;
use std::fs;

use crate::machine::Machine;

/// A project of Python with these files.
fn python(machine: &Machine, name: &str) {
    let (status, said) = machine.run(&["new", name, "--lang", "python"], &[]);
    assert_eq!(status, 0, "{said}");
    let programs = machine.root().join("usr/bin");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join("python3"), "").unwrap();
}

#[test]
fn a_project_is_built_once_for_all_its_programs_and_a_script_is_sent_as_it_is() {
    let machine = Machine::new();
    python(&machine, "arm");
    machine.script("lights.sh", "on");
    fs::write(machine.path("laptop/say.py"), "print('hello')\n").unwrap();
    machine.file(
        "[programs.left]\nrun = \"arm\"\nnamespace = \"left\"\nrename = { imu = \"left.imu\" }\n\
         [programs.right]\nrun = \"arm\"\nafter = [\"left\"]\nready_within = \"20 s\"\n\
         [programs.lights]\nrun = \"lights.sh\"\nready = \"start\"\nargs = [\"--level\", \"2\"]\nenv = { COLOUR = \"dark red\" }\ngroup = \"show\"\n\
         [programs.say]\nrun = \"say.py\"\n",
    );
    let (status, said) = machine.deploy();
    assert_eq!(status, 0, "{said}");
    assert_eq!(said.matches("building arm 0.1.0 for ").count(), 1, "{said}");
    assert!(said.contains("lights is sent as it is\n") && said.contains(" is installed: 4 programs\n"), "{said}");
    let place = machine.current();
    for name in ["left", "right"] {
        assert!(fs::read(place.join(format!("programs/{name}/arm"))).unwrap().starts_with(b"#!/usr/bin/python3\nPK"));
        let settings = machine.text(&place.join(format!("programs/{name}/node.toml"))).unwrap();
        assert!(settings.starts_with("version = \"0.1.0\"\n"), "{settings}");
    }
    assert!(machine.text(&place.join("programs/lights/lights.sh")).unwrap().contains("# on"));
    assert!(place.join("programs/say/say.py").is_file());
    let file = machine.text(&place.join("robot.toml")).unwrap();
    for words in [
        "run = \"programs/left\"",
        "run = \"programs/lights/lights.sh\"",
        "namespace = \"left\"",
        "ready_within = \"20000 ms\"",
        "version = \"20",
    ] {
        assert!(file.contains(words), "{file}");
    }
    let (status, said) = machine.robot(&["list"]);
    assert!(status == 0 && said.contains("programs left, lights, right, say; groups show"), "{said}");
}

#[test]
fn all_that_cannot_be_deployed_is_told_at_once_and_the_machine_is_not_even_asked() {
    let machine = Machine::new();
    let folder = |name: &str, files: &[(&str, &str)]| {
        let folder = machine.path("laptop").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("node.toml"), format!("program = \"{name}\"\n")).unwrap();
        files.iter().for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
    };
    folder("arm", &[("arm.csproj", "<Project/>")]);
    folder("leg", &[("CMakeLists.txt", "project(foot)")]);
    fs::create_dir(machine.path("laptop/data")).unwrap();
    machine.script("a b.sh", "");
    machine.file(
        "[programs.arm]\nrun = \"arm\"\n[programs.leg]\nrun = \"leg\"\n[programs.data]\nrun = \"data\"\n\
         [programs.nav]\nrun = \"nav\"\n[programs.odd]\nrun = \"a b.sh\"\n",
    );
    let (status, said) = machine.deploy();
    assert_eq!(status, 2, "{said}");
    for words in [
        "horus deploy: arm: ",
        "no image has .NET",
        "leg: ",
        "which is \"foot\"",
        "data: robot.toml, line 6: the folder ",
        " has no node.toml",
        "nav: robot.toml, line 8: there is no ",
        "'a b.sh' is no name",
        "\nnothing was sent\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(machine.text(&machine.path("asked")), None);
}

#[test]
fn a_file_for_another_processor_or_words_that_no_unit_can_hold_are_told_before_anything_is_sent() {
    let machine = Machine::new();
    let mut program = b"\x7fELF".to_vec();
    program.resize(64, 0);
    program[18] = if ARCH == "x86_64" { 183 } else { 62 };
    machine.program("laptop/nav", "");
    fs::write(machine.path("laptop/nav"), program).unwrap();
    for (keys, words) in [
        ("", format!(", and the machine is {ARCH}: let `run` name the folder of its project")),
        ("args = [\"a\\nUser=root\"]", "has the argument 'a\u{fffd}User=root', which no unit can hold".to_owned()),
        ("env = { \"A B\" = \"c\" }", "sets the variable 'A B', which is no name".to_owned()),
        ("env = { A = \"\\u0007\" }", "sets A to a value that no unit can hold".to_owned()),
        ("group = \"a/b\"", "the group `a/b` cannot be the name of a unit".to_owned()),
    ] {
        machine.file(&format!("[programs.nav]\nrun = \"nav\"\n{keys}\n"));
        let (status, said) = machine.deploy();
        assert!(status == 2 && said.contains(&words), "{said}");
    }
    machine.file("[programs.\"nav+\"]\nrun = \"nav\"\n");
    assert!(machine.deploy().1.contains("[programs.nav+] cannot be the name of a unit"));
    let asked = machine.text(&machine.path("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "only what its processor is: {asked}");
    let (status, said) = machine.run(&["deploy", "robot.toml"], &[]);
    assert!(status == 2 && said.contains("horus deploy robot.toml robot.local"), "{said}");
}

#[test]
fn python_is_refused_by_a_machine_without_it() {
    let machine = Machine::new();
    fs::write(machine.path("laptop/say.py"), "print('hello')\n").unwrap();
    machine.file("[programs.say]\nrun = \"say.py\"\n");
    let (status, said) = machine.deploy();
    assert!(status == 2 && said.contains("build the image with the option `python`"), "{said}");
    assert!(!machine.current().exists());
}

#[test]
fn what_is_optional_and_cannot_be_sent_is_left_out_with_the_reason() {
    let machine = Machine::new();
    machine.script("lights.sh", "");
    machine.file(
        "[programs.camera]\nrun = \"camera\"\noptional = true\n\
         [programs.lights]\nrun = \"lights.sh\"\nafter = [\"camera\"]\nready = \"start\"\n[groups]\nall = [\"camera\", \"lights\"]\n",
    );
    let (status, said) = machine.deploy();
    assert!(status == 0 && said.contains("camera is left out: robot.toml, line 2: there is no "), "{said}");
    assert!(machine.robot(&["list"]).1.contains("programs lights; groups all"), "{said}");
    machine.file("[programs.camera]\nrun = \"camera\"\noptional = true\n");
    let (status, said) = machine.deploy();
    assert!(status == 2 && said.contains("no program is left to be deployed"), "{said}");
}
