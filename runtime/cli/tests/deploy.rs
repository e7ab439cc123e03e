//! `horus deploy`, with a program in place of ssh that installs below a folder: what is sent, and what is refused.

use std::env::consts::ARCH;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const HORUS: &str = env!("CARGO_BIN_EXE_horus");

/// A machine below `folder/root`, at the other end of `folder/ssh`.
fn machine(folder: &Path) {
    let (ssh, root) = (folder.join("ssh"), folder.join("root"));
    fs::create_dir(&root).unwrap();
    let install = format!("exec '{HORUS}' node install - --root '{}'", root.display());
    let text = format!(
        "#!/bin/sh\nshift 2\ncase \"$1\" in\nuname*) echo {ARCH} ;;\nsystemd-run*) {install} ;;\n*) exit 9 ;;\nesac\n"
    );
    fs::write(&ssh, text).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
}

fn new(folder: &Path, lang: &str) {
    let done = Command::new(HORUS).current_dir(folder).args(["new", "arm", "--lang", lang]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

fn deploy(folder: &Path, more: &[&str], environment: &[(&str, &str)]) -> (Output, String) {
    let mut command = Command::new(HORUS);
    command
        .current_dir(folder.join("arm"))
        .args(["deploy", "robot", "--no-follow", "--ssh"])
        .arg(folder.join("ssh"))
        .args(more);
    let done = command.envs(environment.iter().copied()).output().unwrap();
    let said = [&done.stdout[..], &done.stderr].concat();
    (done, String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_project_in_python_is_refused_by_an_image_without_python_and_installed_on_one_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    machine(folder.path());
    new(folder.path(), "python");
    let (done, said) = deploy(folder.path(), &[], &[]);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("building arm 0.1.0 for ") && said.contains("build the image with the option `python`"),
        "{said}"
    );
    let installed = folder.path().join("root/var/lib/horus/nodes/arm");
    assert!(!installed.exists());

    let programs = folder.path().join("root/usr/bin");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join("python3"), "").unwrap();
    let (done, said) = deploy(folder.path(), &[], &[]);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(fs::read(installed.join("arm")).unwrap().starts_with(b"#!/usr/bin/python3\nPK"));
    assert!(fs::read_to_string(installed.join("node.toml")).unwrap().starts_with("version = \"0.1.0\"\n"));
    // The machine's Python runs what came: the modules of the project are in it, and its tests are not.
    let listed = Command::new("python3").args(["-m", "zipfile", "-l"]).arg(installed.join("arm")).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("main.py") && listed.contains("__main__.py") && !listed.contains("test"), "{listed}");
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    machine(folder.path());
    let empty = tempfile::tempdir().unwrap();
    let nothing = empty.path().to_str().unwrap();
    new(folder.path(), "cpp");
    for (more, environment, words) in [
        (&["--horus", nothing][..], &[][..], "the crate horus is not in"),
        (&["--target", "x86_64-unknown-linux-gnu"], &[], "--target is for projects of cargo"),
        (&[], &[("PATH", nothing)], "apt install cmake"),
    ] {
        let (done, said) = deploy(folder.path(), more, environment);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
    fs::remove_file(folder.path().join("arm/CMakeLists.txt")).unwrap();
    let (_, said) = deploy(folder.path(), &[], &[]);
    assert!(said.contains("no Cargo.toml, CMakeLists.txt or pyproject.toml"), "{said}");
}
