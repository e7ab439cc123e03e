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
