//! Starts other people's tools.

use std::ffi::OsStr;
use std::process::Command;

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
