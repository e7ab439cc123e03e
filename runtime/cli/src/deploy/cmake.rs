//! Projects in C and C++: built by their own CMakeLists.txt with a compiler for the other machine, as one file that needs no library there.
//!
//! The compiler is Zig's (see [`zig`](super::zig)), and libhorus is built for that processor from the sources of HORUS. All of it lies in
//! `build/deploy-MACHINE`, beside what the user builds for his own machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::tool::{Described, Tool, run};
use super::{cargo, zig};
use crate::new::sources;

/// What `CMakeLists.txt` says of the project: the words after `project(`.
pub fn describe(lists: &Path) -> Result<Described, String> {
    let text = fs::read_to_string(lists).map_err(|error| format!("{}: {error}", lists.display()))?;
    let code: String =
        text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let inside = code.split("project(").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let words: Vec<_> = inside.split_whitespace().map(|word| word.trim_matches('"')).collect();
    let version = words.iter().position(|word| *word == "VERSION").and_then(|at| words.get(at + 1)).unwrap_or(&"0");
    match words.first() {
        Some(name) if ![*name, version].concat().contains('$') => {
            let (name, version) = ((*name).to_owned(), (*version).to_owned());
            Ok(Described { programs: vec![name.clone()], name, version, tool: Tool::Cmake })
        }
        _ => {
            Err(format!("{} has no line project(NAME VERSION 0.1.0 …) with words of its own: add it", lists.display()))
        }
    }
}

/// Builds the program and returns its file. `horus` is where the sources are.
pub fn build(name: &str, machine: &str, project: &Path, horus: Option<&Path>) -> Result<PathBuf, String> {
    let asked = Command::new("cmake").arg("--version").stdout(Stdio::null()).status();
    asked.map_err(|error| format!("cannot start cmake: {error}; `apt install cmake make` installs it"))?;
    let folder =
        std::path::absolute(project.join(format!("build/deploy-{machine}"))).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let library = library(&folder, machine, horus)?;
    let toolchain = zig::toolchain(&folder.join("compiler"), machine)?;
    let programs = folder.join("programs");
    let place = folder.join("cmake");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(project).args(["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-B"]).arg(&place);
    for (variable, path) in
        [("CMAKE_TOOLCHAIN_FILE", &toolchain), ("horus_DIR", &library), ("CMAKE_RUNTIME_OUTPUT_DIRECTORY", &programs)]
    {
        configure.arg(format!("-D{variable}={}", path.display()));
    }
    run(configure.stdout(Stdio::null()))?;
    run(Command::new("cmake").arg("--build").arg(&place).args(["--parallel", "--target", name]))?;
    let program = programs.join(name);
    match program.is_file() {
        true => Ok(program),
        false => Err(format!(
            "CMake built {name}, and it is not in {}: CMakeLists.txt has to leave RUNTIME_OUTPUT_DIRECTORY as it is",
            programs.display()
        )),
    }
}

/// libhorus for that processor; gives the folder of its CMake files.
fn library(folder: &Path, machine: &str, horus: Option<&Path>) -> Result<PathBuf, String> {
    let repository = sources::find(horus)?;
    let repository = repository.ancestors().nth(2).expect("the crate horus is in runtime/horus").to_owned();
    let installer = repository.join("scripts/install-library");
    if !installer.is_file() {
        return Err(format!(
            "{} is not there, which builds libhorus: name the folder runtime/horus of a whole copy of the HORUS sources with --horus",
            installer.display()
        ));
    }
    let (prefix, target) = (folder.join("horus"), format!("{machine}-unknown-linux-musl"));
    cargo::ensure_standard_library(&repository.join("runtime"), &target)?;
    println!("building libhorus for {machine}: the first time, this takes minutes");
    let mut command = Command::new(&installer);
    command.arg("--prefix").arg(&prefix).args(["--target", &target]).current_dir(&repository).stdout(Stdio::null());
    // It looks for what cargo builds in the sources' own folder.
    run(command.env_remove("CARGO_TARGET_DIR"))?;
    Ok(prefix.join("lib/cmake/horus"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Result<(String, String), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("CMakeLists.txt");
        fs::write(&file, text).unwrap();
        describe(&file).map(|described| (described.name, described.version))
    }

    #[test]
    fn name_and_version_are_read_however_the_line_is_written() {
        for text in [
            "project(arm VERSION 1.2.3 LANGUAGES C)",
            "# project(leg VERSION 9)\ncmake_minimum_required(VERSION 3.16)\nproject(arm\n  VERSION 1.2.3 # of the robot\n)\n",
            "project(\"arm\" LANGUAGES CXX VERSION \"1.2.3\")",
        ] {
            assert_eq!(described(text).unwrap(), ("arm".to_owned(), "1.2.3".to_owned()), "{text}");
        }
        assert_eq!(described("project(arm)").unwrap().1, "0");
        for text in ["", "project(", "project()", "project(${NAME})", "project(arm VERSION ${V})"] {
            described(text).expect_err(text);
        }
    }
}
