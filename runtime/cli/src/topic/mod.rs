//! `horus topic`: shows, watches and clears the topics of this machine, without a daemon and without joining any; and publishes
//! what a person types.
//!
//! Exit status: 0 it was done, 1 it was not, or not for every file that is called like a topic. A command that runs until Ctrl-C
//! ends with 0 then.

mod accounts;
mod clean;
mod fields;
pub mod goals;
pub mod message;
mod near;
pub mod parts;
mod publish;
pub mod survey;
mod text;
mod watch;

use std::process::ExitCode;

use horus::outside::printable;
use horus_shm::directory::{Directory, Location, TopicName};
use serde::Serialize;

use crate::output;
use crate::scope::Scope;
pub use survey::{Process, Survey};
pub use text::process;
use watch::Ending;

/// Command line of `horus topic`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Look(Look),
    /// Print messages as they come, whatever their type
    Echo(watch::echo::Args),
    /// Say how many messages a second are sent
    Hz(watch::windows::Windows),
    /// Say how many bytes a second are sent
    Bw(watch::windows::Windows),
    /// Say how old messages are when they are seen
    Delay(watch::delay::Args),
    /// Send messages with the given values
    #[command(name = "pub")]
    Publish(publish::Args),
}

/// What is done at once.
#[derive(clap::Subcommand)]
enum Look {
    /// List all topics: type, size, who uses them, how many messages were sent
    List,
    /// Show one topic in full, its message field by field
    Info {
        /// The topic's name
        name: TopicName,
    },
    /// Remove the topics that no living process uses, and what killed tests left of virtual worlds
    Clean {
        /// Remove latched topics too, which are kept for who comes later
        #[arg(long)]
        latched: bool,
    },
}

/// Runs the command.
pub fn run(args: Args) -> ExitCode {
    let ending = match args.scope.location() {
        Err(reason) => Err(Ending::Failed(reason)),
        Ok(location) => match args.command {
            Command::Echo(echo) => watch::echo::run(location, echo, args.scope.json),
            Command::Hz(windows) => watch::rate::run(location, windows, args.scope.json),
            Command::Bw(windows) => watch::bandwidth::run(location, windows, args.scope.json),
            Command::Delay(delay) => watch::delay::run(location, delay, args.scope.json),
            Command::Publish(publish) => publish::run(&location, &publish),
            Command::Look(look) => return show(&location, &look, args.scope.json),
        },
    };
    match ending {
        Ok(()) | Err(Ending::Closed) => ExitCode::SUCCESS,
        Err(Ending::Failed(reason)) => {
            note(&reason);
            ExitCode::FAILURE
        }
    }
}

/// Says something that is no result.
fn note(text: &str) {
    let lines: Vec<_> = text.lines().map(printable).collect();
    eprintln!("horus topic: {}", lines.join("\n"));
}

/// Shows, or clears, the topics as they are now.
fn show(location: &Location, look: &Look, json: bool) -> ExitCode {
    match answer(location, look, json) {
        Ok((text, problems)) => {
            let printed = output::print("horus topic", &text);
            problems.iter().for_each(|problem| note(problem));
            if problems.is_empty() { printed } else { ExitCode::FAILURE }
        }
        Err(reason) => {
            note(&reason);
            ExitCode::FAILURE
        }
    }
}

/// What to print, and what could not be looked at.
fn answer(location: &Location, look: &Look, as_json: bool) -> Result<(String, Vec<String>), String> {
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    match look {
        Look::List => {
            let survey = Survey::of(location, directory.as_ref())?;
            let text = if as_json { json(&survey) } else { text::list(&survey) };
            Ok((text, survey.problems))
        }
        Look::Info { name } => {
            let topic = directory.as_ref().map(|directory| survey::look(&directory.file(name), name.as_str()));
            let near = near::hint(directory.as_ref(), name.as_str());
            let place = location.path();
            let missing = || format!("there is no topic {name} in {}{near}; see `horus topic list`", place.display());
            let topic = topic.transpose()?.flatten().ok_or_else(missing)?;
            Ok((if as_json { json(&topic) } else { text::info(&topic) }, Vec::new()))
        }
        Look::Clean { latched } => {
            let cleaned = clean::clean(location, directory.as_ref(), *latched)?;
            let text = if as_json { json(&cleaned) } else { clean::text(&cleaned) };
            Ok((text, cleaned.problems))
        }
    }
}

pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("text and numbers are always JSON") + "\n"
}

/// A value as a line of JSON.
pub fn json_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text and numbers are always JSON") + "\n"
}
