//! `horus determinism`: measures how well this machine keeps its deadlines.
//!
//! The run is the crate [`horus_evidence`]; here is what it is told, and what is said at its end.
//!
//! Exit status: 0 the run took place, whatever it found; 1 it could not take place or not be stored; 3 it was refused
//! because another one is running.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use horus::time::parse_duration;
use horus_evidence::config::{self, Set};
use horus_evidence::lock::{self, Lock, LockError};
use horus_evidence::measure::echo::{Part, Style};
use horus_evidence::measure::{echo, load, machine};
use horus_evidence::record::destination::{DEFAULT_DIRECTORY, Destination, RAM_DIRECTORY};
use horus_evidence::run::{self, Finished, Settings};
use horus_evidence::view::history;
use horus_evidence::view::journal::{self, Journal};

/// Another run is measuring.
const REFUSED: u8 = 3;

/// Command line of `horus determinism`.
#[derive(clap::Args)]
pub struct Args {
    /// Measure the long set, 8 hours unless its file or --duration says otherwise: all loads, 1 and 10 kHz
    #[arg(long)]
    night: bool,
    /// Read this file only, instead of determinism.toml (with --night: night.toml) in /usr/lib/horus, /etc/horus and /var/lib/horus
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What all phases together may take, such as 60s or 480min [env: HORUS_DETERMINISM_DURATION]
    #[arg(long, value_name = "TIME", value_parser = config::parse_run_duration)]
    duration: Option<Duration>,
    /// Directory that the report is stored in
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DIRECTORY)]
    output: PathBuf,
    /// Directory that the report is stored in where the other one cannot take it
    #[arg(long, value_name = "DIR", default_value = RAM_DIRECTORY)]
    fallback: PathBuf,
    /// Directory of the audit's rule files
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/horus/audit")]
    rules: PathBuf,
    /// Read audit and facts from a recorded tree; such a run is never valid
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Lock file [default: /run/horus/determinism.lock, or in the report's directory where that cannot be written]
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// File that the release jitter of the measured CPU is left in, for `horus node check`
    #[arg(long, value_name = "FILE", default_value = horus::graph::jitter::FILE, hide = true)]
    release_jitter: PathBuf,
    /// Print the report, as is done on a terminal
    #[arg(long)]
    print: bool,
    /// Stall this long in the self-test instead of as long as it looks for: shows that a blind meter is found out
    #[arg(long, value_name = "TIME", value_parser = parse_duration, hide = true)]
    inject_stall: Option<Duration>,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let (_lock, path) = match lock(args) {
        Ok(locked) => locked,
        Err(error) => {
            eprintln!("horus determinism: {error}");
            Journal::default().write(&journal::refused(&error.to_string()));
            return if matches!(error, LockError::Held { .. }) { ExitCode::from(REFUSED) } else { ExitCode::FAILURE };
        }
    };
    let on_terminal = io::stdout().is_terminal();
    let mut settings = settings(args, on_terminal);
    // A run whose lock is elsewhere stands beside the machine's watch all the same.
    let locks = [path.as_path(), Path::new(lock::DEFAULT_FILE)];
    let beside = if args.lock.is_some() || path == locks[1] { &locks[..1] } else { &locks[..] };
    let quiet: Vec<_> = beside.iter().map(|path| lock::quiet_watch(path)).collect();
    if quiet.iter().any(Result::is_err) {
        let problem = "the watch measures on the same CPU and did not stand aside; systemctl stop horus-watch, then measure again";
        settings.problems.push(problem.to_owned());
    }
    // A service's stderr is the journal, which gets an entry of its own.
    if let Some(trouble) = settings.destination.trouble().filter(|_| args.print || on_terminal) {
        eprintln!("horus determinism: {trouble}");
    }
    let Finished { report, together, stored } = run::run(settings);
    if args.print || on_terminal {
        let _ = writeln!(io::stdout(), "{}", history::screen(&report, together.as_ref()));
    }
    match stored {
        Ok(path) if args.print || on_terminal => {
            let _ = writeln!(io::stdout(), " file       {}", path.display());
            ExitCode::SUCCESS
        }
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("horus determinism: {error}");
            ExitCode::FAILURE
        }
    }
}

fn settings(args: &Args, progress: bool) -> Settings {
    let set = if args.night { Set::Night } else { Set::Boot };
    let (mut config, mut problems) = config::load(set, &args.root, args.config.as_deref());
    match config::duration_from_environment() {
        Ok(duration) => config.duration = args.duration.or(duration).unwrap_or(config.duration),
        Err(problem) => problems.push(problem),
    }
    let run_id = machine::run_id();
    Settings {
        config,
        problems,
        destination: Destination::reserve(&args.output, &args.fallback, &machine::boot_id(&args.root), &run_id),
        run_id,
        release_jitter: args.release_jitter.clone(),
        rules: args.rules.clone(),
        root: args.root.clone(),
        injected_stall: args.inject_stall,
        // The journal of a long run tells how far it is.
        progress: progress || args.night,
    }
}

/// Takes the lock of all runs; returns it with its file.
fn lock(args: &Args) -> Result<(Lock, PathBuf), LockError> {
    let take = |path: PathBuf| lock::take(&path).map(|lock| (lock, path));
    match &args.lock {
        Some(path) => take(path.clone()),
        None => match take(PathBuf::from(lock::DEFAULT_FILE)) {
            Err(LockError::Unusable { .. }) => take(args.output.join("determinism.lock")),
            taken => taken,
        },
    }
}

/// Command line of the hidden `horus determinism-load`: becomes the load program.
#[derive(clap::Args)]
pub struct Load {
    /// The process whose death ends the load
    #[arg(long)]
    parent: i32,
    /// Program and arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs `horus determinism-load`.
pub fn load(args: &Load) -> ExitCode {
    load::become_load(args.parent, &args.command)
}

/// Command line of the hidden `horus determinism-echo`.
#[derive(clap::Args)]
pub struct Echo {
    /// First part of the topics' names
    #[arg(long)]
    base: String,
    /// CPU to run on
    #[arg(long)]
    cpu: u32,
    /// SCHED_FIFO priority; without one, the ordinary policy
    #[arg(long)]
    priority: Option<u8>,
    /// Sleep until a message comes, and play no floor
    #[arg(long)]
    paced: bool,
}

/// Runs `horus determinism-echo`.
pub fn echo(args: &Echo) -> ExitCode {
    let style = if args.paced { Style::Paced } else { Style::Spinning };
    echo::run(&Part { base: args.base.clone(), cpu: args.cpu, priority: args.priority, style })
}
