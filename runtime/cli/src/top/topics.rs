//! Topics between two looks: how many messages a second, and how far behind the readers are. Joins none.

use std::time::Duration;

use horus::outside::printable;
use horus::time::MonotonicTime;
use horus_shm::directory::{Directory, EXTENSION};
use horus_shm::ends::inspect::{Inspection, Reader, inspect};
use horus_shm::segment::layout::DeliveryPolicy;
use serde::Serialize;

use crate::node::running::Node;

/// All topics at one moment.
pub struct Topics {
    /// The moment.
    pub at: MonotonicTime,
    pub seen: Vec<(String, Inspection)>,
    /// What is called like a topic and could not be looked at.
    pub problems: Vec<String>,
}

/// A topic between two looks.
#[derive(Clone, Debug, Serialize)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Name of the message type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Messages a second, of all publishers; `null` where it was not there at the look before.
    pub rate: Option<f64>,
    /// Bytes of messages a second; of topics of bytes those that are reserved.
    pub bytes_per_second: Option<f64>,
    /// Living publishers.
    pub publishers: usize,
    /// Living subscribers.
    pub subscribers: usize,
    /// The subscriber that is the farthest behind.
    pub slowest: Option<Slowest>,
    /// Messages that subscribers will miss, because they are overwritten; `null` where a `latest` topic has none of these now:
    /// what its subscribers missed before, they alone know. A reliable topic loses none.
    pub missed: Option<u64>,
}

/// A subscriber that is behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slowest {
    /// Its program's name, as far as it can be seen.
    pub program: String,
    /// Messages that it has not taken.
    pub behind: u64,
}

impl Topics {
    /// Looks at every topic of `directory`.
    pub fn look(directory: Option<&Directory>) -> Result<Self, String> {
        let mut topics = Self { at: MonotonicTime::now(), seen: Vec::new(), problems: Vec::new() };
        let Some(directory) = directory else { return Ok(topics) };
        let unreadable = |error: std::io::Error| format!("cannot list {}: {error}", directory.path().display());
        for entry in std::fs::read_dir(directory.path()).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_none_or(|extension| extension != EXTENSION) {
                continue;
            }
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            match inspect(&path) {
                Ok(inspection) => topics.seen.extend(inspection.map(|seen| (printable(&name), seen))),
                Err(problem) => topics.problems.push(printable(&problem.to_string())),
            }
        }
        topics.seen.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(topics)
    }

    /// The topic of this name.
    pub fn of(&self, name: &str) -> Option<&Inspection> {
        self.seen.iter().find(|(known, _)| known == name).map(|(_, seen)| seen)
    }

    /// The topics of this look, with their rates since the look `before`.
    pub fn since(&self, before: &Self, nodes: &[Node]) -> Vec<Topic> {
        let time = self.at.since(before.at);
        let topic = |(name, seen): &(String, Inspection)| {
            let earlier = before.seen.iter().find(|(known, _)| known == name);
            topic(name, seen, earlier.map(|(_, earlier)| earlier), time, nodes)
        };
        self.seen.iter().map(topic).collect()
    }
}

fn topic(name: &str, seen: &Inspection, earlier: Option<&Inspection>, time: Duration, nodes: &[Node]) -> Topic {
    let header = &seen.header;
    // A count that went down is another topic's of this name.
    let sent = earlier.and_then(|earlier| sent(seen).checked_sub(self::sent(earlier)));
    let rate = sent.filter(|_| !time.is_zero()).map(|sent| sent as f64 / time.as_secs_f64());
    let overwritten = seen.subscribers.iter().fold(0_u64, |sum, reader| sum.saturating_add(reader.overwritten));
    Topic {
        name: name.to_owned(),
        type_name: printable(&header.type_name),
        rate,
        bytes_per_second: rate.map(|rate| rate * header.shape.payload_bytes() as f64),
        publishers: seen.lanes.iter().filter(|lane| lane.publisher.is_some()).count(),
        subscribers: seen.subscribers.len(),
        slowest: seen.subscribers.iter().max_by_key(|reader| reader.behind).map(|reader| slowest(reader, nodes)),
        missed: match header.policy {
            DeliveryPolicy::Reliable => Some(0),
            DeliveryPolicy::Latest => Some(overwritten).filter(|overwritten| *overwritten > 0),
        },
    }
}

/// The counts stand in shared memory, where a peer may have written anything.
fn sent(seen: &Inspection) -> u64 {
    seen.lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.sent))
}

fn slowest(reader: &Reader, nodes: &[Node]) -> Slowest {
    let pid = reader.identity.pid;
    let program = match reader.identity.is_of_this_namespace() {
        false => format!("process {pid} elsewhere"),
        true => match nodes.iter().find(|node| node.process == pid) {
            Some(node) => node.program.clone(),
            None => std::fs::read_to_string(format!("/proc/{pid}/comm"))
                .map_or_else(|_| format!("process {pid}"), |name| name.trim_end().to_owned()),
        },
    };
    Slowest { program: printable(&program), behind: reader.behind }
}

#[cfg(test)]
mod tests;
