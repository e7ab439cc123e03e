//! `horus param`: the parameters of programs that run, seen and set from outside of their loops.
//!
//! Exit status: 0 it was done, 1 it was not, and then nothing has changed.

mod keep;
mod text;
mod watch;

use std::process::ExitCode;

use horus::outside::printable;
use horus::param::{self, Current, Params, SetError};
use horus::time::utc;
use horus_shm::directory::{Directory, Location};
use serde_json::json;

use crate::output;
use crate::scope::Scope;

/// Command line of `horus param`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List parameters with their values, what they may be, and where each value came from
    List {
        /// A program, or PROGRAM/NODE; all of them if not given
        #[arg(value_name = "PROGRAM[/NODE]")]
        name: Option<String>,
    },
    /// Print the value of a parameter
    Get {
        /// The program, or PROGRAM/NODE
        #[arg(value_name = "PROGRAM[/NODE]")]
        program: String,
        /// The parameter
        name: String,
    },
    /// Set parameters of a program: all that are named, or none
    Set {
        /// The program, or PROGRAM/NODE
        #[arg(value_name = "PROGRAM[/NODE]")]
        program: String,
        /// Parameters with their new values
        #[arg(value_name = "NAME=VALUE", required = true, value_parser = parse_assignment)]
        values: Vec<(String, String)>,
    },
    /// Print changes as they come, until the program ends
    Watch(Named),
    /// Have a program save values, so that it begins with them when it starts again
    ///
    /// Where no parameter is named: those that were set while it runs, and those that were saved before.
    Save(Named),
    /// Set parameters to what is saved: all that are named, or none; all that are saved, where none is named
    Load(Named),
    /// Drop what is saved; a running program keeps its values until it ends
    Forget(Named),
}

/// A program, and some of its parameters or all.
#[derive(clap::Args)]
struct Named {
    /// The program, or PROGRAM/NODE
    #[arg(value_name = "PROGRAM[/NODE]")]
    program: String,
    /// Parameters
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl Named {
    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

fn parse_assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as gain=1.2")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match args.scope.location().and_then(|location| answer(args, &location)) {
        Ok(text) => output::print("horus param", &text),
        Err(reason) => {
            eprintln!("{}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn answer(args: &Args, location: &Location) -> Result<String, String> {
    match &args.command {
        Command::List { name } => list(args, location, name.as_deref()),
        Command::Get { program, name } => {
            let params = open(location, program)?;
            let current = params.get(name).map_err(|error| failed(&error))?;
            Ok(match args.scope.json {
                true => pretty(&as_json(params.program(), &current)),
                false => text::value(&current) + "\n",
            })
        }
        Command::Set { program, values } => {
            let params = open(location, program)?;
            let wanted: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let before = params.set_text(&wanted).map_err(|error| match error {
                SetError::Refused(text) if values.len() > 1 => format!("refused: {text}, and nothing else changes"),
                error => failed(&error),
            })?;
            let line = |(before, (name, _)): (&Current, &(String, String))| {
                let now = params.get(name).map_err(|error| failed(&error))?;
                Ok(format!("{} = {} (was {})\n", printable(name), text::value(&now), text::value(before)))
            };
            before.iter().zip(values).map(line).collect()
        }
        Command::Watch(named) => watch::run(&open(location, &named.program)?, &named.names(), args.scope.json),
        Command::Save(named) => keep::save(&open(location, &named.program)?, &named.names()),
        Command::Load(named) => keep::load(&open(location, &named.program)?, &named.names()),
        Command::Forget(named) => keep::forget(&open(location, &named.program)?, &named.names()),
    }
}

fn failed(error: &SetError) -> String {
    match error {
        SetError::Refused(text) => format!("refused: {text}"),
        SetError::NotPermitted { .. } => format!("refused: {error}"),
        error => format!("horus param: {error}"),
    }
}

fn open(location: &Location, name: &str) -> Result<Params, String> {
    Params::open_at(location, name).map_err(|error| format!("horus param: {error}"))
}

fn list(args: &Args, location: &Location, name: Option<&str>) -> Result<String, String> {
    let programs = match name {
        Some(name) => vec![open(location, name)?],
        None => {
            let told = |error| format!("horus param: {error}");
            let directory = Directory::find(location.path()).map_err(told)?;
            directory.map_or_else(|| Ok(Vec::new()), |directory| param::list(&directory).map_err(told))?
        }
    };
    // One that has ended meanwhile is none that runs.
    let shown: Vec<_> = programs.iter().filter_map(|params| Some((params.program(), params.list().ok()?))).collect();
    if args.scope.json {
        let each =
            |(program, all): &(&str, Vec<Current>)| all.iter().map(|one| as_json(program, one)).collect::<Vec<_>>();
        let parameters: Vec<_> = shown.iter().flat_map(each).collect();
        return Ok(pretty(&json!({ "schema": "horus-parameters/1", "parameters": parameters })));
    }
    if shown.is_empty() {
        let place = printable(&location.path().display().to_string());
        return Ok(format!("no living program has parameters on the topics of {place}\n"));
    }
    Ok(text::list(&shown))
}

fn as_json(program: &str, current: &Current) -> serde_json::Value {
    let known = &current.declaration;
    json!({
        "program": program,
        "node": known.node,
        "name": known.name,
        "kind": known.kind,
        "unit": known.unit,
        "about": known.about,
        "range": known.range(),
        "default": known.default(),
        "read_only": known.read_only,
        "value": current.value,
        "from": text::origin(&current.origin),
        "saved": current.saved.map(utc),
    })
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
