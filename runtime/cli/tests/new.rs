//! Projects that `horus new` made, as their users see them. What is built in C, C++ and Python is checked by scripts/checks/languages/projects.py,
//! and what is built in C# by nuget/project.py beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A second program of the same package.
const LIGHTS: &str = "
use horus::prelude::*;

fn nodes(app: &mut App) -> horus::Result {
    app.node(\"blink\", |_: &Cycle| {}).period(ms(500));
    Ok(())
}

horus::main!(nodes);
";

fn horus_new(project: &Path, lang: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_horus")).arg("new").arg(project).args(["--lang", lang]).output().unwrap()
}

fn made(folder: &Path, lang: &str) -> PathBuf {
    let project = folder.join("upright");
    let made = horus_new(&project, lang);
    assert!(made.status.success(), "{made:?}");
    let next = if lang == "csharp" { "dotnet run" } else { "horus deploy HOST" };
    assert!(String::from_utf8_lossy(&made.stdout).contains(next), "{made:?}");
    project
}

#[test]
fn a_new_project_builds_and_passes_its_test_on_the_virtual_clock_and_a_second_program_has_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let project = made(folder.path(), "rust");
    fs::create_dir(project.join("src/bin")).unwrap();
    fs::write(project.join("src/bin/lights.rs"), LIGHTS).unwrap();
    // What it depends on is built already where this test was, and the same versions of it.
    let target = Path::new(env!("CARGO_BIN_EXE_horus")).ancestors().nth(2).unwrap();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let cargo = |words: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(words).current_dir(&project).env("CARGO_TARGET_DIR", target).env_remove("CARGO_MAKEFLAGS");
        let done = cargo.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
        text
    };
    let tested = cargo(&["test", "--quiet"]);
    assert!(tested.contains("1 passed"), "{tested}");
    for program in ["upright", "lights"] {
        let described = cargo(&["run", "--quiet", "--bin", program, "--", "--describe"]);
        assert!(described.contains(&format!("\"{program}\"")), "{described}");
    }
}

#[test]
fn every_language_has_its_project_and_a_second_one_of_the_same_name_is_refused() {
    for (lang, file, words) in [
        ("rust", "Cargo.toml", "name = \"upright\""),
        ("c", "CMakeLists.txt", "project(upright VERSION 0.1.0 LANGUAGES C)"),
        ("cpp", "CMakeLists.txt", "project(upright VERSION 0.1.0 LANGUAGES CXX)"),
        ("python", "pyproject.toml", "name = \"upright\""),
        ("csharp", "program.csproj", "<AssemblyName>upright</AssemblyName>"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let project = made(folder.path(), lang);
        let text = fs::read_to_string(project.join(file)).unwrap();
        assert!(text.contains(words), "{text}");
        assert!(fs::read_to_string(project.join("node.toml")).unwrap().contains("program = \"upright\""));
        let again = horus_new(&project, lang);
        assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("is there already"));
        let bad = horus_new(&folder.path().join("Up right"), lang);
        assert!(!bad.status.success() && String::from_utf8_lossy(&bad.stderr).contains("cannot name a program"));
        assert!(!folder.path().join("Up right").exists());
    }
}
