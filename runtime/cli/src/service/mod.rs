//! `horus service`: shows the services of this machine, and calls them with what a person types.
//!
//! Exit status: 0 it was done, 1 it was not: `call` had no answer.

mod call;
pub mod layouts;
mod list;

use std::process::ExitCode;
use std::time::Duration;

use horus::outside::printable;
use horus::time::{parse_duration, pause};
use horus_shm::directory::Directory;

use crate::output;
use crate::scope::Scope;
use crate::top::services::services;
use crate::top::topics::Topics;
use crate::topic::json;

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
    /// List all services: types, who serves and who asks, calls a second, what is unanswered and what came too late
    List(List),
    /// Ask, and print the answer
    Call(call::Args),
}

/// Command line of `horus service list`.
#[derive(clap::Args)]
struct List {
    /// The time over which calls are counted
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration)]
    interval: Duration,
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
        Command::List(List { interval }) => {
            let before = Topics::look(directory.as_ref())?;
            if !before.seen.is_empty() {
                pause(*interval);
            }
            let now = Topics::look(directory.as_ref())?;
            let services = services(&now, &before, directory.as_ref());
            Ok(if args.scope.json { json(&services) } else { list::text(&services, &location) })
        }
        Command::Call(call) => call::run(&location, directory.as_ref(), call, args.scope.json),
    }
}
