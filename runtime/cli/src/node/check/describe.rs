//! Asks a program what its nodes are, without running them.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use horus::graph::ProcessInfo;
use serde::Deserialize;

use crate::installed::user::user_of_nodes;

/// Names the program's node.toml for it.
const FILE_VARIABLE: &str = "HORUS_NODE_FILE";

/// Of a node.toml, what is not left to its program.
#[derive(Deserialize)]
struct Named {
    program: Option<String>,
}

/// The program that `file` is for, or `given` one.
pub fn program(file: &Path, given: Option<&Path>) -> Result<PathBuf, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let named: Named = toml::from_str(&text).map_err(|error| format!("{shown}: {}", error.to_string().trim_end()))?;
    let path = match (given, named.program) {
        (Some(given), _) => given.to_owned(),
        (None, Some(name)) => file.with_file_name(name),
        (None, None) => {
            return Err(format!("{shown} names no program: add the line program = \"NAME\", or give --program PATH"));
        }
    };
    match path.is_file() {
        // A path without a folder is no word to be looked for in $PATH.
        true => std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display())),
        false => Err(format!(
            "there is no program {}: put it there, or give --program PATH (cargo leaves it in target/debug or target/release)",
            path.display()
        )),
    }
}

/// What `program` says of its nodes when `file` has its settings; within `limit`. A root that installs a program does not run it as root.
pub fn describe(program: &Path, file: &Path, limit: Duration, as_nodes_do: bool) -> Result<ProcessInfo, String> {
    let shown = program.display();
    let file = std::path::absolute(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut command = Command::new(program);
    command.env(FILE_VARIABLE, &file);
    if let Some((user, group)) = user_of_nodes().filter(|_| as_nodes_do) {
        command.uid(user).gid(group);
    }
    horus_launch::describe(&mut command, &shown.to_string(), limit, &|| false)
}
