//! `horus tf`: the tree of frames of this machine, one frame in another as it moves, and what is wrong with the tree.
//!
//! Exit status: 0 it was done, and `check` found nothing; 1 otherwise.

mod check;
mod echo;
mod tree;

use std::process::ExitCode;
use std::time::Duration;

use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Frames, Known, Link, TOPIC};
use horus_shm::directory::{Directory, Location};

use crate::output;
use crate::scope::Scope;

/// Command line of `horus tf`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show all frames, who sends them, and how old they are
    Tree,
    /// Print where one frame is in another, again and again
    Echo(echo::Args),
    /// Say what is wrong: trees that are not connected, frames that are old, or whose program was killed
    Check(check::Args),
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let done = args.scope.location().and_then(|location| frames(&location)).and_then(|frames| match &args.command {
        Command::Tree => tree::run(&frames, args.scope.json).map(|()| ExitCode::SUCCESS),
        Command::Echo(echo) => echo::run(&frames, echo, args.scope.json).map(|()| ExitCode::SUCCESS),
        Command::Check(check) => check::run(&frames, check, args.scope.json),
    });
    done.unwrap_or_else(|reason| {
        eprintln!("horus tf: {}", output::lines(&reason));
        ExitCode::FAILURE
    })
}

/// The frames of a namespace, if any are sent there: looking makes no topic.
fn frames(location: &Location) -> Result<Frames, String> {
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    let topic = TOPIC.parse().expect("a name");
    let directory = directory.filter(|directory| directory.file(&topic).exists());
    let directory = directory.ok_or_else(|| {
        format!("no program sends frames in {}: start one, or say --namespace", location.path().display())
    })?;
    Frames::open(&Options::default().directory(directory.path())).map_err(|error| error.to_string())
}

/// How old a link is, or that it has no age.
fn age(link: &Link, now: MonotonicTime) -> String {
    match link.known {
        Known::Static => "static".to_owned(),
        Known::Moving(None) => "not sent yet".to_owned(),
        Known::Moving(Some(newest)) if newest > now => format!("{} ahead", length(newest.since(now))),
        Known::Moving(Some(newest)) => format!("{} old", length(now.since(newest))),
    }
}

/// A length of time for people.
fn length(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{seconds:.0} s"),
    }
}

/// The age in nanoseconds, for JSON; `null` where it has none.
fn age_ns(link: &Link, now: MonotonicTime) -> Option<i64> {
    match link.known {
        Known::Moving(Some(newest)) => i64::try_from(i128::from(now.as_nanos()) - i128::from(newest.as_nanos())).ok(),
        Known::Static | Known::Moving(None) => None,
    }
}

/// The end of a program that went without withdrawing its frames.
const KILLED: &str = "its program was killed";
