//! `horus doctor`: runs the audit, prints it and records it; with `--fix`, sets what can be set while the machine runs; with `--supply`, says
//! what the system is made of.
//!
//! Exit status: 0 the machine is tuned, 1 a fatal or high rule failed, 2 the audit itself could not be done properly, or --fix
//! was refused. Of --supply: 0 all is said and support has not ended, 1 something is missing, 2 nothing could be read.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use horus::time::utc_now;
use horus_audit::boot::Boot;
use horus_audit::supply::Supply;
use horus_audit::{NOT_AUDITED, Outcome, Tree, Unread, fix, text};
use horus_evidence::view::junit;
use serde::Serialize;

use crate::output::{lines, write};

/// Command line of `horus doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Audit a recorded machine (a file of scripts/record-tree, or a directory with proc and sys) instead of this one.
    #[arg(long, value_name = "PATH", default_value = "/")]
    root: PathBuf,
    /// Directory of the rule files [default: /usr/lib/horus/audit, or conf/rt/audit of the repository that this program was built in]
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,
    /// Write the result as JSON, to FILE or to standard output instead of the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print JUnit XML instead of the table: a test case a rule.
    #[arg(long, conflicts_with_all = ["json", "all", "fix"])]
    junit: bool,
    /// Write findings and summary to the journal too.
    #[arg(long)]
    journal: bool,
    /// Print every rule, also those that passed or do not apply.
    #[arg(long)]
    all: bool,
    /// Print what every rule is for instead of checking it.
    #[arg(long, conflicts_with_all = ["json", "journal", "all", "junit", "fix"])]
    explain: bool,
    /// Set what can be set while the machine runs, for rules that fail; read each again, and say what needs a restart.
    #[arg(long, conflicts_with = "all")]
    fix: bool,
    /// Say what the system is made of, who answers for it and until when; with NAME, the parts whose name or source has it.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["json", "journal", "all", "junit", "fix", "explain"])]
    supply: Option<String>,
    /// With --fix: only say what would be done.
    #[arg(long, requires = "fix")]
    dry_run: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let done = match args {
        Args { supply: Some(name), .. } => return supply(args, name).unwrap_or_else(refused),
        Args { explain: true, .. } => return explained(args).unwrap_or_else(refused),
        Args { fix: true, .. } => fixed(args),
        _ => audited(args),
    };
    match done {
        Err(reason) => refused(reason),
        Ok(outcome) => ExitCode::from(outcome.exit_status()),
    }
}

fn refused(reason: String) -> ExitCode {
    eprintln!("horus doctor: {}", lines(&reason));
    ExitCode::from(NOT_AUDITED)
}

/// Prints what the rules are for.
fn explained(args: &Args) -> Result<ExitCode, String> {
    let loaded = horus_audit::load(&args.rules());
    write(&text::explain(&loaded.rules, &loaded.problems))?;
    Ok(if loaded.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOT_AUDITED) })
}

/// Prints what the system is made of, or the parts of a name.
fn supply(args: &Args, name: &str) -> Result<ExitCode, String> {
    let said = Tree::open(&args.root).and_then(|tree| Supply::read(&tree)).map_err(|Unread(reason)| reason)?;
    let (text, is_found) = match name {
        "" => {
            let today = &utc_now()[.."2026-11-29".len()];
            (said.text(today), said.is_sound(today))
        }
        name => {
            let found = said.search(name)?;
            let absent = || format!("none of its parts has {name:?} in its name or in that of its source\n");
            (if found.is_empty() { absent() } else { found.join("\n") + "\n" }, !found.is_empty())
        }
    };
    write(&lines(&text))?;
    Ok(ExitCode::from(u8::from(!is_found)))
}

impl Args {
    /// Where the rules are: those of the appliance, or of the repository above the program itself. Never above the working directory,
    /// whose files are not for root to obey.
    fn rules(&self) -> PathBuf {
        let installed = PathBuf::from("/usr/lib/horus/audit");
        let program = std::env::current_exe().unwrap_or_default();
        let built = program.ancestors().skip(1).map(|above| above.join("conf/rt/audit"));
        let mut places = std::iter::once(installed.clone()).chain(built);
        self.rules.clone().or_else(|| places.find(|place| place.is_dir())).unwrap_or(installed)
    }
}

/// Audits, and writes the outcome to each place that the arguments name.
fn audited(args: &Args) -> Result<Outcome, String> {
    let outcome = horus_audit::run(&args.root, &args.rules());
    let text = || match args.junit {
        true => junit::render_audit(&outcome, &utc_now(), &host(args)),
        false => text::table(&outcome, &Boot::read(&args.root), args.all, colour()),
    };
    output(args, &outcome, &outcome, text)?;
    Ok(outcome)
}

/// Fixes, and writes what was done; the audit afterwards.
fn fixed(args: &Args) -> Result<Outcome, String> {
    let fixed = fix::fix(&args.root, &args.rules(), args.dry_run)?;
    output(args, &fixed, &fixed.audit, || text::fixes(&fixed, colour()))?;
    Ok(fixed.audit)
}

/// Writes `what` as JSON or as text, and the audit to the journal, as the arguments want it.
fn output(args: &Args, what: &impl Serialize, audit: &Outcome, text: impl FnOnce() -> String) -> Result<(), String> {
    let json = || serde_json::to_string_pretty(what).map_err(|error| error.to_string());
    match &args.json {
        Some(file) if file.as_os_str() == "-" => {
            write(&(json()? + "\n"))?;
            audit.problems.iter().for_each(|problem| eprintln!("horus doctor: {}", lines(problem)));
        }
        file => {
            if let Some(file) = file {
                std::fs::write(file, json()? + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
            }
            write(&text())?;
        }
    }
    if args.journal { horus_audit::journal::write(audit).map_err(|error| error.to_string()) } else { Ok(()) }
}

/// The audited machine's name; empty where it was not recorded.
fn host(args: &Args) -> String {
    let tree = Tree::open(&args.root).ok();
    tree.and_then(|tree| tree.text("/proc/sys/kernel/hostname").ok()).unwrap_or_default()
}

/// Colour only for a person at a terminal who did not decline it (<https://no-color.org>).
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
