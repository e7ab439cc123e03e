//! What a program is started by: its file, its folder, its settings.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use horus::app::Installation;
use horus::near::is_near;
use rustix::fs::{Access, access};

/// The settings of a program of nodes, in its folder.
const SETTINGS: &str = "node.toml";
/// Where a project in Python starts.
const PYTHON: &str = "main.py";
/// Where tools leave a program, below its project; the newest one counts.
const BUILT: [&str; 5] = ["", "target/release", "target/debug", "target/x86_64-unknown-linux-musl/release", "build"];
/// What runs a file in Python.
const INTERPRETER: &str = "python3";
/// So much of a script the kernel reads to find who runs it.
const MOST_BYTES_OF_LINE: u64 = 256;

/// How a program is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// What is executed.
    pub command: PathBuf,
    /// Its file, where an interpreter is executed.
    pub script: Option<PathBuf>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its node.toml, if it has one.
    pub settings: Option<PathBuf>,
}

/// What `run`, as written in a file of `base`, is started by; else the reason, with what to do.
pub fn find(base: &Path, run: &str) -> Result<Start, String> {
    if run.is_empty() {
        return Err("`run` is empty: name a program, a folder with node.toml, or a .py file".to_owned());
    }
    let path = base.join(run);
    if path.is_dir() {
        return project(&path);
    }
    if !path.exists() {
        return Err(format!("there is no {}{}", path.display(), beside(&path)));
    }
    let (settings, folder) = (None, base.to_owned());
    if is_python(&path) {
        return Ok(Start { command: interpreter()?, script: Some(path), folder, settings });
    }
    executable(&path)?;
    Ok(Start { command: path, script: None, folder, settings })
}

/// Refuses a script that nothing on this machine runs: the kernel would only say that there is no such file, while others
/// run already. Who sends a script to another machine does not ask.
pub fn ensure_interpreter(start: &Start) -> Result<(), String> {
    let shown = start.command.display();
    let mut beginning = Vec::new();
    let read = File::open(&start.command).and_then(|file| file.take(MOST_BYTES_OF_LINE).read_to_end(&mut beginning));
    let line: &[u8] = match beginning.strip_prefix(b"#!") {
        Some(rest) => rest.split(|byte| *byte == b'\n').next().unwrap_or_default(),
        // A program may be executed and not read. An ELF file has a zero byte, and so have others that a kernel can be
        // taught (binfmt_misc).
        None if read.is_err() || beginning.contains(&0) => return Ok(()),
        None => b"",
    };
    let mut words = line.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
    let Some(interpreter) = words.next().map(|word| Path::new(OsStr::from_bytes(word))) else {
        return Err(format!(
            "{shown} is a script that does not say what runs it: write #!/bin/sh as its first line, or what else it is for"
        ));
    };
    // The kernel looks from the folder that the program runs in.
    if start.folder.join(interpreter).exists() {
        return Ok(());
    }
    Err(match interpreter.as_os_str().as_bytes().ends_with(b"\r") {
        true => format!(
            "the lines of {shown} end as on Windows, so what runs it is not found: mend them with `sed -i 's/\\r$//' {shown}`"
        ),
        false => format!(
            "{shown} is a script for {}, which is not there: install that, or name what is there in its first line",
            interpreter.display()
        ),
    })
}

/// The program of a folder with node.toml.
fn project(folder: &Path) -> Result<Start, String> {
    let settings = folder.join(SETTINGS);
    if !settings.is_file() {
        return Err(format!(
            "the folder {} has no {SETTINGS}: name the program in it, or a folder that `horus new` made",
            folder.display()
        ));
    }
    let installation = Installation::read(&settings).map_err(|error| error.to_string())?;
    let name = installation
        .program
        .ok_or_else(|| format!("{} names no program: add the line program = \"NAME\"", settings.display()))?;
    let (folder, settings) = (folder.to_owned(), Some(settings));
    let places = BUILT.iter().map(|place| folder.join(place)).chain(of_workspaces(&folder)).chain(of_dotnet(&folder));
    let built = places.map(|place| place.join(&name)).filter(|path| path.is_file());
    let age = |path: &PathBuf| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    if let Some(command) = built.max_by_key(age) {
        executable(&command)?;
        return Ok(Start { command, script: None, folder, settings });
    }
    let script = folder.join(PYTHON);
    if script.is_file() {
        return Ok(Start { command: interpreter()?, script: Some(script), folder, settings });
    }
    Err(format!("{} has no program {name} yet: {}", folder.display(), how_to_build(&folder)))
}

/// Where .NET leaves programs: `bin/Debug/net8.0`.
fn of_dotnet(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let inside = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    inside(folder.join("bin")).flat_map(inside)
}

fn how_to_build(folder: &Path) -> &'static str {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_csharp = |path: PathBuf| path.extension().is_some_and(|extension| extension == "csproj");
    match (folder.join("CMakeLists.txt").is_file(), entries.map(|entry| entry.path()).any(is_csharp)) {
        (true, _) => "build it there with `cmake -B build && cmake --build build`",
        (_, true) => "build it there with `dotnet build`",
        _ => "build it there with `cargo build`, or put the program beside node.toml",
    }
}

/// Where cargo leaves the programs of a workspace that a folder is in.
fn of_workspaces(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let above = folder.ancestors().skip(1).filter(|above| above.join("Cargo.toml").is_file());
    let is_cargos = folder.join("Cargo.toml").is_file();
    let places = above.flat_map(|above| ["release", "debug"].map(|profile| above.join("target").join(profile)));
    places.filter(move |_| is_cargos).collect::<Vec<_>>().into_iter()
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py")
}

fn executable(path: &Path) -> Result<(), String> {
    let shown = path.display();
    match access(path, Access::EXEC_OK) {
        Ok(()) if path.is_file() => Ok(()),
        Ok(()) => Err(format!("{shown} is no file that can run: name a program")),
        Err(_) => {
            Err(format!("{shown} may not be executed: name a program, or give it the right with `chmod +x {shown}`"))
        }
    }
}

/// Python's place in `$PATH`.
fn interpreter() -> Result<PathBuf, String> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&places).map(|place| place.join(INTERPRETER)).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!("there is no {INTERPRETER} in $PATH, which runs .py files: install Python 3.11 or newer")
    })
}

/// What is beside a file that is not there: what may have been meant, or what to do.
fn beside(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let names = folder.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut near: Vec<_> = names.filter(|found| is_near(&name, found)).collect();
    near.sort();
    match near.first() {
        Some(near) => format!(": did you mean {near}, which is there?"),
        None => ": build it, or write its path from the folder of this file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A project with these files, of which those named `arm` may be executed.
    fn project_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("arm")).unwrap();
        std::fs::write(folder.path().join("arm/node.toml"), "program = \"arm\"\n").unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            if path.ends_with("arm") {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        folder
    }

    #[test]
    fn the_program_of_a_folder_is_where_its_tools_leave_it() {
        for (files, program) in [
            (&["arm/arm"][..], "arm/arm"),
            (&["arm/Cargo.toml", "arm/target/debug/arm"], "arm/target/debug/arm"),
            (&["Cargo.toml", "arm/Cargo.toml", "target/release/arm"], "target/release/arm"),
            (&["arm/CMakeLists.txt", "arm/build/arm"], "arm/build/arm"),
            (&["arm/arm.csproj", "arm/bin/Debug/net8.0/arm"], "arm/bin/Debug/net8.0/arm"),
        ] {
            let folder = project_with(files);
            let start = find(folder.path(), "arm").unwrap();
            assert_eq!(start.command, folder.path().join(program));
            assert_eq!(start.folder, folder.path().join("arm"));
            assert_eq!(start.settings, Some(folder.path().join("arm/node.toml")));
        }
        let folder = project_with(&["arm/main.py"]);
        assert_eq!(find(folder.path(), "arm").unwrap().script, Some(folder.path().join("arm/main.py")));
    }

    #[test]
    fn the_newest_of_several_builds_counts() {
        let folder = project_with(&["arm/Cargo.toml", "arm/target/debug/arm", "arm/target/release/arm"]);
        let debug = folder.path().join("arm/target/debug/arm");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
        std::fs::File::options().write(true).open(&debug).unwrap().set_modified(later).unwrap();
        assert_eq!(find(folder.path(), "arm").unwrap().command, debug);
    }

    #[test]
    fn a_script_that_nothing_runs_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let command = folder.path().join("arm.sh");
        let start = Start { command: command.clone(), folder: folder.path().to_owned(), ..Start::default() };
        let asked = |text: &[u8]| {
            std::fs::write(&command, text).unwrap();
            ensure_interpreter(&start)
        };
        for (text, words) in [
            (&b"echo arm\n"[..], "does not say what runs it: write #!/bin/sh as its first line"),
            (b"", "does not say what runs it"),
            (b"#!\n", "does not say what runs it"),
            (b"#!/bin/sh\r\necho arm\r\n", "end as on Windows, so what runs it is not found: mend them with `sed -i"),
            (b"#! /nowhere/lua -v\n", "is a script for /nowhere/lua, which is not there"),
        ] {
            let refused = asked(text).unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
        std::fs::write(folder.path().join("own"), "").unwrap();
        for text in [&b"#!/bin/sh\n"[..], b"#! /bin/sh -e\necho arm\n", b"#!/bin/sh", b"#!own\n", b"\x7fELF\x02\0"] {
            asked(text).unwrap();
        }
    }

    #[test]
    fn a_project_that_was_not_built_is_told_with_how_to_build_it() {
        for (files, words) in [
            (&["arm/Cargo.toml"][..], "`cargo build`"),
            (&["arm/CMakeLists.txt"], "`cmake -B build"),
            (&["arm/arm.csproj"], "`dotnet build`"),
            // A program of another project of the same name, beside a folder that is none of cargo's.
            (&["Cargo.toml", "target/release/arm"], "`cargo build`"),
        ] {
            let error = find(project_with(files).path(), "arm").unwrap_err();
            assert!(error.contains("has no program arm yet: build it there with ") && error.contains(words), "{error}");
        }
    }
}
