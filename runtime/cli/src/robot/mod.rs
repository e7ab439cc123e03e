//! `horus robot`: all programs of a `robot.toml` on the machine that they were deployed to, as one.
//!
//! Exit status: 0 it was done, and of `status`: all programs are ready; 1 it was not; 2 nothing was changed.

mod install;
mod package;
mod show;
mod store;
mod units;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::outside::{Word, printable};

use crate::deploy::remote::{Elsewhere, Remote};
use crate::output;
use install::{Failure, Wanted};
use store::Store;
use watch::Part;

/// Nothing was changed.
const UNCHANGED: u8 = 2;

/// Command line of `horus robot`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    elsewhere: Elsewhere,
    /// Write the result as JSON to standard output instead of text
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Where the robot is.
#[derive(clap::Args)]
pub struct Place {
    /// The machine's files are below this directory, and no unit is started
    #[arg(long, value_name = "DIR", hide = true, global = true)]
    root: Option<PathBuf>,
    /// With --root: start units nevertheless
    #[arg(long, hide = true, global = true)]
    live: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the versions that are there, with their programs and groups
    List,
    /// Show what the programs do, of all of it or of a group; ends with 0 if all of them are ready
    Status {
        /// The group
        group: Option<Word>,
    },
    /// Start what does not run, of all of it or of a group and what that starts after, and wait until it is ready
    Start {
        /// The group
        group: Option<Word>,
    },
    /// Stop all of it, or a group, until the next boot
    Stop {
        /// The group
        group: Option<Word>,
    },
    /// Stop all of it and remove it
    Remove,
    /// Take the version before, which becomes ready as one or not at all
    Rollback,
    /// Print the JSON Schema of robot.toml, by which editors complete and check it
    Schema,
    /// Install the tar archive on standard input; `horus deploy` sends it.
    #[command(hide = true)]
    Install {
        /// It is - for standard input
        source: String,
    },
}

impl Place {
    fn store(&self) -> Store {
        Store::at(self.root())
    }

    fn root(&self) -> &Path {
        self.root.as_deref().unwrap_or(Path::new("/"))
    }

    /// Whether systemd runs what is installed there.
    fn is_live(&self) -> bool {
        self.root.is_none() || self.live
    }
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    if let Some(remote) = args.elsewhere.remote() {
        return remote.and_then(|remote| elsewhere(args, &remote)).unwrap_or_else(|reason| failed(&reason, UNCHANGED));
    }
    let place = &args.place;
    match &args.command {
        Command::List => shown(show::list(&place.store(), args.json)),
        Command::Status { group } => match show::status(place, group.as_ref().map(Word::as_str), args.json) {
            Ok((text, true)) => output::print("horus robot", &text),
            Ok((text, false)) => {
                output::print("horus robot", &text);
                ExitCode::FAILURE
            }
            Err(reason) => failed(&reason, 1),
        },
        Command::Start { group } => ended(change(place, group.as_ref(), true)),
        Command::Stop { group } => ended(change(place, group.as_ref(), false)),
        Command::Remove => ended(install::remove(place)),
        Command::Schema => output::print("horus robot", &horus_launch::schema()),
        Command::Rollback => installed(install::go_back(place)),
        Command::Install { source } if source == "-" => installed(install::install(place)),
        Command::Install { .. } => failed(
            "name - : a robot comes as an archive on standard input, as `horus deploy robot.toml HOST` sends it",
            UNCHANGED,
        ),
    }
}

/// The same on another machine.
fn elsewhere(args: &Args, remote: &Remote) -> Result<ExitCode, String> {
    let (verb, group) = match &args.command {
        Command::List => ("list", &None),
        Command::Status { group } => ("status", group),
        Command::Start { group } => ("start", group),
        Command::Stop { group } => ("stop", group),
        Command::Remove => ("remove", &None),
        Command::Schema => ("schema", &None),
        Command::Rollback => ("rollback", &None),
        Command::Install { .. } => return Err("a robot is installed on another machine by `horus deploy`".to_owned()),
    };
    let mut words = vec!["horus robot", verb];
    words.extend(group.as_ref().map(Word::as_str));
    words.extend(args.json.then_some("--json"));
    remote.exit_status(remote.run(&words.join(" "))?)
}

/// Starts or stops a part of it.
fn change(place: &Place, group: Option<&Word>, starts: bool) -> Result<(), String> {
    let store = place.store();
    // Not while a version is on trial.
    let wanted = if starts || group.is_some() { Wanted::Running } else { Wanted::Stopped };
    let _lock = install::lock(place, &store, wanted)?;
    let manifest = units::read(&store.current().ok_or_else(install::none)?)?;
    let part = Part::of(&manifest, group.map(Word::as_str))?;
    match starts {
        true => part.with_those_before(&manifest).start(&say),
        false => part.stop(),
    }
}

/// Whether the robot of the machine has a program of this name.
pub fn has(root: &Path, name: &str) -> bool {
    let manifest = Store::at(root).current().and_then(|folder| units::read(&folder).ok());
    manifest.is_some_and(|manifest| manifest.entries.iter().any(|entry| entry.name == name))
}

/// The units of the robot, for the generator.
pub fn generate(root: &Path, directory: &Path) -> Result<(), String> {
    units::generate(&Store::at(root), directory)
}

/// What the boot does: what was cut off goes back. Gives what is to be started.
pub fn settle(root: Option<&Path>) -> Result<Option<&'static str>, String> {
    let place = Place { root: root.map(Path::to_owned), live: false };
    let store = place.store();
    install::settle(&place, &store, Wanted::Running)?;
    Ok(install::is_startable(&store).then_some(units::TARGET))
}

/// The listener may be gone, with the connection that this came by; the work goes on.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", printable(text));
}

fn shown(text: Result<String, String>) -> ExitCode {
    text.map_or_else(|reason| failed(&reason, 1), |text| output::print("horus robot", &text))
}

fn ended(result: Result<(), String>) -> ExitCode {
    result.map_or_else(|reason| failed(&reason, 1), |()| ExitCode::SUCCESS)
}

fn installed(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { reason, is_unchanged }) => failed(&reason, if is_unchanged { UNCHANGED } else { 1 }),
    }
}

fn failed(reason: &str, status: u8) -> ExitCode {
    for line in reason.lines() {
        let _ = writeln!(std::io::stderr(), "{}", printable(line));
    }
    ExitCode::from(status)
}
