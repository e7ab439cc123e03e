//! `horus node rearm`: has a node in its safe state run its steps again, and writes down why.
//!
//! Exit status: 0 it runs its steps, 1 it does not.

use std::process::ExitCode;
use std::time::Duration;

use horus::figures::{self, NodeFigures, ProcessFigures, State};
use horus::graph::NodeInfo;
use horus::journal::{self, Entry, Priority};
use horus::time::{Clock, MonotonicTime, SystemClock, ms};
use horus_shm::directory::{Directory, Location};

use horus::outside::printable;

/// The longest reason.
const MOST_REASON_BYTES: usize = 500;

/// How long a node may take to its next release, unless its period is longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Command line of `horus node rearm`.
#[derive(clap::Args)]
pub struct Args {
    /// The node, as PROGRAM/NODE; PROGRAM where it has one node
    #[arg(value_name = "PROGRAM/NODE")]
    name: String,
    /// Why it may run again: for the journal
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    reason: String,
}

fn parse_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > MOST_REASON_BYTES || text.chars().any(char::is_control) {
        return Err(format!("write a line of 1 to {MOST_REASON_BYTES} bytes, such as \"gearbox checked\""));
    }
    Ok(text.to_owned())
}

/// Runs the command.
pub fn run(args: &Args, location: Result<Location, String>) -> ExitCode {
    match location.and_then(|location| rearm(args, &location)) {
        Ok(text) => {
            println!("{}", printable(&text));
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("horus node rearm: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn rearm(args: &Args, location: &Location) -> Result<String, String> {
    let directory = Directory::find(location.path()).map_err(|error| error.to_string())?;
    let processes = directory.map_or_else(|| Ok(Vec::new()), |directory| figures::list(&directory));
    let processes = processes.map_err(|error| error.to_string())?;
    let (process, number) = find(&processes, &args.name)?;
    let (program, node) = (&process.info().name, &process.info().nodes[number]);
    let look = || process.node(number).ok_or_else(|| format!("{program} has ended"));
    is_ready(program, node, &look()?)?;
    process.rearm(number);
    let user = rustix::process::getuid().as_raw();
    let entry = Entry::new(
        journal::id::NODE_REARMED,
        Priority::Warning,
        format!("node {} of {program} is armed again by user {user}: {}", node.name, args.reason),
    );
    entry
        .field("HORUS_NODE", &node.name)
        .field("HORUS_PROGRAM", program)
        .field("HORUS_REASON", &args.reason)
        .field("HORUS_USER", user)
        .send_or_print();
    let end = MonotonicTime::now().plus(PATIENCE.max(Duration::from_nanos(node.period_ns.saturating_mul(2))));
    while process.is_rearming(number) {
        let now = MonotonicTime::now();
        if !process.is_alive() {
            return Err(format!("{program} has ended"));
        }
        if now >= end {
            return Err(format!("{program}/{} has not run since: its steps go on at its next release", node.name));
        }
        SystemClock.sleep_until(now.plus(ms(10)));
    }
    Ok(format!("{program}/{} runs its steps again", node.name))
}

fn find<'a>(processes: &'a [ProcessFigures], name: &str) -> Result<(&'a ProcessFigures, usize), String> {
    let (program, node) = name.split_once('/').map_or((name, None), |(program, node)| (program, Some(node)));
    let process = processes.iter().find(|process| process.info().name == program);
    let process = process.ok_or_else(|| format!("no living program is named {program}: see `horus node list`"))?;
    let nodes = &process.info().nodes;
    let number = match node {
        Some(node) => nodes.iter().position(|known| known.name == node),
        None if nodes.len() == 1 => Some(0),
        None => None,
    };
    let known = || nodes.iter().map(|node| format!("{program}/{}", node.name)).collect::<Vec<_>>().join(", ");
    number.map(|number| (process, number)).ok_or_else(|| format!("{name} names no node: there is {}", known()))
}

/// Whether it makes sense that its steps run again.
fn is_ready(program: &str, node: &NodeInfo, figures: &NodeFigures) -> Result<(), String> {
    let name = &node.name;
    if let Some(began) = figures.step_began
        && figures.is_taken_over
        && figures.state != State::Safe
    {
        let time = horus_measure::units::time(MonotonicTime::now().since(began));
        return Err(format!("{program}/{name} still hangs, for {time}: start the program again"));
    }
    if figures.state != State::Safe {
        return Err(format!(
            "{program}/{name} is {}, and not in its safe state: nothing is to be armed",
            figures.state.name()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_line() {
        assert_eq!(parse_reason(" gearbox checked "), Ok("gearbox checked".to_owned()));
        for wrong in ["", "  ", "two\nlines", "\x1b[31m", &"x".repeat(501)] {
            assert!(parse_reason(wrong).is_err(), "{wrong:?}");
        }
    }
}
