//! `horus node graph`: who talks to whom, with rates and deadlines, as text that Graphviz or Mermaid draws.
//!
//! A node stands in its program. A process that uses topics without a node is drawn, too. Rates are those between two looks.

mod chains;
mod draw;
mod svg;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use horus::figures;
use horus::graph::NodeInfo;
use horus::outside::printable;
use horus::time::{MonotonicTime, parse_duration, pause};
use horus_measure::units;
use horus_shm::directory::{Directory, Location};
use serde::Serialize;

use super::running::{Node, running};
use crate::topic::json;
use crate::topic::survey::{Process, Survey, Topic};
use chains::Chains;

/// The shortest and the longest time between two looks.
const INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(60)];

/// What runs a file that says more than the interpreter's name.
const INTERPRETERS: [&str; 4] = ["python", "sh", "bash", "dotnet"]; // python3.11, too

/// Command line of `horus node graph`.
#[derive(clap::Args)]
pub struct Args {
    /// For Graphviz: `horus node graph --dot | dot -Tsvg > robot.svg`
    #[arg(long, conflicts_with_all = ["mermaid", "svg"])]
    dot: bool,
    /// A picture: `horus node graph --svg > robot.svg`
    #[arg(long, conflicts_with = "mermaid")]
    svg: bool,
    /// For Mermaid, which GitHub and editors draw [default]
    #[arg(long)]
    mermaid: bool,
    /// The time over which rates are counted
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    interval: Duration,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    let [shortest, longest] = INTERVALS;
    match (shortest..=longest).contains(&time) {
        true => Ok(time),
        false => Err(format!("choose {} to {}", units::time(shortest), units::time(longest))),
    }
}

/// What is drawn.
#[derive(Debug, Serialize)]
pub struct Graph {
    /// Version of this structure.
    schema: &'static str,
    programs: Vec<Program>,
    topics: Vec<Place>,
    arrows: Vec<Arrow>,
    /// How long chains of nodes take.
    chains: Vec<String>,
}

/// A program with its nodes; one without has itself as the only place.
#[derive(Debug, Serialize)]
struct Program {
    name: String,
    nodes: Vec<Place>,
}

/// What an arrow leads to or comes from.
#[derive(Debug, Serialize)]
struct Place {
    id: String,
    /// Its name, and below it what is told of it.
    lines: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Arrow {
    from: String,
    to: String,
    /// Whether its messages release the node.
    releases: bool,
}

/// The graph of what runs now.
pub fn answer(
    args: &Args,
    location: &Location,
    directory: Option<&Directory>,
    as_json: bool,
) -> Result<String, String> {
    let before = Survey::of(location, directory)?;
    let began = MonotonicTime::now();
    pause(args.interval);
    let nodes = running(directory)?;
    let survey = Survey::of(location, directory)?;
    let took = MonotonicTime::now().since(began);
    let infos = directory.map_or_else(|| Ok(Vec::new()), figures::list);
    let infos: Vec<_> =
        infos.map_err(|error| error.to_string())?.iter().map(|process| process.info().clone()).collect();
    let rate = |topic: &Topic| {
        let earlier = before.topics.iter().find(|earlier| earlier.name == topic.name)?;
        // A count that went down is another topic's of this name.
        Some(topic.sent.checked_sub(earlier.sent)? as f64 / took.as_secs_f64())
    };
    let graph = Graph::of(&nodes, &survey.topics, rate, &chains::of(&infos), &name_of);
    Ok(match (as_json, args.dot, args.svg) {
        (true, ..) => json(&graph),
        (false, true, _) => draw::dot(&graph),
        (false, false, true) => svg::picture(&graph),
        (false, false, false) => draw::mermaid(&graph),
    })
}

/// What a process is called: as its file, or as the file that its interpreter runs.
fn name_of(pid: u32) -> Option<String> {
    let words = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).ok()?;
    name_in(&words)
}

/// The same of its command line, whose words end with a zero.
fn name_in(words: &[u8]) -> Option<String> {
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let mut words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(text);
    let file = |path: &str| Some(printable(&Path::new(path).file_name()?.to_string_lossy()));
    let command = file(&words.next()?)?;
    let script = if INTERPRETERS.contains(&command.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.'))
    {
        words.next()
    } else {
        None
    };
    script.filter(|script| !script.starts_with('-')).and_then(|script| file(&script)).or(Some(command))
}

impl Graph {
    fn of(
        nodes: &[Node],
        topics: &[Topic],
        rate: impl Fn(&Topic) -> Option<f64>,
        chains: &Chains,
        named: &dyn Fn(u32) -> Option<String>,
    ) -> Self {
        let mut programs: Vec<Program> = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let place = Place { id: format!("n{number}"), lines: lines_of(node, chains) };
            match programs.iter_mut().find(|program| program.name == printable(&node.program)) {
                Some(program) => program.nodes.push(place),
                None => programs.push(Program { name: printable(&node.program), nodes: vec![place] }),
            }
        }
        let mut arrows = Vec::new();
        // Processes that use a topic by themselves, and not by a node.
        let mut others: BTreeMap<(u32, bool), String> = BTreeMap::new();
        let mut drawn = Vec::new();
        for (number, topic) in topics.iter().enumerate() {
            let id = format!("t{number}");
            let mut of_nodes = |process: &Process, uses: &dyn Fn(&NodeInfo) -> bool| {
                let own =
                    nodes.iter().enumerate().filter(|(_, node)| !process.elsewhere && node.process == process.pid);
                let found: Vec<String> =
                    own.filter(|(_, node)| uses(&node.asked)).map(|(at, _)| format!("n{at}")).collect();
                if !found.is_empty() {
                    return found;
                }
                let count = others.len();
                vec![others.entry((process.pid, process.elsewhere)).or_insert_with(|| format!("p{count}")).clone()]
            };
            let living = topic
                .publishers
                .iter()
                .filter(|publisher| !publisher.monitor)
                .filter_map(|publisher| publisher.process.as_ref());
            for process in living {
                let uses = |asked: &NodeInfo| {
                    asked.outputs.iter().any(|output| output.topic == topic.name)
                        || is_asked(&asked.asks, &topic.name)
                        || is_answered(&asked.serves, &topic.name)
                };
                arrows.extend(of_nodes(process, &uses).into_iter().map(|from| Arrow {
                    from,
                    to: id.clone(),
                    releases: false,
                }));
            }
            for process in &topic.subscribers {
                let uses =
                    |asked: &NodeInfo| asked.inputs.contains(&topic.name) || is_answered(&asked.asks, &topic.name);
                let releases = |to: &str| {
                    let node = to.strip_prefix('n').and_then(|number| nodes.get(number.parse::<usize>().ok()?));
                    node.is_some_and(|node| node.asked.on.as_ref() == Some(&topic.name))
                };
                arrows.extend(of_nodes(process, &uses).into_iter().map(|to| Arrow {
                    from: id.clone(),
                    releases: releases(&to),
                    to,
                }));
            }
            let rate = rate(topic).map(units::rate);
            let lines =
                [Some(topic.name.clone()), Some(printable(&topic.type_name)), rate].into_iter().flatten().collect();
            drawn.push(Place { id, lines });
        }
        // A node's trigger has a subscription of its own.
        arrows.sort();
        arrows.dedup();
        for ((pid, elsewhere), id) in others {
            let of = nodes.iter().find(|node| !elsewhere && node.process == pid).map(|node| printable(&node.program));
            let name = match (of, elsewhere) {
                (Some(program), _) => format!("{program}, beside its nodes"),
                (None, true) => format!("process {pid} elsewhere"),
                (None, false) => named(pid).unwrap_or_else(|| format!("process {pid}")),
            };
            programs.push(Program { name: String::new(), nodes: vec![Place { id, lines: vec![name] }] });
        }
        Self { schema: "horus-graph/1", programs, topics: drawn, arrows, chains: chains.sentences.clone() }
    }
}

/// Whether a topic carries requests of one of these services, or what its clients count.
fn is_asked(services: &[String], topic: &str) -> bool {
    services.iter().filter_map(|service| topic.strip_prefix(&**service)).any(|rest| {
        let server = rest.strip_prefix(".shared.").is_some_and(|server| !server.contains('.'));
        rest.is_empty() || rest == ".client" || server
    })
}

/// Whether a topic carries answers of one of these services, or says who serves it.
fn is_answered(services: &[String], topic: &str) -> bool {
    services.iter().filter_map(|service| topic.strip_prefix(&**service)).any(|rest| {
        let of_one = rest.strip_prefix(".shared.").and_then(|rest| rest.split_once('.').map(|(_, rest)| rest));
        let rest = of_one.or_else(|| rest.strip_prefix('.')).unwrap_or_default();
        rest == "server" || rest.starts_with("answer.")
    })
}

fn lines_of(node: &Node, chains: &Chains) -> Vec<String> {
    let asked = &node.asked;
    let time = |nanos: u64| units::time(Duration::from_nanos(nanos));
    let released = match (asked.period_ns, &asked.on) {
        (0, Some(topic)) => format!("on {}", printable(topic)),
        (0, None) => "never released".to_owned(),
        (period, Some(topic)) => format!("every {} and on {}", time(period), printable(topic)),
        (period, None) => format!("every {}", time(period)),
    };
    let promise = format!("{released}, deadline {}", time(asked.deadline_ns));
    let mut lines = vec![printable(&asked.name), promise];
    let predicted = (asked.predicted_ns > 0).then(|| format!("predicted {}", time(asked.predicted_ns)));
    let worst = node.figures.response_max_ns.map(|nanos| format!("longest {}", time(nanos)));
    let misses = (node.figures.misses > 0).then(|| format!("{} misses", units::count(node.figures.misses)));
    let done: Vec<_> = [predicted, worst, misses].into_iter().flatten().collect();
    if !done.is_empty() {
        lines.push(done.join(", "));
    }
    lines.extend(chains.ends_at(&node.program, &asked.name).cloned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_called_as_what_it_runs() {
        for (words, name) in [
            ("/usr/bin/horus\0topic\0pub\0", "horus"),
            ("/usr/bin/python3.11\0/home/robot/say.py\0--fast\0", "say.py"),
            ("python3\0-m\0say\0", "python3"),
            ("python3\0", "python3"),
            ("a\x1b[2J\0", "a\u{fffd}[2J"),
        ] {
            assert_eq!(name_in(words.as_bytes()).as_deref(), Some(name), "{words:?}");
        }
        assert_eq!(name_in(b""), None);
    }
}
