//! The command of a program: its file, its arguments, and the environment that it finds.

use std::process::{Command, Stdio};

use horus_shm::directory::{NAMESPACE_VARIABLE, RENAME_VARIABLE};

use crate::robot::Program;

/// What a shell, a service manager or another robot may have left in the environment, and is none of this program's.
const OF_ANOTHER: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", SETTINGS, RENAME_VARIABLE, horus::conduct::VARIABLE];
const SETTINGS: &str = "HORUS_NODE_FILE";

/// The command, with pipes for what it says.
pub fn of(program: &Program) -> Command {
    let start = &program.start;
    let mut command = Command::new(&start.command);
    command.args(&start.script).args(&program.args).current_dir(&start.folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    OF_ANOTHER.iter().for_each(|name| _ = command.env_remove(name));
    for (name, value) in [(horus::journal::VARIABLE, horus::journal::PRINT), ("PYTHONUNBUFFERED", "1")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value); // what is said arrives here, and at once
        }
    }
    if let Some(settings) = &start.settings {
        command.env(SETTINGS, settings);
    }
    if let Some(namespace) = &program.namespace {
        command.env(NAMESPACE_VARIABLE, namespace);
    }
    if !program.rename.is_empty() {
        let pairs: Vec<_> = program.rename.iter().map(|(from, to)| format!("{from}={to}")).collect();
        command.env(RENAME_VARIABLE, pairs.join(","));
    }
    command.envs(&program.env);
    command
}
