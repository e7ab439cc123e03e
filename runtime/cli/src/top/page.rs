//! The page: a line on the machine, a table of nodes, one of topics, one of services and one of actions; as text, and for the live page.

use horus_measure::units::{bytes, count, rate};

use super::actions::Action;
use super::services::Service;
use super::topics::Topic;
use super::{Snapshot, header};
use crate::node::running::Node;
use crate::node::text::{HEADS as NODE_HEADS, row as node_cells, unwatched};
use crate::table::{Head, table};
use crate::topic::Process;

/// Columns of topics.
const TOPIC_HEADS: [Head; 8] = [
    ("TOPIC", false),
    ("TYPE", false),
    ("RATE", true),
    ("BYTES/s", true),
    ("PUB", true),
    ("SUB", true),
    ("SLOWEST READER", false),
    ("MISSED", true),
];

/// Columns of services.
const SERVICE_HEADS: [Head; 6] =
    [("SERVICE", false), ("SERVER", false), ("CLIENTS", true), ("CALLS/s", true), ("UNANSWERED", true), ("LATE", true)];

/// Columns of actions.
const ACTION_HEADS: [Head; 6] = [
    ("ACTION", false),
    ("SERVER", false),
    ("CLIENTS", true),
    ("EXECUTING", true),
    ("WAITING", true),
    ("NEWEST GOAL", false),
];

/// How many tables a page has: of nodes, of topics, of services, and of actions.
pub const TABLES: usize = 4;

/// The page.
#[derive(Debug, Default)]
pub struct Page {
    pub header: String,
    pub tables: [Table; TABLES],
    /// What could not be looked at.
    pub notes: Vec<String>,
}

/// A table of it.
#[derive(Debug, Default)]
pub struct Table {
    /// Each column's head, and whether it holds numbers.
    pub heads: &'static [Head],
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub cells: Vec<String>,
    /// What each column is sorted by, where that is not its text: larger ones come first.
    pub keys: Vec<Option<f64>>,
    /// Whether a person should look at it.
    pub is_bad: bool,
}

impl AsRef<[String]> for Row {
    fn as_ref(&self) -> &[String] {
        &self.cells
    }
}

/// As text.
pub fn text(snapshot: &Snapshot) -> String {
    let Page { header, tables: [nodes, topics, services, actions], notes } = page(snapshot);
    let mut text = header + "\n";
    for (shown, nothing) in [(nodes, "no nodes"), (topics, "no topics")] {
        text += &match shown.rows.is_empty() {
            true => format!("{nothing} in {}\n", snapshot.directory),
            false => table(shown.heads, &shown.rows),
        };
    }
    for shown in [services, actions].into_iter().filter(|shown| !shown.rows.is_empty()) {
        text += &table(shown.heads, &shown.rows);
    }
    text + &notes.iter().map(|note| format!("{note}\n")).collect::<String>()
}

/// What is shown of it.
pub fn page(snapshot: &Snapshot) -> Page {
    let unwatched = unwatched(&snapshot.nodes, snapshot.is_watched);
    Page {
        header: header::line(snapshot.machine, &snapshot.misses),
        tables: [
            Table { heads: &NODE_HEADS, rows: snapshot.nodes.iter().map(node).collect() },
            Table { heads: &TOPIC_HEADS, rows: snapshot.topics.iter().map(topic).collect() },
            Table { heads: &SERVICE_HEADS, rows: snapshot.services.iter().map(service).collect() },
            Table { heads: &ACTION_HEADS, rows: snapshot.actions.iter().map(action).collect() },
        ],
        notes: snapshot.problems.iter().cloned().chain(unwatched.lines().map(str::to_owned)).collect(),
    }
}

fn node(node: &Node) -> Row {
    let Node { asked, figures, .. } = node;
    let number = |number: u64| Some(number as f64);
    let known = |nanos: Option<u64>| Some(nanos.map_or(-1.0, |nanos| nanos as f64));
    let keys = vec![
        None,
        known(figures.cpu.map(u64::from)),
        None,
        number(asked.period_ns),
        number(asked.deadline_ns),
        known(figures.response_p50_ns),
        known(figures.response_p999_ns),
        known(figures.response_max_ns),
        number(asked.predicted_ns),
        Some(node.budget_percent().unwrap_or(-1.0)),
        number(figures.misses),
        None,
    ];
    Row { cells: node_cells(node).to_vec(), keys, is_bad: node.is_bad() }
}

fn topic(topic: &Topic) -> Row {
    let shown = |number: Option<f64>, as_text: fn(f64) -> String| number.map_or_else(|| "-".to_owned(), as_text);
    let slowest = topic.slowest.as_ref();
    let cells = vec![
        topic.name.clone(),
        topic.type_name.clone(),
        shown(topic.rate, rate),
        shown(topic.bytes_per_second, bytes),
        topic.publishers.to_string(),
        topic.subscribers.to_string(),
        slowest.map_or_else(|| "-".to_owned(), |reader| format!("{}, {} behind", reader.program, count(reader.behind))),
        topic.missed.map_or_else(|| "-".to_owned(), count),
    ];
    let known = |number: Option<f64>| Some(number.unwrap_or(-1.0));
    let keys = vec![
        None,
        None,
        known(topic.rate),
        known(topic.bytes_per_second),
        Some(topic.publishers as f64),
        Some(topic.subscribers as f64),
        known(slowest.map(|reader| reader.behind as f64)),
        known(topic.missed.map(|missed| missed as f64)),
    ];
    Row { cells, keys, is_bad: topic.missed.is_some_and(|missed| missed > 0) }
}

fn service(service: &Service) -> Row {
    let dash = || "-".to_owned();
    let servers: Vec<_> = service.servers.iter().map(server).collect();
    let cells = vec![
        service.name.clone(),
        if servers.is_empty() { "none".to_owned() } else { servers.join(" ") },
        service.clients.to_string(),
        service.calls_per_second.map_or_else(dash, rate),
        service.unanswered.map_or_else(dash, count),
        count(service.late),
    ];
    let keys = vec![
        None,
        None,
        Some(service.clients as f64),
        Some(service.calls_per_second.unwrap_or(-1.0)),
        Some(service.unanswered.map_or(-1.0, |calls| calls as f64)),
        Some(service.late as f64),
    ];
    Row { cells, keys, is_bad: service.clients > 0 && servers.is_empty() }
}

fn action(action: &Action) -> Row {
    let newest = action.newest.as_ref().map(|goal| format!("{}, accepted {:.1} s ago", goal.status, goal.age_s));
    let cells = vec![
        action.name.clone(),
        action.server.as_ref().map_or_else(|| "none".to_owned(), server),
        action.clients.to_string(),
        action.executing.to_string(),
        action.waiting.to_string(),
        newest.unwrap_or_else(|| "-".to_owned()),
    ];
    let number = |number: usize| Some(number as f64);
    let keys = vec![None, None, number(action.clients), number(action.executing), number(action.waiting), None];
    Row { cells, keys, is_bad: action.clients > 0 && action.server.is_none() }
}

fn server(process: &Process) -> String {
    match process.elsewhere {
        true => format!("{} elsewhere", process.pid),
        false => process.pid.to_string(),
    }
}

#[cfg(test)]
mod tests;
