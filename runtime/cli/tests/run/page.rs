//! docs/robot.md as a reader follows it: its file is written, its commands are run, and what it prints is printed.

use std::os::unix::fs::symlink;

use crate::running::{Scene, built, narrow};

const PAGE: &str = include_str!("../../../../docs/robot.md");

/// The blocks of the page in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    PAGE.match_indices(&start)
        .filter(|(at, _)| *at == 0 || PAGE.as_bytes()[at - 1] == b'\n')
        .map(|(at, _)| PAGE[at + start.len()..].split_once("```").expect("a block has an end").0)
        .collect()
}

/// What a command of the page prints: the lines of its block below it.
fn printed(command: &str) -> Vec<&'static str> {
    let block =
        blocks("text").into_iter().find(|block| block.lines().any(|line| line == format!("$ {command}"))).unwrap();
    block.lines().skip_while(|line| *line != format!("$ {command}")).skip(1).collect()
}

/// A text without its numbers.
fn numberless(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_ascii_digit() || letter == '.').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("#")
}

/// The folder of the reader, with the file of the page as `change` makes it.
fn scene(change: impl Fn(&str) -> String) -> Scene {
    let scene = Scene::new(&change(blocks("toml")[0]));
    std::fs::create_dir_all(scene.path("target/debug")).unwrap();
    for name in ["ping", "pong"] {
        symlink(built(name), scene.path("target/debug").join(name)).unwrap();
    }
    let script = blocks("sh").into_iter().find_map(|block| block.strip_prefix("#!/bin/sh\n")).unwrap();
    scene.script("lights.sh", script);
    scene
}

#[test]
fn the_robot_of_the_page_says_what_the_page_says() {
    let scene = scene(str::to_owned);
    let lines = printed("horus run robot.toml");
    let (before, after) = lines.split_at(lines.iter().position(|line| *line == "^C").unwrap());
    assert!(before.len() > 5 && after.len() == 2, "{lines:#?}");
    let mut robot = scene.start(&[]);
    robot.waits_for("lights  ended: no bulb -> again in 0.5 s (1 of 5)");
    robot.waits_for("lights  started");
    let said = robot.ends_by(rustix::process::Signal::INT);
    let heard: Vec<_> = said.iter().map(|line| numberless(line)).collect();
    for line in before {
        let line = numberless(&narrow(line));
        assert!(heard.contains(&line), "{line}\n{said:#?}");
    }
    assert_eq!(said.last().unwrap(), after[1]);
}

#[test]
fn the_mistake_of_the_page_is_refused_in_the_words_of_the_page() {
    let scene = scene(|file| file.replace("after", "afer"));
    let second = blocks("text").into_iter().find(|block| block.contains("has no key")).unwrap();
    assert_eq!(scene.refused(&[]).trim_end(), second.lines().last().unwrap());
}

#[test]
fn the_table_has_each_key_that_there_is() {
    let scene = scene(|file| file.replace("after", "afer"));
    let refused = scene.refused(&[]);
    let known: Vec<_> = refused.trim_end().rsplit_once("there is ").unwrap().1.split(", ").collect();
    let begins = |key: &&&str| PAGE.lines().any(|line| line.starts_with(&format!("| `{key} = ")));
    let told: Vec<_> = known.iter().filter(begins).collect();
    assert_eq!(told.len(), known.len(), "{known:?}");
    assert!(known.len() > 8);
}

#[test]
fn the_group_of_the_page_starts_and_its_graph_is_the_page_s() {
    let groups = blocks("toml").into_iter().find(|block| block.starts_with("[groups]")).unwrap();
    let scene = scene(|file| format!("{file}\n{groups}"));
    let mut robot = scene.start(&["--group", "talk"]);
    robot.waits_for("ping  ready after ");
    let graph = scene.said(&["node", "graph"]);
    // A miss of a busy machine is drawn, too.
    let plain = |line: &str| {
        numberless(
            line.split(", ")
                .filter(|part| !part.contains("misses"))
                .collect::<Vec<_>>()
                .join(", ")
                .trim_end_matches("\"]"),
        )
    };
    let (found, wanted): (Vec<_>, Vec<_>) =
        (graph.lines().map(plain).collect(), printed("horus node graph").into_iter().map(plain).collect());
    let unit = |line: &String| line.split("longest").next().unwrap().to_owned();
    assert_eq!(found.iter().map(unit).collect::<Vec<_>>(), wanted.iter().map(unit).collect::<Vec<_>>(), "{graph}");
    let lines = robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(lines.last().unwrap(), "ping, pong ended in order");
}

#[test]
fn the_two_arms_of_the_page_run_side_by_side() {
    let arms = blocks("toml").into_iter().find(|block| block.contains("[programs.left]")).unwrap();
    let scene = scene(|_| arms.to_owned());
    symlink(built("pong"), scene.path("arm")).unwrap();
    let mut robot = scene.start(&[]);
    robot.waits_for("2 nodes of 2 programs");
    robot.waits_for_all(&["left  ready after ", "right  ready after "]);
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(robot.status(), 0);
}
