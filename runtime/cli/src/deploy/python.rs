//! Projects in Python: sent as one file that Python runs, because Python takes a program and its modules from one archive.
//!
//! It has the modules and data of the project, and none that were installed: those are the image's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::tool::{Described, Tool, run};

/// Where a program starts.
const START: &str = "main.py";
/// The interpreter of an image with the option `python`.
const INTERPRETER: &str = "/usr/bin/python3";
/// What the archive runs: the start file, as the interpreter would.
const RUN: &str = "import runpy\n\nrunpy.run_module(\"main\", run_name=\"__main__\")\n";
/// What is of the project and not of the program.
const LEFT_OUT: [&str; 6] = ["build", "dist", "tests", "__pycache__", "node.toml", "pyproject.toml"];

#[derive(Deserialize)]
struct Settings {
    project: Option<Names>,
}

#[derive(Deserialize)]
struct Names {
    name: String,
    version: String,
}

/// What `pyproject.toml` says of the project.
pub fn describe(file: &Path) -> Result<Described, String> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let settings: Settings =
        toml::from_str(&text).map_err(|error| format!("{shown}: {}", error.to_string().trim_end()))?;
    let Names { name, version } =
        settings.project.ok_or_else(|| format!("{shown} has no [project] with a name and a version: add it"))?;
    match file.with_file_name(START).is_file() {
        true => Ok(Described { programs: vec![name.clone()], name, version, tool: Tool::Python }),
        false => Err(format!("there is no {START} beside {shown}: that is where a program starts")),
    }
}

/// Makes the one file and returns it.
pub fn build(name: &str, project: &Path) -> Result<PathBuf, String> {
    let folder = &project.join("build/deploy-python");
    let modules = folder.join("modules");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => copy(project, &modules).map_err(failed)?,
    }
    fs::write(modules.join("__main__.py"), RUN).map_err(failed)?;
    // A slip of the pen is told here, and not by the robot. What is compiled is thrown away: the robot's Python may be another one.
    let mut check = Command::new("python3");
    run(check.args(["-m", "compileall", "-q"]).arg(&modules).env("PYTHONPYCACHEPREFIX", folder.join("checked")))?;
    let program = folder.join(name);
    let mut archive = Command::new("python3");
    archive.args(["-m", "zipapp", "--compress", "--python", INTERPRETER, "--output"]).arg(&program).arg(&modules);
    run(&mut archive)?;
    Ok(program)
}

/// Copies what is of the program.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let shown = name.to_string_lossy();
        let is_test = shown.starts_with("test_") && shown.ends_with(".py");
        // An environment of Python has this file: what is installed there is not for the machine.
        if shown.starts_with('.') || is_test || LEFT_OUT.contains(&&*shown) || path.join("pyvenv.cfg").exists() {
            continue;
        }
        match path.is_dir() {
            true => copy(&path, &to.join(&name))?,
            false => fs::copy(&path, to.join(&name)).map(drop)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_the_program_is_sent_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for file in [
            "main.py",
            "arm/joint.py",
            "arm/limits.json",
            "test_nodes.py",
            "tests/a.py",
            ".git/config",
            "env/pyvenv.cfg",
            "node.toml",
        ] {
            let place = from.join(file);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, "").unwrap();
        }
        copy(&from, &to).unwrap();
        let there = |place: &Path| {
            let mut names: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(there(&to), ["arm", "main.py"]);
        assert_eq!(there(&to.join("arm")), ["joint.py", "limits.json"]);
    }
}
