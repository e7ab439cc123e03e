//! Topics as text for people.

use std::fmt::Write;

use horus::outside::printable;

use super::parts::Parts;
use super::survey::{Process, Publisher, Survey, Topic};
use crate::table::table;

/// All topics, a line each.
pub fn list(survey: &Survey) -> String {
    let mut text = String::new();
    if survey.topics.is_empty() {
        let missing = if survey.exists { "" } else { ", which does not exist yet" };
        let _ = writeln!(text, "no topics in {}{missing}", survey.directory);
    } else {
        let parts = Parts::of(survey.topics.iter().map(|topic| (topic.name.as_str(), topic.type_name.as_str())));
        let loose = survey.topics.iter().filter(|topic| parts.action_of(&topic.name).is_none());
        text += &table(&HEADS, &loose.map(row).collect::<Vec<_>>());
        for action in parts.actions() {
            let of_it = survey.topics.iter().filter(|topic| parts.action_of(&topic.name) == Some(action)).count();
            let _ = writeln!(text, "and {of_it} of the action {action}: `horus action list`");
        }
        let total = survey.topics.iter().map(|topic| topic.segment_bytes).sum();
        let _ = writeln!(text, "\n{} topics, {} in {}", survey.topics.len(), memory(total), survey.directory);
    }
    let unused = survey.topics.iter().filter(|topic| topic.is_unused() && !topic.latched).count();
    if unused > 0 {
        let _ = writeln!(text, "{unused} used by no living process: `horus topic clean` removes them");
    }
    let latched = survey.topics.iter().filter(|topic| topic.is_unused() && topic.latched).count();
    if latched > 0 {
        let _ =
            writeln!(text, "{latched} kept for who comes later (latched): `horus topic clean --latched` removes them");
    }
    if !survey.other_namespaces.is_empty() {
        let _ = writeln!(text, "other namespaces: {}", survey.other_namespaces.join(", "));
    }
    text
}

/// Column heads and whether the column holds numbers.
const HEADS: [(&str, bool); 11] = [
    ("TOPIC", false),
    ("TYPE", false),
    ("BYTES", true),
    ("CAPACITY", true),
    ("DELIVERY", false),
    ("PUBLISHERS", true),
    ("SUBSCRIBERS", true),
    ("SENT", true),
    ("OWNER", false),
    ("MODE", false),
    ("MEMORY", true),
];

fn row(topic: &Topic) -> [String; 11] {
    [
        topic.name.clone(),
        topic.type_name.clone(),
        topic.bytes.to_string(),
        topic.capacity.to_string(),
        topic.delivery_policy.clone(),
        format!("{}/{}", topic.living_publishers(), topic.publishers_limit),
        format!("{}/{}", topic.subscribers.len(), topic.subscribers_limit),
        topic.sent.to_string(),
        format!("{}:{}", topic.user, topic.group),
        topic.mode.clone(),
        memory(topic.segment_bytes),
    ]
}

impl Topic {
    fn living_publishers(&self) -> usize {
        self.publishers.iter().filter(|publisher| publisher.process.is_some() && !publisher.monitor).count()
    }

    fn is_unused(&self) -> bool {
        self.publishers.iter().all(|publisher| publisher.process.is_none()) && self.subscribers.is_empty()
    }
}

/// One topic in full.
pub fn info(topic: &Topic) -> String {
    let mut text = format!("{}\n", topic.name);
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<13}{value}");
    };
    let (bytes, alignment) = (topic.bytes, topic.alignment);
    line("type", format!("{}, {bytes} bytes aligned to {alignment}, layout {}", topic.type_name, topic.layout));
    let when_full = match topic.delivery_policy.as_str() {
        "reliable" => "when full, sending waits or is refused",
        _ => "when full, the oldest message is overwritten",
    };
    line("delivery", format!("{}: {when_full}", topic.delivery_policy));
    if !topic.wakes {
        line("waking", "never: subscribers look busily or by the clock".to_owned());
    }
    if topic.latched {
        line("latched", "it stays for who comes later, until `horus topic clean --latched`".to_owned());
    }
    line("capacity", format!("{} messages of each publisher", topic.capacity));
    line("publishers", format!("{} of at most {}", topic.living_publishers(), topic.publishers_limit));
    for publisher in &topic.publishers {
        line("", lane(publisher));
    }
    line("subscribers", format!("{} of at most {}", topic.subscribers.len(), topic.subscribers_limit));
    for subscriber in &topic.subscribers {
        line("", process(subscriber));
    }
    line("access", format!("{}:{}, mode {}", topic.user, topic.group, topic.mode));
    line("memory", format!("{} ({} bytes) in {}", memory(topic.segment_bytes), topic.segment_bytes, topic.file));
    if topic.fields.is_empty() {
        return text + "\nIts publisher describes no fields: a topic of bytes or of serialized values.\n";
    }
    let fields = topic.fields.iter();
    let rows: Vec<_> = fields
        .map(|field| [field.offset.to_string(), field.bytes.to_string(), field.name.clone(), field.type_name.clone()])
        .collect();
    text + "\n" + &table(&[("OFFSET", true), ("BYTES", true), ("FIELD", false), ("TYPE", false)], &rows)
}

fn lane(publisher: &Publisher) -> String {
    let who = publisher.process.as_ref().map_or_else(|| "no living process".to_owned(), process);
    let whose = if publisher.monitor { ", the monitor's" } else { "" };
    format!("lane {}{whose}: {who}, {} messages sent", publisher.lane, publisher.sent)
}

/// A process by number and, where that can be seen, by name.
pub fn process(process: &Process) -> String {
    let number = process.pid;
    if process.elsewhere {
        return format!("process {number} of another PID namespace");
    }
    match std::fs::read_to_string(format!("/proc/{number}/comm")) {
        Ok(name) => format!("process {number} ({})", printable(name.trim_end())),
        Err(_) => format!("process {number}"),
    }
}

/// Bytes in the unit that people think of them in.
fn memory(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1024.0 * 1024.0 * 1024.0 => format!("{:.1} GiB", bytes / (1024.0 * 1024.0 * 1024.0)),
        _ if bytes >= 1024.0 * 1024.0 => format!("{:.1} MiB", bytes / (1024.0 * 1024.0)),
        _ => format!("{:.1} KiB", bytes / 1024.0),
    }
}
