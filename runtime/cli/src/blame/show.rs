//! `horus blame --show`: what the flight recorder kept of a miss. The node's last cycles as a table, and the last messages of its topics.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::outside::printable;
use horus::witness::protocol::{Missed, Recording, TailMessage, TopicTail};
use horus_measure::units::time;
use horus_witness::flight::{self, RECORDING};
use serde::Deserialize;

use crate::table::{Head, table};
use crate::topic::message::{self, Kind, Shown};

const HEADS: [Head; 5] =
    [("CYCLE", true), ("RELEASE", true), ("STARTED AFTER", true), ("ENDED AFTER", true), ("", false)];

/// Elements that are shown of an array, as `horus topic echo` does.
const ELEMENTS: usize = 128;

/// What stands in the file.
#[derive(Deserialize)]
struct Kept {
    missed: Missed,
    recorded: Recording,
}

/// The whole text; or what is wrong, and what to do.
pub fn text(folder: &Path, number: u64) -> Result<String, String> {
    let path = find(folder, number)?;
    let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
    let kept: Kept = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{} is damaged, or of another version: {error}", path.display()))?;
    let Kept { missed, recorded } = kept;
    let late = missed.completion_ns.saturating_sub(missed.deadline_ns);
    let mut text = format!(
        "cycle {} of {} ended {} after its deadline, on CPU {}\ntrace-cmd report {}\n\n",
        missed.cycle,
        printable(&missed.node),
        time(Duration::from_nanos(late)),
        missed.cpu,
        path.with_extension("dat").display(),
    );
    text += &cycles(&recorded.cycles, &missed);
    for topic in &recorded.topics {
        text += &messages(topic, &missed);
    }
    if recorded.left_out > 0 {
        text += &format!("\ntopics that are not kept, too large or too many: {}\n", recorded.left_out);
    }
    Ok(text)
}

/// The file of this number, in any boot.
fn find(folder: &Path, number: u64) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut numbers = Vec::new();
    for path in
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == RECORDING))
    {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match flight::number(&name) {
            Some(found) if found == number => return Ok(path),
            found => numbers.extend(found),
        }
    }
    let there = match (numbers.iter().min(), numbers.iter().max()) {
        (Some(first), Some(last)) => format!("there are some from {first} to {last}"),
        _ => "there is none".to_owned(),
    };
    Err(format!("nothing is kept of number {number} in {}: {there}, and the oldest go first", folder.display()))
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    let help = if error.kind() == io::ErrorKind::PermissionDenied { "; run this as root" } else { "" };
    format!("cannot read {}: {error}{help}", path.display())
}

/// One line a cycle; its release is counted from that of the missed one.
fn cycles(cycles: &[[u64; 4]], missed: &Missed) -> String {
    let deadline = missed.deadline_ns.saturating_sub(missed.release_ns);
    let mut before: Option<u64> = None;
    let rows = cycles.iter().map(|&[number, release, wake, completion]| {
        let skipped = before.map_or(0, |before| number.saturating_sub(before.saturating_add(1)));
        before = Some(number);
        let mut notes = Vec::new();
        if completion.saturating_sub(release) > deadline {
            notes.push("late".to_owned());
        }
        if skipped > 0 {
            notes.push(format!("{skipped} skipped before it"));
        }
        let since = |from: u64, to: u64| time(Duration::from_nanos(to.saturating_sub(from)));
        let ago = if release < missed.release_ns { "-" } else { "" };
        vec![
            number.to_string(),
            format!("{ago}{}", time(Duration::from_nanos(release.abs_diff(missed.release_ns)))),
            since(release, wake),
            since(release, completion),
            notes.join(", "),
        ]
    });
    table(&HEADS, &rows.collect::<Vec<_>>())
}

/// A topic's last messages, as `horus topic echo` prints them.
fn messages(topic: &TopicTail, missed: &Missed) -> String {
    let relation = if topic.is_read { "reads" } else { "writes" };
    let (name, type_name) = (printable(&topic.topic), printable(&topic.type_name));
    let none = if topic.messages.is_empty() { ": no message before the end of that cycle" } else { "" };
    let mut text = format!("\n{name} ({type_name}), which it {relation}{none}\n");
    for message in &topic.messages {
        let sent = match message.sent_ns {
            0 => "not stamped".to_owned(),
            sent if sent > missed.release_ns => {
                format!("sent {} after the release", time(Duration::from_nanos(sent - missed.release_ns)))
            }
            sent => format!("sent {} before the release", time(Duration::from_nanos(missed.release_ns - sent))),
        };
        text += &format!("# message {} of lane {}, {sent}\n", message.sequence, message.publisher);
        text += &content(topic, message);
        text += "---\n";
    }
    text
}

fn content(topic: &TopicTail, message: &TailMessage) -> String {
    let Some(bytes) = horus::graph::bytes_of(&message.hex) else { return "(damaged)\n".to_owned() };
    let kind = message::kind(&topic.description, topic.payload_bytes);
    if topic.payload_bytes > 0 && bytes.len() == topic.payload_bytes && !matches!(kind, Kind::Unknown) {
        return message::text(Shown { kind: &kind, bytes: &bytes }, ELEMENTS);
    }
    let more = if bytes.len() < message.bytes { " ..." } else { "" };
    format!("bytes: {}\nhex: '{}{more}'\n", message.bytes, message::hex(&bytes, usize::MAX))
}

#[cfg(test)]
mod tests;
