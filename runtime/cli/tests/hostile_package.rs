//! Packages that want more than a node is given: no word of them reaches a unit.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What each says, and the words of the refusal.
const HOSTILE: [(&str, &str); 12] = [
    (
        "version = \"1.0\\n[Service]\\nUser=root\\nExecStartPre=+/bin/sh -c 'id'\\n[Unit]\\nX-A=b\"",
        "is no name: use 1 to 64",
    ),
    ("version = \"1.0\\r\\nUser=root\"", "is no name"),
    ("version = \"%n\"", "is no name"),
    ("version = \"1.0\\\\\"", "is no name"),
    ("devices = [\"/dev/vda\"]", "is a disk"),
    ("devices = [\"/dev/ttyACM0 rw\\nUser=root\"]", "is no device"),
    ("devices = [\"/dev/mem\"]", "is a disk or memory"),
    ("[topics]\n\"a\" = { publish = true, group = \"disk\" }", "'disk', which no installed program is given"),
    ("[topics]\n\"a\" = { publish = true, group = \"root\" }", "choose one of audio, dialout"),
    ("[topics]\n\"a\" = { publish = true, group = \"0\" }", "'0'"),
    ("[topics]\n\"a\" = { publish = true, group = \"x\\nUser=root\" }", "line"),
    ("[node.\"a\\nUser=root\"]\nperiod = \"1 ms\"", "is no name"),
];

fn horus(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("node").args(arguments).arg("--root").arg(root).stdin(Stdio::null());
    command.output().unwrap()
}

fn package(folder: &Path, settings: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("node.toml"), format!("program = \"arm\"\n{settings}\n")).unwrap();
    fs::write(folder.join("arm"), "\x7fELF").unwrap();
}

#[test]
fn a_hostile_package_is_refused_by_name_and_nothing_of_it_is_installed() {
    for (settings, words) in HOSTILE {
        let (root, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        package(source.path(), settings);
        let done = horus(root.path(), &["install", source.path().to_str().unwrap()]);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{settings}: {said}");
        assert!(said.contains(words), "{settings}: {said}");
        assert!(!root.path().join("var/lib/horus/nodes/arm").exists(), "{settings}");
        assert!(!root.path().join("var/lib/horus/nodes/.incoming").exists(), "{settings}");
    }
}

#[test]
fn a_link_in_a_package_is_not_followed() {
    for linked in ["arm", "node.toml"] {
        let (root, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        package(source.path(), "");
        let elsewhere = source.path().join("elsewhere");
        fs::rename(source.path().join(linked), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, source.path().join(linked)).unwrap();
        let done = horus(root.path(), &["install", source.path().to_str().unwrap()]);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("put the file itself into the folder"), "{said}");
        assert!(!root.path().join("var/lib/horus/nodes/.incoming").exists());
    }
}

#[test]
fn the_unit_of_a_package_that_came_another_way_has_no_line_of_the_packages() {
    for (settings, _) in HOSTILE {
        let (root, units) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        package(&root.path().join("var/lib/horus/nodes/arm"), settings);
        // A folder's name is a unit's name.
        package(&root.path().join("var/lib/horus/nodes/%n\nUser=root"), "");
        let done = horus(root.path(), &["generate", units.path().to_str().unwrap()]);
        assert!(done.status.success(), "{done:?}");
        let text = fs::read_to_string(units.path().join("horus-node@arm.service.d/50-node.conf")).unwrap();
        let explains = format!("ExecStart=/usr/bin/horus node install --explain {}/var", root.path().display());
        let is_ours = |line: &&str| {
            ["[Service]", "ExecStart=", "Restart=no"].contains(line)
                || line.starts_with("# Generated")
                || line.starts_with(&explains)
        };
        assert_eq!(text.lines().find(|line| !is_ours(line)), None, "{settings}: {text}");
        assert_eq!(fs::read_dir(units.path().join("horus-nodes.target.wants")).unwrap().count(), 1);
    }
}
