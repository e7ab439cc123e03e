//! The library as a file: its name, what it exports, and that it may be opened more than once.

mod programs;

use std::collections::BTreeSet;
use std::process::Command;

use programs::{Programs, root};

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_exports_what_the_header_declares_and_nothing_else() {
    let programs = Programs::new();
    let listed = said(Command::new("nm").args(["-D", "--defined-only"]).arg(programs.path().join("libhorus.so")));
    let exported: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2)?.split_once("@@")) // the versions themselves have none
        .map(|(name, _)| name)
        .collect();
    let header = std::fs::read_to_string(root().join("include/horus/horus.h")).unwrap();
    let code = header.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let declared: BTreeSet<_> = code
        .split('(')
        .filter_map(|before| before.rsplit([' ', '*', '\n']).next())
        .filter(|name| name.starts_with("horus_") && !name.ends_with(')')) // the types of functions end so
        .collect();
    assert!(declared.len() > 50, "{declared:?}");
    assert_eq!(exported, declared);
}

#[test]
fn every_symbol_has_the_version_of_the_release_that_had_it_first() {
    let programs = Programs::new();
    let library = programs.path().join("libhorus.so");
    let versions = said(Command::new("readelf").args(["--wide", "--version-info"]).arg(&library));
    assert!(versions.contains("Name: HORUS_0.1"), "{versions}");
    let listed = said(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let functions: Vec<_> = listed.lines().filter(|line| line.contains(" T ")).collect();
    assert!(functions.len() > 50 && functions.iter().all(|line| line.contains("@@HORUS_")), "{listed}");
    // A program asks for it by that version.
    let asked = said(Command::new("readelf").args(["--wide", "--version-info"]).arg(programs.c("threads")));
    assert!(asked.contains("File: libhorus.so.1") && asked.contains("Name: HORUS_0.1"), "{asked}");
}

#[test]
fn a_program_that_needs_a_later_release_is_not_started() {
    let programs = Programs::new();
    let program = programs.c("threads");
    // As the library of an earlier release: all functions, and no block of this one.
    let map = std::fs::read_to_string(root().join("package/horus.map")).unwrap().replace("HORUS_0.1", "HORUS_0.0");
    let other = programs.source("other.map", &map);
    let link = std::fs::read_to_string(root().join("package/link-shared")).unwrap();
    let link = programs.source("link", &link.replace("$(dirname \"$0\")/horus.map", other.to_str().unwrap()));
    let archive = programs.path().join("static/libhorus.a");
    std::fs::remove_file(programs.path().join("libhorus.so.1")).unwrap();
    said(
        Command::new("sh").arg(link).arg(archive).arg(programs.path().join("libhorus.so.1")).args(programs::LIBRARIES),
    );
    let output = programs.output(&program, &["1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("version `HORUS_0.1' not found"), "{said}");
}

#[test]
fn its_own_name_carries_the_version_of_its_interface() {
    let programs = Programs::new();
    let dynamic = said(Command::new("readelf").arg("-d").arg(programs.path().join("libhorus.so")));
    let name = format!("[libhorus.so.{}]", horus_c::HORUS_ABI_VERSION);
    assert!(dynamic.lines().any(|line| line.contains("SONAME") && line.contains(&name)), "{dynamic}");
    assert_eq!(horus_c::horus_abi_version(), horus_c::HORUS_ABI_VERSION);
}

#[test]
fn a_program_does_not_start_with_a_library_of_another_interface() {
    let programs = Programs::new();
    let program = programs.c("threads");
    std::fs::rename(programs.path().join("libhorus.so.1"), programs.path().join("libhorus.so.2")).unwrap();
    let output = programs.output(&program, &["1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("libhorus.so.1: cannot open shared object file"), "{said}");
}

#[test]
fn it_may_be_opened_twice_and_as_a_copy() {
    let programs = Programs::new();
    let library = programs.path().join("libhorus.so").canonicalize().unwrap();
    let copy = programs.path().join("copy.so");
    std::fs::copy(&library, &copy).unwrap();
    let program = programs.c("dlopen");
    let arguments = [library, copy].map(|path| path.to_str().unwrap().to_owned());
    assert_eq!(programs.run(&program, &[&arguments[0], &arguments[1]]), "all of it holds\n");
}
