//! `horus tune`: gives a Linux that is not our image the same tuning, from the same files of `conf/`, and takes it back exactly
//! ([`horus_audit::tune`]).
//!
//! Exit status: 0 done, 1 something could not be done and was said, 2 nothing was done. For `verify` as for `horus doctor`.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use horus::cpus::CpuList;
use horus_audit::root::{Root, Steps};
use horus_audit::tune::{self, Choice, Report};

use crate::doctor::colour;

/// Command line of `horus tune`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Directory of the profile [default: /usr/share/horus/conf, or conf/ of the repository that this program was built in]
    #[arg(long, global = true, value_name = "DIR")]
    conf: Option<PathBuf>,
    /// Work on a directory that stands for / instead of this machine
    #[arg(long, global = true, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Kill this process at its Nth step: shows that the next one puts everything right
    #[arg(long, global = true, value_name = "N", hide = true)]
    die_at_step: Option<u64>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Take a snapshot of what will change, then bring this machine to the profile
    Apply {
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
        /// CPUs for real-time nodes, such as 2-3 [default: those that the board's folder in conf/machine leaves]
        #[arg(long, value_name = "CPULIST")]
        isolate: Option<CpuList>,
        /// Folder of conf/machine whose CPU split and parameters are taken [default: the one that fits this machine]
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
    },
    /// Audit this machine by the rules of the profile, and say what only waits for a restart
    Verify,
    /// Restore everything that `apply` changed from its snapshot
    Revert,
}

/// Nothing was done.
const REFUSED: u8 = 2;

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match done(args) {
        Ok(status) => ExitCode::from(status),
        Err(reason) => {
            eprintln!("horus tune: {reason}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Does it; an error says why nothing was done.
fn done(args: &Args) -> Result<u8, String> {
    let root = Root::open(&args.root)?;
    let report = Report::new(print);
    let steps = Steps::new(args.die_at_step);
    match &args.command {
        Command::Verify => {
            let (outcome, text) = tune::verify(&root, args.conf.as_deref(), colour())?;
            let _ = stdout().write_all(text.as_bytes());
            return Ok(outcome.exit_status());
        }
        Command::Apply { dry_run, isolate, board } => {
            let chosen = Choice { isolate: isolate.as_ref(), board: board.as_deref() };
            tune::apply(&root, args.conf.as_deref(), &chosen, &steps, &report, *dry_run)?;
        }
        Command::Revert => tune::revert(&root, &steps, &report)?,
    }
    Ok(u8::from(report.failures() > 0))
}

/// A reader that closed the pipe (`| head`) does not stop the work.
fn print(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}
