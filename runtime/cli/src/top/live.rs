//! The live page, by the program that draws it.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::Args;

/// The program.
const PROGRAM: &str = "horus-top";

/// Becomes `horus-top`, which starts this program again for its pages. Returns only when that fails.
pub fn show(args: &Args) -> Result<(), String> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err("the live page needs a terminal: use --once or --json".to_owned());
    }
    let own = std::env::current_exe().map_err(|error| format!("cannot tell where this program is: {error}"))?;
    // Beside this program, or where $PATH says.
    let beside = own.with_file_name(PROGRAM);
    let program = if beside.is_file() { beside } else { PathBuf::from(PROGRAM) };
    let mut command = Command::new(program);
    command.arg(own).args(["top", "--pages", "--interval", &format!("{}ns", args.interval.as_nanos())]);
    command.arg("--rules").arg(&args.rules);
    if let Some(namespace) = &args.namespace {
        command.args(["--namespace", &namespace.to_string()]);
    }
    let error = command.exec();
    Err(format!(
        "cannot start {PROGRAM}: {error}; `cargo build --release --package horus-top` in runtime/ makes it, and it belongs beside this program or \
         into $PATH. --once and --json work without it"
    ))
}
