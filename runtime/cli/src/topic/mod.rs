//! `horus topic`: shows and clears the topics of this machine, without a daemon and without joining any.
//!
//! Exit status: 0 it was done, 1 it was not, or not for every file that is called like a topic.

mod accounts;
mod clean;
mod fields;
mod survey;
mod text;

use std::io::Write;
use std::process::ExitCode;

use horus_shm::directory::{Directory, Location, Namespace, TopicName};
use serde::Serialize;

use survey::Survey;

/// Command line of `horus topic`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// The namespace to look into [default: $HORUS_NAMESPACE, or `default`]
    #[arg(long, global = true, value_name = "NAME")]
    namespace: Option<Namespace>,
    /// Write the result as JSON to standard output instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List all topics: type, size, who uses them, how many messages were sent
    List,
    /// Show one topic in full, its message field by field
    Info {
        /// The topic's name
        name: TopicName,
    },
    /// Remove the topics that no living process uses
    Clean,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match answer(args) {
        Ok((text, problems)) => {
            // A reader that closes the pipe early (`| head`) has what it wanted.
            let _ = std::io::stdout().write_all(text.as_bytes());
            problems.iter().for_each(|problem| eprintln!("horus topic: {problem}"));
            if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(reason) => {
            eprintln!("horus topic: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

/// What to print, and what could not be looked at.
fn answer(args: &Args) -> Result<(String, Vec<String>), String> {
    let mut location = Location::from_environment().map_err(|error| error.to_string())?;
    if let Some(namespace) = &args.namespace {
        location.namespace = namespace.clone();
    }
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    match &args.command {
        Command::List => {
            let survey = Survey::of(&location, directory.as_ref())?;
            let text = if args.json { json(&survey) } else { text::list(&survey) };
            Ok((text, survey.problems))
        }
        Command::Info { name } => {
            let topic = directory.as_ref().map(|directory| survey::look(&directory.file(name), name.as_str()));
            let missing =
                || format!("there is no topic {name} in {}: see `horus topic list`", location.path().display());
            let topic = topic.transpose()?.flatten().ok_or_else(missing)?;
            Ok((if args.json { json(&topic) } else { text::info(&topic) }, Vec::new()))
        }
        Command::Clean => {
            let cleaned = clean::clean(&location, directory.as_ref())?;
            let text = if args.json { json(&cleaned) } else { clean::text(&cleaned) };
            Ok((text, cleaned.problems))
        }
    }
}

pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("text and numbers are always JSON") + "\n"
}

/// A text that may hold a file's name, without what a terminal would obey.
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}
