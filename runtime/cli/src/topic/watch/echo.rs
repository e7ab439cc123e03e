//! `horus topic echo`: prints messages as they come, whatever their type, by what the topic says of its fields.

use std::io::{BufWriter, Stdout, Write, stdout};

use horus::outside::printable;
use horus::time::MonotonicTime;
use horus_shm::directory::Location;
use horus_shm::ends::observe::{Observation, Start};
use horus_shm::ring::Received;

use super::{Ending, LOOK, Target, Watch};
use crate::topic::message::packed::PACKED;
use crate::topic::message::{self, Kind, Path, Shown, hex};
use crate::topic::{json_line, note};

/// Elements that are shown of an array, as `ros2 topic echo` does; bytes that are shown of what was not described.
const ELEMENTS: usize = 128;
const BYTES: usize = 64;

/// Which topic, and how to show it.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Print one message and end
    #[arg(long, conflicts_with = "count")]
    once: bool,
    /// End after so many messages
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Print this part of each message only, such as position.x or range[3]
    #[arg(long, value_name = "FIELD", conflicts_with = "raw")]
    field: Option<Path>,
    /// Print the bytes of messages instead of their fields
    #[arg(long)]
    raw: bool,
    /// Print arrays and bytes whole, however long
    #[arg(short, long)]
    full_length: bool,
    /// Print publisher, number and time of sending with each message
    #[arg(short, long)]
    include_message_info: bool,
    /// First print up to so many of the last messages of each publisher that are still there
    #[arg(long, value_name = "N", default_value_t = 0)]
    history: u64,
}

/// Runs the command.
pub fn run(location: Location, args: Args, json: bool) -> Result<(), Ending> {
    let wanted = if args.once { Some(1) } else { args.count };
    let Args { target, field, raw, full_length, include_message_info, history, .. } = args;
    let Some(mut watch) = Watch::begin(location, target, Start::Back(history))? else { return Ok(()) };
    let style = Style { field, raw, full_length, json, with_info: include_message_info };
    let mut reading = Reading::of(watch.topic(), &style).map_err(Ending::Failed)?;
    reading.introduce(&watch);
    let mut out = BufWriter::new(stdout());
    let (mut shown, mut missed) = (0, 0);
    let ending = loop {
        match turn(&mut watch, &style, &mut reading, &mut out, wanted.map(|wanted| wanted - shown), &mut missed) {
            Ok(more) => shown += more,
            Err(ending) => break Err(ending),
        }
        if wanted == Some(shown) || watch.is_stopped() {
            break Ok(());
        }
    };
    missed += reading.missed;
    if !args.once {
        watch.end_line();
        note(&format!("{}: {shown} shown, {missed} missed", watch.name()));
    }
    ending
}

/// Prints what is there, at most `wanted`, and rests; returns how many that were.
fn turn(
    watch: &mut Watch,
    style: &Style,
    reading: &mut Reading,
    out: &mut BufWriter<Stdout>,
    wanted: Option<u64>,
    missed: &mut u64,
) -> Result<u64, Ending> {
    let mut shown = print(watch.topic(), style, reading, out, wanted)?;
    if shown > 0 {
        out.flush()?;
        watch.came();
    }
    if wanted == Some(shown) || shown == HEAP {
        return Ok(shown);
    }
    if let Some(mut before) = watch.rest(MonotonicTime::now().plus(LOOK))? {
        shown += print(&mut before, style, reading, out, wanted.map(|wanted| wanted - shown))?;
        out.flush()?;
        *missed += reading.missed;
        *reading = Reading::of(watch.topic(), style).map_err(Ending::Failed)?;
        reading.introduce(watch);
    }
    Ok(shown)
}

/// How many messages are printed before the user is asked whether that is enough: he may want to end a flood.
const HEAP: u64 = 256;

/// Prints messages that are there, at most `wanted`; returns how many that were.
fn print(
    topic: &mut Observation,
    style: &Style,
    reading: &mut Reading,
    out: &mut BufWriter<Stdout>,
    wanted: Option<u64>,
) -> Result<u64, Ending> {
    let mut shown = 0;
    while shown < wanted.unwrap_or(HEAP).min(HEAP) {
        let Some(text) = reading.next(topic, style) else { break };
        out.write_all(text.as_bytes())?;
        shown += 1;
    }
    Ok(shown)
}

/// How messages are shown.
struct Style {
    field: Option<Path>,
    raw: bool,
    full_length: bool,
    json: bool,
    with_info: bool,
}

/// How the messages of a topic are read.
struct Reading {
    message: Vec<u8>,
    is_of_bytes: bool,
    /// Whether the bytes are a value of MessagePack.
    is_packed: bool,
    /// What is shown of a message: what it is, its first byte and how many it has.
    part: (Kind, usize, usize),
    missed: u64,
}

impl Reading {
    fn of(topic: &Observation, style: &Style) -> Result<Self, String> {
        let (header, payload) = (topic.header(), topic.payload());
        if header.is_of_bytes() {
            if let Some(field) = &style.field {
                return Err(format!("a topic of {} has no field {field}: it carries bytes", header.type_name));
            }
            let is_packed = header.type_name == PACKED && !style.raw;
            let preview = if style.full_length || is_packed { payload.bytes - size_of::<u64>() } else { BYTES };
            let message = vec![0; preview.min(payload.bytes - size_of::<u64>())];
            return Ok(Self { message, is_of_bytes: true, is_packed, part: (Kind::Unknown, 0, 0), missed: 0 });
        }
        let whole = message::kind(&header.description, payload.bytes);
        let part = match &style.field {
            Some(path) => path.find(&whole, payload.bytes)?,
            None => (whole, 0, payload.bytes),
        };
        Ok(Self { message: vec![0; payload.bytes], is_of_bytes: false, is_packed: false, part, missed: 0 })
    }

    /// Says what cannot be told from the messages themselves.
    fn introduce(&self, watch: &Watch) {
        let (name, type_name) = (watch.name(), &watch.header().type_name);
        match &self.part.0 {
            _ if self.is_of_bytes && type_name == horus::topic::Bytes::TYPE_NAME => {
                note(&format!("{name} carries bytes, whose meaning is its programs' own"));
            }
            _ if self.is_packed => {}
            _ if self.is_of_bytes && type_name == PACKED => note(&format!("{name} carries values of MessagePack")),
            _ if self.is_of_bytes => {
                note(&format!(
                    "{name} carries serialized values ({type_name}, postcard), which do not tell their fields"
                ));
            }
            Kind::Unknown => note(&format!("the publisher of {name} does not describe the fields of {type_name}")),
            _ => {}
        }
    }

    /// The next message as it is printed.
    fn next(&mut self, topic: &mut Observation, style: &Style) -> Option<String> {
        let received = match self.is_of_bytes {
            true => topic.try_take_bytes(&mut self.message)?,
            false => {
                let Received { sequence, sent_ns, publisher, .. } = topic.try_take(&mut self.message)?;
                Received { message: self.part.2, sequence, sent_ns, publisher }
            }
        };
        let new = topic.missed() - self.missed;
        self.missed += new;
        Some(if style.json { self.json(&received, new, style) } else { self.text(&received, new, style) })
    }

    fn text(&self, received: &Received<usize>, missed: u64, style: &Style) -> String {
        let Received { message: length, sequence, sent_ns, publisher } = *received;
        let mut text = if missed > 0 { format!("# {missed} missed\n") } else { String::new() };
        if style.with_info {
            let sent = if sent_ns > 0 {
                format!("sent at {}", MonotonicTime::from_nanos(sent_ns))
            } else {
                "not stamped".into()
            };
            text += &format!("# message {sequence} of lane {publisher}, {sent}\n");
        }
        match (self.packed(length, " "), self.bytes(length, style)) {
            (Some(value), _) => text += &(value + "\n"),
            (None, Some(bytes)) => {
                let hex = hex(bytes, if style.full_length { usize::MAX } else { BYTES });
                let more = if length > bytes.len() && !hex.ends_with("...") { " ..." } else { "" };
                text += &format!("bytes: {length}\nhex: '{hex}{more}'\n");
                if let Some(words) = words(bytes).filter(|_| bytes.len() == length && !style.raw) {
                    text += &format!("text: {words}\n");
                }
            }
            (None, None) => text += &message::text(self.part(), if style.full_length { usize::MAX } else { ELEMENTS }),
        }
        text + "---\n"
    }

    fn json(&self, received: &Received<usize>, missed: u64, style: &Style) -> String {
        let Received { message: length, sequence, sent_ns, publisher } = *received;
        let value = match (self.packed(length, ""), self.bytes(length, style)) {
            (Some(value), _) => value,
            (None, Some(bytes)) => {
                let hex = hex(bytes, usize::MAX).replace(' ', "");
                format!("{{\"bytes\":{length},\"hex\":\"{hex}\"}}")
            }
            (None, None) => json_line(&self.part()).trim_end().to_owned(),
        };
        // Written by hand, so that a message is not held twice.
        format!(
            "{{\"publisher\":{publisher},\"sequence\":{sequence},\"sent_ns\":{sent_ns},\"missed\":{missed},\"message\":{value}}}\n"
        )
    }

    /// The bytes that are there of a message that is shown as bytes.
    fn bytes(&self, length: usize, style: &Style) -> Option<&[u8]> {
        let is_unknown = self.is_of_bytes || matches!(self.part.0, Kind::Unknown);
        let there = if self.is_of_bytes { &self.message[..length.min(self.message.len())] } else { self.part().bytes };
        (is_unknown || style.raw).then_some(there)
    }

    /// A value of MessagePack as JSON; one that is none is shown as bytes.
    fn packed(&self, length: usize, gap: &str) -> Option<String> {
        self.is_packed.then(|| message::packed::json(self.message.get(..length)?, gap))?
    }

    fn part(&self) -> Shown<'_> {
        let (kind, offset, bytes) = &self.part;
        Shown { kind, bytes: &self.message[*offset..][..*bytes] }
    }
}

/// Bytes that are text and nothing else, in quotes.
fn words(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    let is_text = printable(text) == *text;
    is_text.then(|| serde_json::to_string(text).expect("text is always JSON"))
}
