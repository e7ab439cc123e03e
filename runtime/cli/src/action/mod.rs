//! `horus action`: shows the actions of this machine, sends them goals that a person types, and cancels goals.
//!
//! Exit status: 0 it was done, and a goal succeeded; 1 it was not.

mod cancel;
mod list;
mod send;

use std::process::ExitCode;

use horus::outside::printable;
use horus_shm::directory::Directory;

use crate::output;
use crate::scope::Scope;
use crate::topic::{Survey, json};

/// Command line of `horus action`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List all actions: types, who serves them, and where their goals stand
    List,
    /// Send a goal, print how far it is, and wait for its outcome; Ctrl-C cancels it
    Send(send::Args),
    /// Cancel a goal, or all goals of an action
    Cancel(cancel::Args),
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let done = answer(args).and_then(|text| output::write(&text));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            note(&reason);
            ExitCode::FAILURE
        }
    }
}

/// Says something that is no result.
fn note(text: &str) {
    let lines: Vec<_> = text.lines().map(printable).collect();
    eprintln!("horus action: {}", lines.join("\n"));
}

fn answer(args: &Args) -> Result<String, String> {
    let location = args.scope.location()?;
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    match &args.command {
        Command::List => {
            let actions = list::actions(&Survey::of(&location, directory.as_ref())?.topics);
            Ok(if args.scope.json { json(&actions) } else { list::text(&actions, &location) })
        }
        Command::Send(send) => send::run(&location, directory.as_ref(), send, args.scope.json),
        Command::Cancel(cancel) => cancel::run(&location, directory.as_ref(), cancel, args.scope.json),
    }
}
