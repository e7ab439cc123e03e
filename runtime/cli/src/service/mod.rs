//! `horus service`: shows the services of this machine, and calls them with what a person types.
//!
//! Exit status: 0 it was done, 1 it was not: `call` had no answer.

mod call;
mod layouts;
mod list;

use std::process::ExitCode;

use horus::outside::printable;
use horus_shm::directory::Directory;

use crate::output;
use crate::scope::Scope;
use crate::topic::{Survey, json};

/// Command line of `horus service`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List all services: types, who serves them, who asks, how many requests were sent
    List,
    /// Ask, and print the answer
    Call(call::Args),
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match answer(args) {
        Ok(text) => output::print("horus service", &text),
        Err(reason) => {
            let lines: Vec<_> = reason.lines().map(printable).collect();
            eprintln!("horus service: {}", lines.join("\n"));
            ExitCode::FAILURE
        }
    }
}

fn answer(args: &Args) -> Result<String, String> {
    let location = args.scope.location()?;
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    match &args.command {
        Command::List => {
            let services = list::services(&Survey::of(&location, directory.as_ref())?.topics);
            Ok(if args.scope.json { json(&services) } else { list::text(&services, &location) })
        }
        Command::Call(call) => call::run(&location, directory.as_ref(), call, args.scope.json),
    }
}
