//! What topics there are, and what each is like at this moment.

use std::path::Path;

use horus::outside::printable;
use horus_shm::directory::{Directory, EXTENSION, Location, Namespace, TopicName};
use horus_shm::ends::inspect::{Inspection, inspect};
use horus_shm::peers::identity::Identity;
use serde::Serialize;

use super::accounts;
use super::fields::{self, Field};

/// All topics of a namespace.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// Version of this structure.
    pub schema: &'static str,
    /// The directory that the topics are in.
    pub directory: String,
    /// Whether the directory exists.
    pub exists: bool,
    /// The namespace.
    pub namespace: String,
    /// Other namespaces of the same machine, which this survey says nothing about.
    pub other_namespaces: Vec<String>,
    /// The topics by name.
    pub topics: Vec<Topic>,
    /// What is called like a topic and could not be looked at, each with the reason and what to do.
    pub problems: Vec<String>,
}

/// A topic at some moment.
#[derive(Debug, Serialize)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Name of the message type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Bytes of a message.
    pub bytes: usize,
    /// Alignment of a message in bytes.
    pub alignment: usize,
    /// Hash of the message's layout, 16 hexadecimal digits; zero for bytes and serialized values.
    pub layout: String,
    /// Messages that are kept for each publisher.
    pub capacity: usize,
    /// `reliable` or `latest`.
    pub delivery_policy: String,
    /// Publishers, past and present.
    pub publishers: Vec<Publisher>,
    /// How many publishers can live at once, the monitor aside.
    pub publishers_limit: usize,
    /// The living subscribers.
    pub subscribers: Vec<Process>,
    /// Whether publishers wake subscribers that sleep.
    pub wakes: bool,
    /// Whether it stays for who comes later, when all its users are gone.
    pub latched: bool,
    /// How many subscribers can live at once.
    pub subscribers_limit: usize,
    /// Messages sent by all publishers together.
    pub sent: u64,
    /// Who made it.
    pub user: String,
    /// The group that it belongs to.
    pub group: String,
    /// Permission bits, four octal digits.
    pub mode: String,
    /// Bytes of shared memory.
    pub segment_bytes: u64,
    /// The file.
    pub file: String,
    /// The fields of a message; empty for bytes and serialized values.
    pub fields: Vec<Field>,
}

/// A publisher's lane of a topic.
#[derive(Debug, Serialize)]
pub struct Publisher {
    /// Number of the lane.
    pub lane: usize,
    /// Whether it is the monitor's: the lane beside those of the publishers, in which a monitor says what is safe.
    pub monitor: bool,
    /// The living publisher; none when it left or died.
    pub process: Option<Process>,
    /// Messages sent on the lane.
    pub sent: u64,
}

/// A process that uses a topic.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// The number that it has in its own PID namespace; 0 when it has not said.
    pub pid: u32,
    /// Whether it runs in another PID namespace than this command: in a container, or outside of this one.
    pub elsewhere: bool,
}

impl From<&Identity> for Process {
    fn from(identity: &Identity) -> Self {
        Self { pid: identity.pid, elsewhere: !identity.is_of_this_namespace() }
    }
}

impl Survey {
    /// Looks at every topic of `location`, whose directory is `directory` if it exists.
    pub fn of(location: &Location, directory: Option<&Directory>) -> Result<Self, String> {
        let mut survey = Self {
            schema: "horus-topics/2",
            directory: printable(&location.path().display().to_string()),
            exists: directory.is_some(),
            namespace: location.namespace.to_string(),
            other_namespaces: other_namespaces(location),
            topics: Vec::new(),
            problems: Vec::new(),
        };
        let Some(directory) = directory else { return Ok(survey) };
        let unreadable = |error: std::io::Error| format!("cannot list {}: {error}", survey.directory);
        for entry in std::fs::read_dir(directory.path()).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_none_or(|extension| extension != EXTENSION) {
                continue;
            }
            match named(&path).and_then(|name| look(&path, name.as_str())) {
                Ok(topic) => survey.topics.extend(topic), // one that vanished meanwhile is none
                Err(problem) => survey.problems.push(printable(&problem)),
            }
        }
        survey.topics.sort_by(|one, other| one.name.cmp(&other.name));
        survey.problems.sort();
        Ok(survey)
    }
}

fn named(path: &Path) -> Result<TopicName, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    name.parse().map_err(|error| format!("{}: {error}", path.display()))
}

/// The topic `name` in the file `path`; `None` when there is no such file.
pub fn look(path: &Path, name: &str) -> Result<Option<Topic>, String> {
    let inspection = inspect(path).map_err(|error| error.to_string())?;
    Ok(inspection.map(|inspection| topic(path, name, &inspection)))
}

fn topic(path: &Path, name: &str, inspection: &Inspection) -> Topic {
    let header = &inspection.header;
    let lanes = inspection.lanes.iter();
    let publishers: Vec<_> = lanes
        .map(|seen| Publisher {
            lane: seen.number,
            monitor: seen.number == header.shape.monitors_lane(),
            process: seen.publisher.as_ref().map(Process::from),
            sent: seen.sent,
        })
        .collect();
    Topic {
        name: name.to_owned(),
        type_name: header.type_name.clone(),
        bytes: header.shape.payload_bytes(),
        alignment: header.shape.payload_align(),
        layout: format!("{:016x}", header.layout_hash),
        capacity: header.shape.capacity(),
        delivery_policy: header.policy.to_string(),
        // The counts stand in shared memory, where a peer may have written anything.
        sent: publishers.iter().fold(0, |sum, publisher| sum.saturating_add(publisher.sent)),
        publishers,
        publishers_limit: header.shape.publishers(),
        subscribers: inspection.subscribers.iter().map(|reader| Process::from(&reader.identity)).collect(),
        wakes: header.wakes,
        latched: header.is_latched,
        subscribers_limit: header.shape.subscribers(),
        user: accounts::user(inspection.user),
        group: accounts::group(inspection.group),
        mode: format!("{:04o}", inspection.mode),
        segment_bytes: inspection.bytes,
        file: printable(&path.display().to_string()),
        fields: fields::parse(&header.description),
    }
}

/// The namespaces that there are, but the one of `location`.
fn other_namespaces(location: &Location) -> Vec<String> {
    let all = Namespace::all_in(&location.directory).into_iter();
    all.filter(|namespace| *namespace != location.namespace).map(|namespace| namespace.to_string()).collect()
}
