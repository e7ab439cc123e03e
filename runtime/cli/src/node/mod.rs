//! `horus node`: the nodes that run on the topics of this machine, whether those of a program would meet their deadlines, and
//! those that users install.
//!
//! Exit status of `list` and `info`: 0 it was done, 1 it was not. Of `check`: 0 admitted, 1 refused, 2 could not be checked, or not all of it. Of
//! what installs: see there.

mod check;
mod graph;
mod install;
mod rearm;
pub mod running;
pub mod text;

use std::path::Path;
use std::process::ExitCode;

use horus::outside::printable;
use horus_shm::directory::{Directory, Location};
use serde::Serialize;

use crate::output;
use crate::scope::Scope;
use crate::topic::json;
use install::idle::{self, Idle};
use running::{Elsewhere, Node, running};

/// Command line of `horus node`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    scope: Scope,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the nodes that run, with their response times and misses, and those that are installed and do not run
    List,
    /// Show all that is known of a program's nodes, or of one
    Info {
        /// The program, or PROGRAM/NODE
        #[arg(value_name = "PROGRAM[/NODE]")]
        name: String,
    },
    /// Print who talks to whom, with rates and deadlines, as text that Mermaid or Graphviz draws
    Graph(graph::Args),
    /// Say whether the nodes of a program would meet their deadlines on this machine
    Check(check::Args),
    /// Install a node, or a new version of one: start it, and take the old version back when the new one does not become ready
    Install(install::Args),
    /// Stop a node and remove it
    Remove(install::Named),
    /// Start a node that is installed, anew if it runs
    Start(install::Named),
    /// Stop a node until the next boot
    Stop(install::Named),
    /// Have a node that is in its safe state run its steps again, with the reason for the journal
    Rearm(rearm::Args),
    /// Print the JSON Schema of node.toml, by which editors complete and check it
    Schema,
    /// The systemd generator.
    #[command(hide = true)]
    Generate(install::Generate),
    /// What the boot does with installed nodes.
    #[command(hide = true)]
    Settle(install::Place),
}

/// Nodes as JSON.
#[derive(Serialize)]
struct Nodes<'a> {
    /// Version of this structure.
    schema: &'static str,
    /// The directory of the topics.
    directory: String,
    /// Whether a monitor watches over them; `null` where this user may not see it.
    is_watched: Option<bool>,
    nodes: Vec<&'a Node>,
    /// Nodes of other namespaces; of `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    elsewhere: Option<&'a [Elsewhere]>,
    /// What is installed and does not run; of `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<Vec<Idle>>,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let location = args.scope.location();
    match &args.command {
        Command::Check(check) => return check::run(check, location, args.scope.json),
        Command::Install(install) => return install::run(install, location),
        Command::Remove(named) => return install::change(named, install::Change::Remove),
        Command::Start(named) => return install::change(named, install::Change::Start),
        Command::Stop(named) => return install::change(named, install::Change::Stop),
        Command::Rearm(rearm) => return rearm::run(rearm, location),
        Command::Generate(generate) => return install::generate(generate),
        Command::Settle(place) => return install::settle(place),
        Command::Schema => return output::print("horus node", &horus::app::schema()),
        Command::List | Command::Info { .. } | Command::Graph(_) => {}
    }
    match location.and_then(|location| answer(args, &location)) {
        Ok(text) => output::print("horus node", &text),
        Err(reason) => {
            eprintln!("horus node: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn answer(args: &Args, location: &Location) -> Result<String, String> {
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    if let Command::Graph(graph) = &args.command {
        return graph::answer(graph, location, directory.as_ref(), args.scope.json);
    }
    let place = printable(&location.path().display().to_string());
    let nodes = running(directory.as_ref())?;
    let shown: Vec<&Node> = match &args.command {
        Command::Info { name } => {
            let shown = named(&nodes, name);
            if shown.is_empty() {
                return Err(format!(
                    "no living program runs a node {name} on the topics of {place}: see `horus node list`"
                ));
            }
            shown
        }
        _ => nodes.iter().collect(),
    };
    let idle = matches!(args.command, Command::List).then(|| {
        let programs: Vec<_> = nodes.iter().map(|node| node.program.clone()).collect();
        idle::idle(Path::new("/"), &programs)
    });
    let everywhere = matches!(args.command, Command::List).then(|| running::everywhere(location));
    let is_watched = directory.as_ref().and_then(horus::monitor::is_watched);
    if args.scope.json {
        let elsewhere = everywhere.as_ref().map(|everywhere| &*everywhere.others);
        return Ok(json(&Nodes {
            schema: "horus-nodes/1",
            directory: place,
            is_watched,
            nodes: shown,
            elsewhere,
            idle,
        }));
    }
    let everywhere = everywhere.unwrap_or_default();
    Ok(match &args.command {
        Command::Info { .. } => shown.iter().map(|node| text::info(node, &nodes)).collect::<Vec<_>>().join("\n"),
        _ => {
            text::list(&nodes, &place)
                + &text::elsewhere(&everywhere)
                + &text::unwatched(&nodes, is_watched)
                + &idle::text(&idle.unwrap_or_default())
        }
    })
}

/// The nodes of `PROGRAM`, or the one of `PROGRAM/NODE`.
fn named<'a>(nodes: &'a [Node], name: &str) -> Vec<&'a Node> {
    nodes.iter().filter(|node| node.program == name || node.name() == name).collect()
}
