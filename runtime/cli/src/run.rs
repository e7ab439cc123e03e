//! `horus run robot.toml`: starts all programs of a robot in one terminal, and ends them in reverse order (crate `horus-launch`). With `--virtual`,
//! they share one virtual clock.
//!
//! Exit status: 0 all ended as they were asked to, 1 a program failed for good, 2 nothing was started.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use horus::graph::Machine;
use horus::outside::printable;
use horus::time::parse_duration;
use horus_launch::{Asking, Outcome, Play, Robot, Screen, Signals};

/// Nothing was started.
const NOT_STARTED: u8 = 2;
/// The hidden subcommand of the guard.
const GUARD: &str = "run-guard";

/// Command line of `horus run`.
#[derive(clap::Args)]
pub struct Args {
    /// The robot's file
    file: PathBuf,
    /// Start only the programs of this group, and those that they start after; may be given several times
    #[arg(long = "group", value_name = "NAME")]
    groups: Vec<String>,
    /// Check the file and whether all of it fits on this machine, and start nothing
    #[arg(long)]
    check: bool,
    /// Run all programs on one virtual clock: faster than real time, and the same in each run
    #[arg(long = "virtual")]
    is_virtual: bool,
    /// End after so much virtual time, such as 10s; without it, when it is stopped
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, requires = "is_virtual")]
    span: Option<Duration>,
    /// How long a program's turn may take by the machine's clock
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s", requires = "is_virtual")]
    turn_limit: Duration,
    /// Read CPUs and release jitter of the machine below this directory
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Command line of the guard.
#[derive(clap::Args)]
pub struct Guard {
    /// What is removed at the end
    folder: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match start(args) {
        Ok(Outcome::Ended) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("horus run: {}", reason.lines().map(printable).collect::<Vec<_>>().join("\n"));
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// What is to be started, and what is said of it.
struct Plan {
    robot: Robot,
    play: Option<Play>,
    sentence: Option<String>,
    notes: Vec<String>,
}

/// Asks the programs what their nodes are, and whether they can run here.
fn plan(robot: Robot, args: &Args, asking: &Asking) -> Result<Plan, String> {
    if args.is_virtual {
        let (robot, cast) = robot.cast(asking)?;
        let (sentence, notes) = (Some(cast.sentence()), cast.notes.clone());
        return Ok(Plan {
            robot,
            play: Some(Play { cast, span: args.span, patience: args.turn_limit }),
            sentence,
            notes,
        });
    }
    let verdict = robot.admit(&Machine::at(&args.root), asking)?;
    Ok(Plan { robot, play: None, sentence: verdict.sentence, notes: verdict.notes })
}

fn start(args: &Args) -> Result<Outcome, String> {
    let robot = Robot::read(&args.file, &args.groups).map_err(|mistake| mistake.to_string())?;
    let signals = Signals::take().map_err(|error| error.to_string())?;
    let is_called_off = || signals.has_come();
    let asked = plan(robot, args, &Asking { is_called_off: &is_called_off, ..Asking::default() });
    if signals.count() > 0 {
        return Err("it was asked to end before a program was started".to_owned());
    }
    let Plan { robot, play, sentence, notes } = asked?;
    let mut screen = Screen::stdout().map_err(|error| error.to_string())?;
    sentence.iter().chain(&notes).for_each(|sentence| screen.tell(sentence));
    if robot.is_empty() {
        let reason = "no program is left to be started: build one that is left out, or choose another --group NAME";
        return Err(reason.to_owned());
    }
    if args.check {
        return Ok(Outcome::Ended);
    }
    let own = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let guard = || {
        let mut guard = Command::new(&own);
        guard.arg(GUARD);
        guard
    };
    horus_launch::run(&robot, play.as_ref(), &signals, &guard, &mut screen).map_err(|error| error.to_string())
}

/// Runs the guard.
pub fn guard(args: &Guard) -> ExitCode {
    match horus_launch::guard(&args.folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("horus {GUARD}: {error}");
            ExitCode::FAILURE
        }
    }
}
