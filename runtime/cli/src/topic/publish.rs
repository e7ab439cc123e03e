//! `horus topic pub`: sends messages that a person types, on any topic whose fields are described.
//!
//! It is a publisher as every other: it takes a lane, and agrees to the topic as it is. A topic that is not there is made for the
//! messages of crate `horus`, the only ones whose layout this program knows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::messages::{ALL, Definition};
use horus::near::is_near;
use horus::time::{Clock, MonotonicTime, SystemClock};
use horus_shm::directory::{Directory, Location, TopicName};
use horus_shm::ends::inspect::inspect;
use horus_shm::ends::{Kind, Making, Payload, Publication};
use horus_shm::error::OpenError;
use horus_shm::segment::layout::DeliveryPolicy;

use super::message::packed::PACKED;
use super::message::{kind, write};
use super::near::hint;
use super::note;
use super::watch::Ending;

/// The time between two attempts to send on a full topic.
const NAP: Duration = Duration::from_millis(1);
/// How long the publisher stays after its last message, so that who looks for the topic finds it; as in `ros2 topic pub`.
const STAY: Duration = Duration::from_millis(100);

/// What to send, where and how often.
#[derive(clap::Args)]
pub struct Args {
    /// The topic's name
    name: TopicName,
    /// The type's name, such as horus/CmdVel or CmdVel, needed if there is no such topic; or the values
    type_or_values: Option<String>,
    /// The values, such as 'forward: 0.5, turn: 0'; what is not named is zero
    values: Option<String>,
    /// Messages a second
    #[arg(short, long, value_name = "HZ", default_value_t = 1.0)]
    rate: f64,
    /// Send one message and end
    #[arg(short = '1', long, conflicts_with = "count")]
    once: bool,
    /// End after so many messages
    #[arg(short = 't', long, visible_alias = "times", value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    anew: Anew,
}

/// How the topic is made if it is not there; other publishers must agree.
#[derive(clap::Args)]
struct Anew {
    /// Make the topic reliable, if it is not there: it loses nothing and can be full
    #[arg(long)]
    reliable: bool,
    /// Messages that the topic holds of each publisher, if it is not there
    #[arg(long, value_name = "N", default_value_t = 16)]
    capacity: usize,
    /// Publishers that the topic has room for, if it is not there
    #[arg(long, value_name = "N", default_value_t = 1)]
    publishers: usize,
}

/// What a topic's messages are and how it is made.
struct Topic {
    type_name: String,
    layout_hash: u64,
    description: String,
    payload: Payload,
    making: Making,
}

/// Runs the command.
pub fn run(location: &Location, args: &Args) -> Result<(), Ending> {
    // From 1e-6 to a million a second: what a grid of nanoseconds tells apart, and a person sees the end of.
    if !(1e-6..=1e6).contains(&args.rate) {
        return Err(Ending::Failed(format!("a rate of {} Hz is not possible: it is 0.000001 to 1000000", args.rate)));
    }
    let (wanted, values) = type_and_values(args);
    let directory = Directory::find(location.path())?;
    let topic = topic(location, directory.as_ref(), args, wanted).map_err(Ending::Failed)?;
    let mut message = vec![0; topic.payload.bytes];
    write(&kind(&topic.description, message.len()), values, &mut message)
        .map_err(|reason| Ending::Failed(format!("{}: {reason}", topic.type_name)))?;
    let stop = horus::stop::on_termination()?;
    let directory = Directory::at(&location.directory)?.in_namespace(&location.namespace)?;
    let mut publication = open(&directory, &args.name, &topic)?;
    if publication.subscribers()? == 0 {
        note(&format!("no program subscribes to {} at the moment (`horus topic echo` is not counted)", args.name));
    }
    send(&mut publication, &message, args, &stop)
}

/// Of one word the user means the type if it looks like one.
fn type_and_values(args: &Args) -> (Option<&str>, &str) {
    match (args.type_or_values.as_deref(), args.values.as_deref()) {
        (first, Some(values)) => (first, values),
        (Some(values), None) if values.contains([':', '{']) || values.trim().is_empty() => (None, values),
        (wanted, None) => (wanted, ""),
    }
}

/// The topic as it is, or as it is to be made.
fn topic(
    location: &Location,
    directory: Option<&Directory>,
    args: &Args,
    wanted: Option<&str>,
) -> Result<Topic, String> {
    let file = directory.map(|directory| directory.file(&args.name));
    let found = file.map(|file| inspect(&file)).transpose().map_err(|error| error.to_string())?.flatten();
    let Some(found) = found else {
        let Some(wanted) = wanted else {
            let near = hint(directory, args.name.as_str());
            let place = location.path();
            return Err(format!(
                "there is no topic {} in {}{near}; to make it, say its type: {}",
                args.name,
                place.display(),
                names()
            ));
        };
        return new_topic(definition(wanted)?, &args.anew, directory);
    };
    let header = found.header;
    if header.is_of_bytes() {
        return Err(format!(
            "{} carries {} ({}), which have no fields that a message could be made of: publish it from a program",
            args.name,
            if header.type_name == PACKED { "dicts of Python" } else { "bytes" },
            header.type_name
        ));
    }
    if let Some(wanted) = wanted.filter(|wanted| !is_called(&header.type_name, wanted)) {
        return Err(format!(
            "{} carries {}, not {wanted}: use another topic, or leave the type out",
            args.name, header.type_name
        ));
    }
    if header.description.is_empty() {
        return Err(format!(
            "{} does not describe the fields of its {}: publish it from a program",
            args.name, header.type_name
        ));
    }
    let shape = header.shape;
    let access =
        directory.map_or_else(|| Ok(Default::default()), Directory::access).map_err(|error| error.to_string())?;
    Ok(Topic {
        payload: Payload { bytes: shape.payload_bytes(), align: shape.payload_align() },
        making: Making {
            capacity: shape.capacity(),
            least: 0,
            policy: header.policy,
            access,
            publishers: 1,
            wakes: header.wakes,
            is_latched: false,
        },
        type_name: header.type_name,
        layout_hash: header.layout_hash,
        description: header.description,
    })
}

fn new_topic(definition: &Definition, anew: &Anew, directory: Option<&Directory>) -> Result<Topic, String> {
    let access =
        directory.map_or_else(|| Ok(Default::default()), Directory::access).map_err(|error| error.to_string())?;
    let policy = if anew.reliable { DeliveryPolicy::Reliable } else { DeliveryPolicy::Latest };
    Ok(Topic {
        type_name: definition.type_name.to_owned(),
        layout_hash: definition.layout_hash,
        description: (definition.description)(),
        payload: Payload { bytes: definition.bytes, align: definition.align },
        making: Making {
            capacity: anew.capacity,
            least: 0,
            policy,
            access,
            publishers: anew.publishers,
            wakes: true,
            is_latched: false,
        },
    })
}

/// The message of crate `horus` of that name, with the package's name before it or without.
fn definition(wanted: &str) -> Result<&'static Definition, String> {
    ALL.iter().find(|known| is_called(known.type_name, wanted)).ok_or_else(|| {
        let near =
            ALL.iter().map(|known| known.type_name).filter(|known| is_near(known.trim_start_matches("horus/"), wanted));
        let near: Vec<_> = near.collect();
        let near = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) };
        format!("{wanted} is not known here: {near}Types that this command can make a topic of: {}", names())
    })
}

fn is_called(type_name: &str, wanted: &str) -> bool {
    type_name == wanted || type_name.strip_prefix("horus/") == Some(wanted)
}

fn names() -> String {
    ALL.map(|known| known.type_name).join(", ")
}

fn open(directory: &Directory, name: &TopicName, topic: &Topic) -> Result<Publication, Ending> {
    let kind = Kind { type_name: &topic.type_name, layout_hash: topic.layout_hash, description: &topic.description };
    Publication::open(directory, name, kind, topic.payload, &topic.making).map_err(|error| match error {
        OpenError::PublishersFull { .. } => Ending::Failed(format!(
            "{error}. `horus topic pub` needs a lane of its own; `horus topic info {name}` names who has them"
        )),
        error => error.into(),
    })
}

/// Sends the message on an even grid of time until it was sent often enough.
fn send(publication: &mut Publication, message: &[u8], args: &Args, stop: &AtomicBool) -> Result<(), Ending> {
    let wanted = if args.once { Some(1) } else { args.count };
    let period = Duration::from_secs_f64(1.0 / args.rate);
    let name = &args.name;
    if wanted != Some(1) {
        note(&format!("publishing {} on {name} at {} Hz", publication.segment().header().type_name, args.rate));
    }
    let began = MonotonicTime::now();
    let (mut due, mut sent, mut skipped) = (began, 0_u64, 0_u64);
    while wanted.is_none_or(|wanted| sent < wanted) {
        if !rest_until(due, stop) || !send_one(publication, message, name, stop)? {
            break;
        }
        sent += 1;
        due = due.plus(period);
        let late = MonotonicTime::now().since(due);
        if late >= period {
            // What was not sent in its time is not sent later in a heap.
            let periods = (late.as_nanos() / period.as_nanos()) as u64;
            skipped += periods;
            due = due.plus(Duration::from_nanos((period.as_nanos() as u64).saturating_mul(periods)));
        }
    }
    let took = MonotonicTime::now().since(began).as_secs_f64();
    rest_until(MonotonicTime::now().plus(STAY), stop);
    super::watch::end_line(stop);
    let skipped =
        if skipped > 0 { format!(", {skipped} skipped because this process was late") } else { String::new() };
    note(&format!("{name}: {} sent in {took:.3} s{skipped}", super::watch::rate::messages(sent)));
    Ok(())
}

/// Sends the message as soon as there is room; false if the user stopped it before.
fn send_one(
    publication: &mut Publication,
    message: &[u8],
    name: &TopicName,
    stop: &AtomicBool,
) -> Result<bool, Ending> {
    let mut is_told = false;
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut loan) = publication.loan() {
            loan.copy_from_slice(message);
            loan.publish(MonotonicTime::now().as_nanos());
            return Ok(true);
        }
        if !is_told {
            is_told = true;
            note(&format!("{name} is full: waiting for a subscriber that has not read yet"));
        }
        publication.reap();
        publication.check()?;
        SystemClock.sleep_until(MonotonicTime::now().plus(NAP));
    }
    Ok(false)
}

/// Waits until `due`; false if the user stopped it before.
fn rest_until(due: MonotonicTime, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(20);
    loop {
        let now = MonotonicTime::now();
        if stop.load(Ordering::Relaxed) || now >= due {
            return !stop.load(Ordering::Relaxed);
        }
        SystemClock.sleep_until(due.min(now.plus(STEP)));
    }
}
