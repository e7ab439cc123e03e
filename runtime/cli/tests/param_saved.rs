//! Saved parameters survive a restart, say where they came from, and what fits no more is told and not lost.

#[path = "fixtures/nav.rs"]
mod nav;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use horus::prelude::*;
use nav::Scene;

#[test]
#[ignore = "the program that the tests of this file look at"]
fn program() {
    nav::run(|app| {
        let gain = app.param("gain", 0.8).unit("1/s").range(0.0..=4.0).about("speed for a metre of distance");
        let turn = app.param("turn", 2).range(0..=5);
        let frame = app.param("frame", "base").read_only();
        app.node("drive", move |_: &Cycle| {
            let _ = (gain.get(), turn.get(), frame.get());
        })
        .period(ms(5));
    });
}

#[test]
fn what_is_saved_survives_a_restart_and_says_where_it_came_from() {
    let scene = Scene::new();
    let nav = scene.start("[node.drive.params]\nturn = 3");
    assert!(scene.refused(&["save", "nav"]).contains("name the parameters to be saved"));
    scene.said(&["set", "nav/drive", "gain=1.25"]);
    let said = scene.said(&["save", "nav"]);
    assert!(said.starts_with("drive.gain = 1.25 1/s\nsaved 1 value in ") && said.contains("nav.params.toml"), "{said}");
    assert!(scene.said(&["list"]).contains(", saved"));
    let file = std::fs::read_to_string(scene.saved()).unwrap();
    assert!(file.contains("[\"drive\".\"gain\"]\nvalue = 1.25\n") && !file.contains("turn"), "{file}");
    nav.stop();

    // A deploy brings another node.toml.
    let nav = scene.start("[node.drive.params]\nturn = 4\ngain = 0.5");
    assert_eq!(scene.said(&["get", "nav", "gain"]), "1.25 1/s\n");
    assert_eq!(scene.said(&["get", "nav", "turn"]), "4\n");
    assert!(
        scene.told().contains("nav has saved parameters of ") && scene.told().contains("drive.gain = 1.25"),
        "{}",
        scene.told()
    );
    let list: serde_json::Value = serde_json::from_str(&scene.said(&["list", "--json"])).unwrap();
    assert!(list["parameters"][0]["from"].as_str().unwrap().starts_with("saved, user "), "{list}");
    assert!(list["parameters"][0]["saved"].as_str().unwrap().ends_with('Z'), "{list}");
    assert!(list["parameters"][1]["saved"].is_null(), "{list}");

    // An experiment is taken back.
    scene.said(&["set", "nav", "gain=3"]);
    assert!(scene.said(&["load", "nav"]).contains("loaded 1 value of "));
    assert_eq!(scene.said(&["get", "nav", "gain"]), "1.25 1/s\n");

    // Naming a parameter saves it, also where its value is the program's own.
    assert!(scene.said(&["save", "nav", "turn", "frame"]).contains("saved 2 values in "));
    assert!(scene.said(&["forget", "nav/drive", "gain"]).contains("forgot 1 value of "));
    assert_eq!(scene.said(&["get", "nav", "gain"]), "1.25 1/s\n");
    assert!(scene.said(&["list"]).contains("forgotten since"));
    // What is saved next leaves it forgotten.
    scene.said(&["set", "nav", "turn=5"]);
    assert!(scene.said(&["save", "nav"]).contains("saved 1 value in "));
    // And another value than the saved one is told as that, however soon it is set.
    scene.said(&["set", "nav", "turn=4"]);
    assert!(scene.said(&["list"]).contains("another was saved"), "{}", scene.said(&["list"]));
    assert!(scene.said(&["save", "nav"]).contains("saved 1 value in "));
    assert!(!scene.said(&["list"]).contains("another was saved"), "{}", scene.said(&["list"]));
    nav.stop();

    let nav = scene.start("");
    assert_eq!(scene.said(&["get", "nav", "gain"]), "0.8 1/s\n");
    assert_eq!(scene.said(&["get", "nav", "turn"]), "4\n");
    assert!(scene.said(&["forget", "nav"]).contains("forgot 2 values of "));
    assert!(!scene.saved().exists());
    nav.stop();
}

#[test]
fn a_saved_value_that_fits_no_more_is_told_and_stays_in_its_file() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path().join("state")).unwrap();
    let file = "[drive.gain]\nvalue = 9.0\nat = 7\n[drive.turn]\nvalue = 2.5\nat = 7\n[drive.gian]\nvalue = 1\nat = 7\n\
                [driver.gain]\nvalue = 1\nat = 7\n[drive.frame]\nvalue = \"odom\"\nat = 7\nby = 1000\n";
    std::fs::write(scene.saved(), file).unwrap();
    let nav = scene.start("");
    let told = scene.told();
    for words in [
        "saved drive.gain = 9 is not taken: gain may be 0 to 4 1/s",
        "saved drive.turn = 2.5 is not taken: turn may be a whole number from 0 to 5",
        "saved drive.gian = 1 is not taken: node drive has no parameter gian: did you mean gain?",
        "saved driver.gain = 1 is not taken: node driver has no parameter gain: it has none",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(scene.said(&["get", "nav", "gain"]), "0.8 1/s\n");
    assert_eq!(scene.said(&["get", "nav", "frame"]), "odom\n", "a read-only parameter changes at start");
    assert!(scene.refused(&["load", "nav", "gain"]).contains("gain may be 0 to 4 1/s"));
    scene.said(&["set", "nav", "turn=1"]);
    assert!(scene.said(&["save", "nav", "turn"]).contains("saved 1 value in "));
    let kept = std::fs::read_to_string(scene.saved()).unwrap();
    for words in ["value = 9.0", "[\"drive\".\"gian\"]", "[\"driver\".\"gain\"]", "value = \"odom\"", "value = 1\n"] {
        assert!(kept.contains(words), "{words}: {kept}");
    }
    nav.stop();
}

#[test]
fn a_saved_file_that_makes_no_sense_is_told_and_never_written_over() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path().join("state")).unwrap();
    std::fs::write(scene.saved(), "gain 1.5").unwrap();
    let nav = scene.start("");
    assert!(scene.told().contains("no saved parameter is taken: ") && scene.told().contains("nav.params.toml"));
    scene.said(&["set", "nav", "gain=2"]);
    for what in ["save", "load", "forget"] {
        let refused = scene.refused(&[what, "nav"]);
        assert!(refused.contains("correct the file, or move it away"), "{refused}");
    }
    assert_eq!(std::fs::read_to_string(scene.saved()).unwrap(), "gain 1.5");
    nav.stop();
}

#[test]
fn a_program_that_has_nowhere_to_save_says_so_and_goes_on() {
    let scene = Scene::new();
    std::fs::write(scene.path().join("state"), "in the way").unwrap();
    let nav = scene.start("");
    scene.said(&["set", "nav", "gain=2"]);
    let refused = scene.refused(&["save", "nav"]);
    assert!(refused.contains("what was saved before stays") || refused.contains("nothing in it is lost"), "{refused}");
    assert_eq!(scene.said(&["get", "nav", "gain"]), "2 1/s\n");
    nav.stop();
}

#[test]
fn changes_are_printed_as_they_come() {
    let scene = Scene::new();
    let nav = scene.start("");
    assert!(scene.refused(&["watch", "nav", "gian"]).contains("did you mean gain?"));
    let watch = |arguments: &[&str]| {
        let mut command = scene.command(env!("CARGO_BIN_EXE_horus"));
        let child = command.args(["param", "watch", "nav"]).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        Watching(child)
    };
    let (mut text, mut json) = (watch(&["gain"]), watch(&["--json"]));
    let mut lines = BufReader::new(text.0.stdout.take().unwrap()).lines();
    let mut objects = BufReader::new(json.0.stdout.take().unwrap()).lines();
    // A watch sees what comes after its begin, and no line says when that was: the first change is repeated until it is seen.
    let storm = std::thread::scope(|scope| {
        let (done, is_done) = std::sync::mpsc::channel();
        let scene = &scene;
        scope.spawn(move || {
            for value in (0..10_000).map(|value| f64::from(value % 400) / 100.0) {
                scene.said(&["set", "nav", "turn=1", &format!("gain={value}")]);
                if is_done.recv_timeout(std::time::Duration::from_millis(20)).is_ok() {
                    break;
                }
            }
        });
        let storm = (lines.next().unwrap().unwrap(), objects.next().unwrap().unwrap());
        done.send(()).unwrap();
        storm
    });
    assert!(
        storm.0.starts_with("drive.gain  ") && storm.0.contains(" -> ") && storm.0.contains("user "),
        "{}",
        storm.0
    );
    let object: serde_json::Value = serde_json::from_str(&storm.1).unwrap();
    assert!(object["name"].is_string() && !object["before"].is_null() && !object["value"].is_null(), "{object}");
    nav.stop();
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert!(rest.iter().all(|line| !line.contains("turn")) && rest.last().unwrap() == "nav has ended", "{rest:?}");
    assert!(text.0.wait().unwrap().success() && json.0.wait().unwrap().success());
}

struct Watching(std::process::Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}
