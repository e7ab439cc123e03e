//! `horus topic delay`: how old messages are when they are seen.
//!
//! Two ages, each where there is a stamp: since the message was *sent* (`Options::stamped` in its publisher), and since the thing in
//! it was *measured* (the message's own field `stamp_ns`).
//!
//! A message is seen in the first look after it came. So up to the time between two looks is this command's own, and that time
//! is measured and printed. An ordinary subscriber that sleeps has its own wake-up instead. `--spin` looks all the time.

use std::io::{Write as _, stdout};
use std::time::Duration;

use horus::time::{MonotonicTime, parse_duration};
use horus_measure::meter::Meter;
use horus_shm::directory::Location;
use horus_shm::ends::observe::{Observation, Start};
use serde::Serialize;

use super::{Ending, LOOK, Target, Watch};
use crate::topic::message::{self, Kind, Number};
use crate::topic::{json_line, note};

/// The time between two looks: short beside the wake-up of a thread on a machine that is not tuned.
const PEEK: Duration = Duration::from_micros(100);

/// Which topic, and how to look.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Length of a window, for which a line is printed
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    window: Duration,
    /// End after so many windows
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Look all the time, which takes a whole CPU
    #[arg(long)]
    spin: bool,
}

/// Ages of one kind.
#[derive(Default)]
struct Ages {
    meter: Meter,
    min_ns: Option<u64>,
    /// Messages without a stamp of this kind, or with one that is still to come.
    without: u64,
}

impl Ages {
    fn record(&mut self, stamp_ns: u64, now: MonotonicTime) {
        match now.as_nanos().checked_sub(stamp_ns).filter(|_| stamp_ns > 0) {
            Some(age) => {
                self.meter.record(age, self.meter.samples());
                self.min_ns = Some(self.min_ns.map_or(age, |min| min.min(age)));
            }
            None => self.without += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.meter.add(&other.meter);
        self.min_ns = [self.min_ns, other.min_ns].into_iter().flatten().min();
        self.without += other.without;
    }

    fn figures(&self) -> Option<Figures> {
        Some(Figures {
            messages: self.meter.samples(),
            min_ns: self.min_ns?,
            mean_ns: self.meter.mean_ns()?,
            max_ns: self.meter.max_ns()?,
            std_dev_ns: self.meter.histogram().stdev(),
            p50_ns: self.meter.quantile(0.5),
            p99_ns: self.meter.quantile(0.99),
        })
    }
}

/// What is said of ages; a quantile only if ten ages lie beyond it (`horus_measure::quantile`).
#[derive(Serialize)]
struct Figures {
    messages: u64,
    min_ns: u64,
    mean_ns: f64,
    max_ns: u64,
    std_dev_ns: f64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

/// A window in JSON.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    topic: &'a str,
    /// Whether it is all windows together.
    summary: bool,
    messages: u64,
    missed: u64,
    /// The longest time between two looks: so much of each age may be this command's own.
    longest_look_ns: u64,
    since_sent: Option<Figures>,
    since_measured: Option<Figures>,
}

/// A window, or all of them.
#[derive(Default)]
struct Window {
    sent: Ages,
    measured: Ages,
    /// The longest time between two looks.
    gap: Duration,
    missed: u64,
}

impl Window {
    fn add(&mut self, other: &Self) {
        self.sent.add(&other.sent);
        self.measured.add(&other.measured);
        self.gap = self.gap.max(other.gap);
        self.missed += other.missed;
    }

    fn messages(&self) -> u64 {
        self.sent.meter.samples() + self.sent.without
    }

    fn text(&self) -> String {
        let ages = [("sent", &self.sent), ("measured", &self.measured)];
        let lines: Vec<_> = ages.iter().filter_map(|(what, ages)| Some(line(what, &ages.figures()?))).collect();
        let missed = if self.missed > 0 { format!(", {} missed", self.missed) } else { String::new() };
        match (lines.is_empty(), self.messages()) {
            (true, 0) => format!("no message{missed}\n"),
            (true, messages) => format!("{messages} messages without a stamp{missed}\n"),
            (false, _) => {
                let gap = time(self.gap.as_nanos() as f64);
                format!("{}  at most {gap} between two looks{missed}\n", lines.concat())
            }
        }
    }

    /// Why figures are missing, if some are.
    fn explanation(&self) -> &'static str {
        let ages = [self.sent.figures(), self.measured.figures()];
        match ages.iter().flatten().any(|ages| ages.p99_ns.is_none()) {
            true => "-: a quantile needs ten messages beyond it: 20 for p50, 1000 for p99\n",
            false => "",
        }
    }

    fn json(&self, topic: &str, is_summary: bool) -> String {
        json_line(&Line {
            schema: "horus-topic-delay/1",
            topic,
            summary: is_summary,
            messages: self.messages(),
            missed: self.missed,
            longest_look_ns: self.gap.as_nanos() as u64,
            since_sent: self.sent.figures(),
            since_measured: self.measured.figures(),
        })
    }
}

/// Runs the command.
pub fn run(location: Location, args: Args, json: bool) -> Result<(), Ending> {
    let Args { target, window, count, spin } = args;
    if window < LOOK {
        return Err(Ending::Failed(format!("a window of {window:?} is too short: it has at least {LOOK:?}")));
    }
    let Some(mut watch) = Watch::begin(location, target, Start::Back(0))? else { return Ok(()) };
    let mut eye = Eye::new(watch.topic(), spin);
    let (mut total, mut windows, mut is_advised) = (Window::default(), 0, false);
    let mut end = eye.last_look.plus(window);
    while count.is_none_or(|count| windows < count) && !watch.is_stopped() {
        let seen = eye.watch_until(&mut watch, end)?;
        end = end.plus(window).max(eye.last_look);
        windows += 1;
        total.add(&seen);
        if seen.sent.without > 0 && !is_advised {
            is_advised = true;
            note("messages carry no time of sending: open their publisher with `Options::stamped()`");
        }
        if watch.is_stopped() && windows > 1 {
            break; // of a window that was cut short the summary tells
        }
        let text = if json { seen.json(watch.name(), false) } else { seen.text() };
        stdout().write_all(text.as_bytes())?;
    }
    watch.end_line();
    let text = match json {
        true => total.json(watch.name(), true),
        false => format!("--- {} ---\n{}{}", watch.name(), total.text(), total.explanation()),
    };
    stdout().write_all(text.as_bytes())?;
    let is_stamped = total.sent.meter.samples() + total.measured.meter.samples() > 0;
    if total.messages() > 0 && !is_stamped {
        return Err(Ending::Failed("no message carried a stamp, so there is no delay to tell".to_owned()));
    }
    Ok(())
}

/// What looks at the messages of a topic.
struct Eye {
    message: Vec<u8>,
    /// Where the message says when its content was measured.
    stamp: Option<usize>,
    is_of_bytes: bool,
    spin: bool,
    last_look: MonotonicTime,
    missed: u64,
}

impl Eye {
    fn new(topic: &Observation, spin: bool) -> Self {
        let (header, bytes) = (topic.header(), topic.payload().bytes);
        let kind = message::kind(&header.description, bytes);
        let is_stamp = |field: &&message::Field| {
            field.name == "stamp_ns" && matches!(field.kind, Kind::Number(Number::Unsigned(8)))
        };
        let stamp = kind.fields().iter().find(is_stamp).map(|field| field.offset);
        let needed = stamp.map_or(0, |offset| offset + size_of::<u64>());
        let is_of_bytes = header.is_of_bytes();
        Self { message: vec![0; needed], stamp, is_of_bytes, spin, last_look: MonotonicTime::now(), missed: 0 }
    }

    fn watch_until(&mut self, watch: &mut Watch, end: MonotonicTime) -> Result<Window, Ending> {
        let mut seen = Window::default();
        while self.last_look < end && !watch.is_stopped() {
            let now = MonotonicTime::now();
            seen.gap = seen.gap.max(now.since(self.last_look));
            self.last_look = now;
            let mut messages = 0;
            while let Some(sent_ns) = self.take(watch.topic()) {
                // The clock is read for each: those that came meanwhile are not older than they are.
                let now = MonotonicTime::now();
                seen.sent.record(sent_ns, now);
                if let Some(stamp) = self.stamp.and_then(|offset| self.message[offset..].first_chunk()) {
                    seen.measured.record(u64::from_ne_bytes(*stamp), now);
                }
                messages += 1;
            }
            if messages > 0 {
                watch.came();
            }
            let until = if self.spin { now } else { end.min(now.plus(PEEK)) };
            if let Some(before) = watch.rest(until)? {
                seen.missed += before.missed() - self.missed; // its last messages are as old as the search for the next topic
                *self = Self { last_look: self.last_look, ..Self::new(watch.topic(), self.spin) };
            }
        }
        let missed = watch.topic().missed();
        seen.missed += missed - self.missed;
        self.missed = missed;
        Ok(seen)
    }

    fn take(&mut self, topic: &mut Observation) -> Option<u64> {
        match self.is_of_bytes {
            true => topic.try_take_bytes(&mut []).map(|received| received.sent_ns),
            false => topic.try_take(&mut self.message).map(|received| received.sent_ns),
        }
    }
}

fn line(what: &str, figures: &Figures) -> String {
    let Figures { messages, min_ns, mean_ns, max_ns, std_dev_ns, p50_ns, p99_ns } = *figures;
    let [p50, p99] = [p50_ns, p99_ns].map(|found| found.map_or("-".to_owned(), |found| time(found as f64)));
    let [min, mean, max, deviation] = [min_ns as f64, mean_ns, max_ns as f64, std_dev_ns].map(time);
    let ages = format!("min {min}, mean {mean}, max {max}, std dev {deviation}, p50 {p50}, p99 {p99}");
    format!("since {what}: {ages} ({messages})\n")
}

/// A time in the unit that people think of it in.
fn time(ns: f64) -> String {
    match ns {
        _ if ns >= 1e9 => format!("{:.3} s", ns / 1e9),
        _ if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        _ if ns >= 1e3 => format!("{:.1} us", ns / 1e3),
        _ => format!("{ns:.0} ns"),
    }
}
