//! `horus topic bw`: how many bytes a second publishers send.
//!
//! Messages of fixed size are counted by the publishers themselves, so nothing is missed. Of topics of bytes the lengths are read
//! from the slots; a message that was overwritten before counts with the mean of the others, and that is said.

use std::io::{Write as _, stdout};

use horus_shm::directory::Location;
use serde::Serialize;

use super::Ending;
use super::lengths::Lengths;
use super::rate::{messages, unsure};
use super::windows::{Range, Sent, Windows, watch};
use crate::topic::json_line;

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    topic: &'a str,
    /// Whether it is all windows together.
    summary: bool,
    bytes_per_second: f64,
    /// Bytes of all messages of the window.
    bytes: f64,
    /// Messages whose length was not seen, which count with the mean.
    unseen: u64,
    /// The least, mean and most bytes of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_bytes: Option<(u64, f64, u64)>,
    #[serde(flatten)]
    sent: &'a Sent,
    /// The window with the least and that with the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    windows_bytes_per_second: Option<Range>,
}

impl<'a> Line<'a> {
    fn new(topic: &'a str, sent: &'a Sent) -> Self {
        Self {
            schema: "horus-topic-bandwidth/1",
            topic,
            summary: false,
            bytes_per_second: amount(sent),
            bytes: sent.lengths.bytes(),
            unseen: sent.lengths.unseen(),
            message_bytes: sizes(&sent.lengths),
            sent,
            windows_bytes_per_second: None,
        }
    }
}

fn amount(sent: &Sent) -> f64 {
    sent.per_second(sent.lengths.bytes())
}

fn sizes(lengths: &Lengths) -> Option<(u64, f64, u64)> {
    lengths.range().zip(lengths.mean()).map(|((min, max), mean)| (min, mean, max))
}

/// Runs the command.
pub fn run(location: Location, windows: Windows, json: bool) -> Result<(), Ending> {
    let tell = |name: &str, sent: &Sent| {
        let text = if json { json_line(&Line::new(name, sent)) } else { line(sent) + "\n" };
        Ok(stdout().write_all(text.as_bytes())?)
    };
    let Some(total) = watch(location, windows, true, amount, tell)? else { return Ok(()) };
    let text = if json {
        let line = Line { summary: true, windows_bytes_per_second: total.range, ..Line::new(&total.name, &total.sent) };
        json_line(&line)
    } else {
        let range = total.range.filter(|_| total.windows > 1).map_or(String::new(), |Range { min, max }| {
            format!("; {} windows of {}/s to {}/s", total.windows, size(min), size(max))
        });
        format!("--- {} ---\n{}{range}\n", total.name, line(&total.sent))
    };
    Ok(stdout().write_all(text.as_bytes())?)
}

fn line(sent: &Sent) -> String {
    let each = match sizes(&sent.lengths) {
        None => String::new(),
        Some((min, _, max)) if min == max => format!(" of {}", size(min as f64)),
        Some((min, mean, max)) => {
            format!(" of {} to {}, mean {}", size(min as f64), size(max as f64), size(mean))
        }
    };
    let unseen = match sent.lengths.unseen() {
        0 => String::new(),
        unseen => format!(" ({unseen} were overwritten before their length was seen, and count with the mean)"),
    };
    let rate = size(amount(sent));
    format!("{rate}/s: {}{each} in {:.3} s{unseen}{}", messages(sent.messages), sent.seconds, unsure(sent))
}

/// Bytes in decimal units, as rates of links are given.
fn size(bytes: f64) -> String {
    match bytes {
        _ if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.2} MB", bytes / 1e6),
        _ if bytes >= 1e3 => format!("{:.2} kB", bytes / 1e3),
        _ => format!("{bytes:.0} B"),
    }
}
