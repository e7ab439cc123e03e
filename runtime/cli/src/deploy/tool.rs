//! Other people's tools: which one builds a project, what its file says, and how it is run.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// What a project is built by.
pub enum Tool {
    /// Cargo, which leaves programs in this folder.
    Cargo(PathBuf),
    /// CMake: C and C++.
    Cmake,
    /// Nothing: Python.
    Python,
}

/// What the file of a tool says of the project.
pub struct Described {
    pub name: String,
    pub version: String,
    /// The programs that it can build.
    pub programs: Vec<String>,
    pub tool: Tool,
}

/// Runs a tool, whose output the user sees, to its good end.
pub fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let arguments = command.get_args().collect::<Vec<_>>().join(OsStr::new(" ")).to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`{name} {arguments}` failed")),
        Err(error) => Err(format!("cannot start {name}: {error}")),
    }
}
