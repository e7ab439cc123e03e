//! `horus tap`: prints a topic's messages as a gateway sends them, from now on or from the log.
//!
//! Exit status: 0 it came to its end, 1 it did not, or messages were lost on the way.

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::outside::printable;
use horus::time::{MonotonicTime, parse_duration};
use horus_gateway::client::{Address, ClientError, PATIENCE};
use horus_gateway::frame::words::{Begin, Heartbeat, Subscribe, Topic, WhenFull};
use horus_gateway::frame::{Frame, Type, batch};
use horus_sys::clock::monotonic_ns;
use serde_json::json;

use super::identity;
use super::tally::Tally;
use crate::topic::message::{Kind, Shown, hex, kind, text};

/// How long a wait for a frame is at most, before the clock and Ctrl-C are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Elements that are shown of an array, and bytes of what was not described.
const ELEMENTS: usize = 128;
const BYTES: usize = 64;

/// Command line of `horus tap`.
#[derive(clap::Args)]
pub struct Args {
    /// The topic's name
    topic: String,
    /// Begin with this message of the log [default: the next one that is sent]
    #[arg(long, value_name = "SEQ", conflicts_with = "since")]
    from: Option<u64>,
    /// Begin with the messages of the log that were sent since so long ago, such as 10s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    since: Option<Duration>,
    /// End after so long [default: at Ctrl-C]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// End after so many messages
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Where the gateway listens: unix:PATH, tcp:ADDRESS:PORT or tls:NAME:PORT
    #[arg(short = 'a', long, default_value = "unix:/run/horus/gateway/socket")]
    connect: Address,
    #[command(flatten)]
    identity: identity::Options,
    /// What the gateway does with messages that this program does not read in time
    #[arg(long, value_enum, default_value = "drop-oldest")]
    when_full: OverflowPolicy,
    /// Only count
    #[arg(short, long)]
    quiet: bool,
    /// Write an object of JSON a line
    #[arg(long)]
    json: bool,
}

/// The overflow policies of the protocol.
#[derive(Clone, Copy, clap::ValueEnum)]
enum OverflowPolicy {
    DropOldest,
    DropNewest,
    Disconnect,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match tap(args) {
        Ok(tally) if tally.lost == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("horus tap: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn tap(args: &Args) -> Result<Tally, String> {
    let stop = horus::stop::on_termination().map_err(|error| error.to_string())?;
    let client = |error: ClientError| error.to_string();
    let began = MonotonicTime::now();
    // Who does not answer has no more time than `--duration` gives.
    let left = || {
        args.duration.map_or(PATIENCE, |limit| limit.saturating_sub(MonotonicTime::now().since(began)).min(PATIENCE))
    };
    let mut connection = args.identity.connect(&args.connect, "horus tap", left())?;
    connection.set_patience(left());
    let topic = connection.subscribe(1, &args.wanted()).map_err(client)?;
    let mut out = BufWriter::new(stdout());
    let last = match (args.from, args.since) {
        (Some(from), _) => Some(from.max(topic.first).saturating_sub(1)),
        (None, Some(_)) => None,
        (None, None) => Some(topic.next - 1),
    };
    let mut tally = Tally::new(last, topic.next, &args.connect);
    let mut shape = shape(&topic);
    let subscribed = MonotonicTime::now();
    while !is_over(args, &tally, began, &stop) {
        let Some(Frame { head, payload }) = connection.receive(LOOK).map_err(client)? else { continue };
        let now = monotonic_ns();
        let outcome = match head.kind {
            Type::Topic => {
                shape = Topic::read(payload).map_or(Kind::Unknown, |topic| self::shape(&topic));
                Ok(())
            }
            Type::Message => {
                tally.take(head.sequence, head.stamp_ns, payload.len(), now);
                show(args, &shape, head.sequence, head.stamp_ns, payload, &mut out)
            }
            Type::Batch => batch::items(payload).into_iter().flatten().try_for_each(|item| {
                if args.count.is_some_and(|count| tally.messages >= count) {
                    return Ok(());
                }
                tally.take(item.sequence, item.stamp_ns, item.message.len(), now);
                show(args, &shape, item.sequence, item.stamp_ns, item.message, &mut out)
            }),
            Type::Heartbeat => {
                tally.told = Heartbeat::read(payload).unwrap_or(tally.told);
                Ok(())
            }
            _ => Ok(()),
        };
        match outcome.and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break, // `| head` has enough
            other => other.map_err(|error| format!("cannot write: {error}"))?,
        }
    }
    let seconds = MonotonicTime::now().since(subscribed).as_secs_f64();
    let Tally { messages, bytes, lost, .. } = tally;
    eprintln!("horus tap: {}: {messages} messages, {bytes} bytes, {lost} lost in {seconds:.3} s", args.topic);
    eprint!("{tally}");
    Ok(tally)
}

fn is_over(args: &Args, tally: &Tally, began: MonotonicTime, stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
        || args.count.is_some_and(|count| tally.messages >= count)
        || args.duration.is_some_and(|duration| MonotonicTime::now().since(began) >= duration)
}

/// What the bytes of the topic's messages are.
fn shape(topic: &Topic) -> Kind {
    let description = topic.text.split_once('\n').map_or("", |(_type, description)| description);
    kind(description, topic.message_bytes as usize)
}

impl Args {
    fn wanted(&self) -> Subscribe {
        let begin = match (self.from, self.since) {
            (Some(sequence), _) => Begin::Sequence(sequence),
            (None, Some(ago)) => {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                Begin::Unix(now.saturating_sub(ago).as_nanos() as u64)
            }
            (None, None) => Begin::Now,
        };
        let when_full = match self.when_full {
            OverflowPolicy::DropOldest => WhenFull::DropOldest,
            OverflowPolicy::DropNewest => WhenFull::DropNewest,
            OverflowPolicy::Disconnect => WhenFull::Disconnect,
        };
        Subscribe { begin, when_full, topic: self.topic.clone() }
    }
}

/// Prints a message.
fn show(
    args: &Args,
    kind: &Kind,
    sequence: u64,
    stamp_ns: u64,
    message: &[u8],
    out: &mut impl Write,
) -> std::io::Result<()> {
    if args.quiet {
        return Ok(());
    }
    let is_described = is_whole(kind, message);
    let shown = Shown { kind, bytes: message };
    if args.json {
        let message = if is_described { json!(shown) } else { json!({ "bytes": message }) };
        return writeln!(out, "{}", json!({ "sequence": sequence, "sent_ns": stamp_ns, "message": message }));
    }
    writeln!(out, "# {sequence}, {} bytes, sent at {:.6} s", message.len(), stamp_ns as f64 / 1e9)?;
    let body = if is_described { text(shown, ELEMENTS) } else { hex(message, BYTES) + "\n" };
    writeln!(out, "{}---", printable_lines(&body))
}

/// Whether the fields are those of this message: what a gateway says of a topic is not believed.
fn is_whole(kind: &Kind, message: &[u8]) -> bool {
    match kind {
        Kind::Message(fields) => fields.last().is_some_and(|last| last.offset + last.bytes == message.len()),
        _ => false,
    }
}

/// A text of several lines without what a terminal would obey.
fn printable_lines(body: &str) -> String {
    body.lines().map(|line| printable(line) + "\n").collect()
}
