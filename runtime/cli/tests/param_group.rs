//! Who may read a program's parameters, and who may set them. Runs as root only, which alone can become another user.

#[path = "fixtures/nav.rs"]
mod nav;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Output};

use horus::prelude::*;
use nav::Scene;

/// Groups without members on any machine: that of the topics, and that of who may set.
const TOPICS: &str = "65533";
const SETTERS: &str = "65532";

#[test]
#[ignore = "the program that the tests of this file look at"]
fn program() {
    nav::run(|app| {
        app.param_group("65531"); // node.toml has the last word
        let gain = app.param("gain", 0.8).range(0.0..=4.0);
        app.node("drive", move |_: &Cycle| {
            let _ = gain.get();
        })
        .period(ms(5));
    });
}

/// Topics of a group; `None`, with a word why, where this process cannot become another user.
fn scene(mode: u32) -> Option<Scene> {
    let scene = Scene::new();
    let given = chown(scene.topics(), None, Some(TOPICS.parse().unwrap()));
    if given.is_err() || !as_member(&scene, TOPICS, "true").status.success() {
        println!("skipped: this process may not become another user");
        return None;
    }
    std::fs::set_permissions(scene.topics(), PermissionsExt::from_mode(mode)).unwrap();
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_horus")).arg(scene.path().join("horus")).status();
    assert!(copied.unwrap().success());
    Some(scene)
}

/// Runs a command line as a user of these groups.
fn as_member(scene: &Scene, groups: &str, command: &str) -> Output {
    let mut setpriv = scene.command("setpriv");
    let groups = format!("--groups={groups}");
    setpriv.args(["--reuid=65534", "--regid=65534", &groups, "--inh-caps=-all", "--bounding-set=-all", "--"]);
    setpriv.args(command.split(' ')).current_dir(scene.path()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn who_uses_the_topics_reads_and_the_group_alone_sets() {
    let Some(scene) = scene(0o2770) else { return };
    let nav = scene.start(&format!("[params]\ngroup = \"{SETTERS}\""));
    let about = std::fs::metadata(scene.topics().join("nav.params")).unwrap();
    assert_eq!((about.mode() & 0o777, about.gid().to_string()), (0o664, SETTERS.to_owned()));

    let read = as_member(&scene, TOPICS, "./horus param get nav gain");
    assert_eq!(text(&read.stdout), "0.8\n", "{read:?}");
    for command in ["set nav gain=1", "save nav gain", "load nav", "forget nav"] {
        let refused = as_member(&scene, TOPICS, &format!("./horus param {command}"));
        assert!(!refused.status.success(), "{command}: {refused:?}");
        let told = text(&refused.stderr);
        assert!(told.starts_with("refused: parameters of nav are set by the group 65532 alone"), "{command}: {told}");
        assert!(told.contains("sudo usermod -aG 65532"), "{told}");
    }
    assert_eq!(scene.said(&["get", "nav", "gain"]), "0.8\n");

    let both = format!("{TOPICS},{SETTERS}");
    let set = as_member(&scene, &both, "./horus param set nav gain=1.5");
    assert!(set.status.success(), "{set:?}");
    assert!(scene.said(&["list", "nav"]).contains("user 65534"));
    let saved = as_member(&scene, &both, "./horus param save nav");
    assert!(saved.status.success(), "who may set may save: {saved:?}");
    assert_eq!(std::fs::metadata(scene.saved()).unwrap().uid(), 0, "the program wrote it");

    // Who may set and may not see the topics' directory sees nothing.
    let outside = as_member(&scene, SETTERS, "./horus param get nav gain");
    assert!(!outside.status.success(), "{outside:?}");
    nav.stop();
}

#[test]
fn where_everybody_may_look_into_the_directory_parameters_are_closed_to_others() {
    let Some(scene) = scene(0o2775) else { return };
    let nav = scene.start(&format!("[params]\ngroup = \"{SETTERS}\""));
    let about = std::fs::metadata(scene.topics().join("nav.params")).unwrap();
    assert_eq!(about.mode() & 0o777, 0o660);
    let told = text(&as_member(&scene, TOPICS, "./horus param get nav gain").stderr);
    assert!(told.contains("not permitted to open"), "{told}");
    nav.stop();
}

#[test]
fn the_programs_own_group_holds_where_node_toml_names_none() {
    let Some(scene) = scene(0o2770) else { return };
    let nav = scene.start("");
    assert_eq!(std::fs::metadata(scene.topics().join("nav.params")).unwrap().gid(), 65_531);
    let refused = as_member(&scene, TOPICS, "./horus param set nav gain=2");
    assert!(text(&refused.stderr).contains("set by the group 65531 alone"), "{refused:?}");
    nav.stop();
}
