//! `horus top`: nodes, topics, services and actions as they run. Reads what they leave in shared memory, and disturbs no node.
//!
//! The live page (`live`) draws what `--once` prints (`page`). Exit status: 0 it was done, 1 it was not.

mod actions;
mod header;
mod live;
mod page;
pub mod services;
pub mod topics;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use horus::outside::printable;
use horus::time::{Clock, MonotonicTime, SystemClock, parse_duration};
use horus_shm::directory::{Directory, Location, Namespace};
use serde::Serialize;

use crate::node::running::{Node, running};
use crate::topic::json;
use actions::{Action, actions};
use header::{Machine, Misses};
use services::{Service, services};
use topics::{Topic, Topics};

/// The shortest interval: a look costs a few system calls for each topic.
const SHORTEST: Duration = Duration::from_millis(100);

/// Command line of `horus top`.
#[derive(clap::Args)]
pub struct Args {
    /// Print the page once, instead of showing it live
    #[arg(long)]
    once: bool,
    /// Print what the page is made of, once, as JSON
    #[arg(long, conflicts_with = "once")]
    json: bool,
    /// The time between two looks, from which rates are made
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    interval: Duration,
    /// The namespace to look into [default: $HORUS_NAMESPACE, or `default`]
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
    /// Directory of the audit's rule files
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/horus/audit")]
    rules: PathBuf,
}

/// What the page is made of, at one moment.
#[derive(Serialize)]
struct Snapshot<'a> {
    /// Version of this structure.
    schema: &'static str,
    machine: &'a Machine,
    misses: Misses,
    /// The directory of the topics.
    directory: String,
    /// The time that rates are made from, in nanoseconds.
    interval_ns: u64,
    /// Whether a monitor watches over the nodes; `null` where this user may not see it.
    is_watched: Option<bool>,
    nodes: Vec<Node>,
    topics: Vec<Topic>,
    /// Without those that actions are made of.
    services: Vec<Service>,
    actions: Vec<Action>,
    /// What is called like a topic and could not be looked at.
    problems: Vec<String>,
}

/// Seconds, or a time with its unit.
fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let interval = seconds.map_or_else(|| parse_duration(text).map_err(|error| error.to_string()), Ok)?;
    if interval < SHORTEST {
        return Err(format!("{interval:?} is too short: choose {SHORTEST:?} or more"));
    }
    Ok(interval)
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let shown = if args.once || args.json { once(args) } else { live::show(args) };
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let lines: Vec<_> = reason.lines().map(printable).collect();
            eprintln!("horus top: {}", lines.join("\n"));
            ExitCode::FAILURE
        }
    }
}

/// Looks, waits, looks again and prints.
fn once(args: &Args) -> Result<(), String> {
    let mut looks = Looks::begin(args)?;
    SystemClock.sleep_until(MonotonicTime::now().plus(args.interval));
    let text = looks.again(|snapshot| if args.once { page::text(snapshot) } else { json(snapshot) })?;
    crate::output::write(&text)
}

/// Looks at all topics and nodes, of which each is compared with the one before.
struct Looks {
    location: Location,
    machine: Machine,
    before: (Topics, Vec<Node>),
}

impl Looks {
    /// The first look, from which nothing can be told yet.
    fn begin(args: &Args) -> Result<Self, String> {
        let location = crate::scope::location(args.namespace.as_ref())?;
        Ok(Self { machine: Machine::here(&args.rules), before: look(&location)?, location })
    }

    /// Looks again, and hands what is seen, with rates since the look before, to `work`.
    fn again<R>(&mut self, work: impl FnOnce(&Snapshot) -> R) -> Result<R, String> {
        let mut now = look(&self.location)?;
        now.1.iter_mut().for_each(|node| node.compare(&self.before.1));
        let directory = Directory::find(self.location.path()).map_err(|error| error.to_string())?;
        let is_watched = directory.as_ref().and_then(horus::monitor::is_watched);
        let done = work(&snapshot(&self.machine, &self.location, directory.as_ref(), &self.before.0, &now, is_watched));
        self.before = now;
        Ok(done)
    }
}

/// All topics and nodes at this moment.
fn look(location: &Location) -> Result<(Topics, Vec<Node>), String> {
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    Ok((Topics::look(directory.as_ref())?, running(directory.as_ref())?))
}

fn snapshot<'a>(
    machine: &'a Machine,
    location: &Location,
    directory: Option<&Directory>,
    before: &Topics,
    (topics, nodes): &(Topics, Vec<Node>),
    is_watched: Option<bool>,
) -> Snapshot<'a> {
    let mut services = services(topics, before, directory);
    Snapshot {
        schema: "horus-top/1",
        machine,
        misses: Misses::of(nodes),
        directory: printable(&location.path().display().to_string()),
        interval_ns: u64::try_from(topics.at.since(before.at).as_nanos()).unwrap_or(u64::MAX),
        is_watched,
        topics: topics.since(before, nodes),
        actions: actions(topics, &mut services, directory),
        services,
        nodes: nodes.clone(),
        problems: topics.problems.clone(),
    }
}
