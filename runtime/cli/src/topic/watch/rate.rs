//! `horus topic hz`: how many messages a second, counted exactly.
//!
//! The counts are the publishers' own, so a message is counted at whatever size and rate, seen or not. What a rate lacks is the
//! fraction of a message at both ends of its window.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use horus_shm::directory::Location;
use serde::Serialize;

use super::Ending;
use super::windows::{Range, Sent, Total, Windows, watch};
use crate::topic::json_line;

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    topic: &'a str,
    /// Whether it is all windows together.
    summary: bool,
    hz: f64,
    #[serde(flatten)]
    sent: &'a Sent,
    /// The slowest and the fastest window.
    #[serde(skip_serializing_if = "Option::is_none")]
    windows_hz: Option<Range>,
}

impl<'a> Line<'a> {
    fn new(topic: &'a str, sent: &'a Sent) -> Self {
        Self { schema: "horus-topic-rate/1", topic, summary: false, hz: sent.rate(), sent, windows_hz: None }
    }
}

/// Runs the command.
pub fn run(location: Location, windows: Windows, json: bool) -> Result<(), Ending> {
    let tell = |name: &str, sent: &Sent| {
        let text = if json { json_line(&Line::new(name, sent)) } else { format!("{}\n{}", line(sent), shares(sent)) };
        Ok(stdout().write_all(text.as_bytes())?)
    };
    let Some(total) = watch(location, windows, false, Sent::rate, tell)? else { return Ok(()) };
    let text = if json {
        let line = Line { summary: true, windows_hz: total.range, ..Line::new(&total.name, &total.sent) };
        json_line(&line)
    } else {
        summary(&total)
    };
    Ok(stdout().write_all(text.as_bytes())?)
}

/// A window in a line.
fn line(sent: &Sent) -> String {
    let (rate, messages) = (number(sent.rate()), messages(sent.messages));
    format!("{rate} Hz: {messages} in {:.3} s{}", sent.seconds, unsure(sent))
}

/// A line for each publisher, where there are several.
fn shares(sent: &Sent) -> String {
    let several = sent.publishers.iter().filter(|_| sent.publishers.len() > 1);
    several.fold(String::new(), |mut text, share| {
        let rate = number(sent.per_second(share.messages as f64));
        let _ =
            writeln!(text, "  lane {}, {}: {rate} Hz, {}", share.lane, process(share.pid), messages(share.messages));
        text
    })
}

fn process(pid: u32) -> String {
    if pid == 0 { "no living process".to_owned() } else { format!("process {pid}") }
}

fn summary(total: &Total) -> String {
    let range = total.range.filter(|_| total.windows > 1).map_or(String::new(), |Range { min, max }| {
        format!("; {} windows of {} to {} Hz", total.windows, number(min), number(max))
    });
    format!("--- {} ---\n{}{range}\n{}", total.name, line(&total.sent), shares(&total.sent))
}

/// `1 message`, `2 messages`.
pub fn messages(count: u64) -> String {
    format!("{count} message{}", if count == 1 { "" } else { "s" })
}

/// What a count of large messages may be wrong by.
pub fn unsure(sent: &Sent) -> String {
    match sent.unsure {
        0 => String::new(),
        unsure => format!(" (up to {unsure} fewer: numbers of places that subscribers held)"),
    }
}

/// A rate with four digits or more.
fn number(rate: f64) -> String {
    match rate {
        _ if rate == 0.0 => "0".to_owned(),
        _ if rate < 10.0 => format!("{rate:.3}"),
        _ if rate < 1000.0 => format!("{rate:.2}"),
        _ => format!("{rate:.1}"),
    }
}
