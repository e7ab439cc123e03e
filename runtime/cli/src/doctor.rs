//! `horus doctor`: runs the audit, prints it and records it.
//!
//! Exit status: 0 the machine is tuned, 1 a fatal or high rule failed, 2 the audit itself could not be done properly.

pub mod text;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::audit::{self, Outcome};
use crate::boot::Boot;

/// Command line of `horus doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Audit a recorded machine (a file of scripts/record-tree, or a directory with proc and sys) instead of this one.
    #[arg(long, value_name = "PATH", default_value = "/")]
    root: PathBuf,
    /// Directory of the rule files; conf/rt/audit in the source.
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/horus/audit")]
    rules: PathBuf,
    /// Write the result as JSON, to FILE or to standard output instead of the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Write findings and summary to the journal too.
    #[arg(long)]
    journal: bool,
    /// Print every rule, also those that passed or do not apply.
    #[arg(long)]
    all: bool,
    /// Print what every rule is for instead of checking it.
    #[arg(long, conflicts_with_all = ["json", "journal", "all"])]
    explain: bool,
}

/// Some part of the audit could not be done.
pub const NOT_AUDITED: u8 = 2;

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    if args.explain {
        let loaded = audit::load(&args.rules);
        print(&text::explain(&loaded.rules, &loaded.problems));
        return if loaded.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOT_AUDITED) };
    }
    let outcome = audit::run(&args.root, &args.rules);
    match output(args, &outcome) {
        Err(reason) => {
            eprintln!("horus doctor: {reason}");
            ExitCode::from(NOT_AUDITED)
        }
        Ok(()) if !outcome.problems.is_empty() => ExitCode::from(NOT_AUDITED),
        Ok(()) if outcome.passed() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
    }
}

/// Writes the outcome wherever the arguments want it.
fn output(args: &Args, outcome: &Outcome) -> Result<(), String> {
    let json = || serde_json::to_string_pretty(outcome).map_err(|error| error.to_string());
    match &args.json {
        Some(file) if file.as_os_str() == "-" => {
            print(&(json()? + "\n"));
            outcome.problems.iter().for_each(|problem| eprintln!("horus doctor: {problem}"));
        }
        file => {
            if let Some(file) = file {
                std::fs::write(file, json()? + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
            }
            print(&text::table(outcome, &Boot::read(&args.root), args.all, colour()));
        }
    }
    if args.journal { audit::journal::write(outcome).map_err(|error| error.to_string()) } else { Ok(()) }
}

/// Colour only for a person at a terminal who did not decline it (<https://no-color.org>).
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints; a reader that closed the pipe (`| head`) is no error.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}
