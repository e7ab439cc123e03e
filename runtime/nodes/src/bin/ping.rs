//! A node that publishes a stamp every period and checks the answers of `pong`. Start both, in any order:
//!
//! ```text
//! cargo run --package horus-nodes --bin pong &
//! cargo run --package horus-nodes --bin ping -- --releases 500
//! ```
//!
//! Both share one grid, and `pong` runs half a period behind `ping`, so an answer is there at `ping`'s next release:
//! the round trip that is printed is one period plus jitter by design, and no measure of the message path.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use horus::message::Stamp;
use horus::scheduler::{Cycle, Node};
use horus::silence::InputWatch;
use horus::time::{MonotonicTime, parse_duration};
use horus::topic::{Publisher, Subscriber, TopicName};
use horus_nodes::{Account, CAPACITY, NodeOptions, Parts};

/// Publish a stamp every period and check the answers of pong.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    node: NodeOptions,
    /// Topic to publish on
    #[arg(long, default_value = "ping")]
    publish: TopicName,
    /// Topic that the answers come on
    #[arg(long, default_value = "pong")]
    subscribe: TopicName,
    /// For tests of deadline accounting: busy-wait in every cycle whose number is a multiple of this
    #[arg(long, requires = "stall_for", value_parser = clap::value_parser!(u64).range(1..))]
    stall_every: Option<u64>,
    /// How long to busy-wait, at most 500ms
    #[arg(long, requires = "stall_every", value_parser = parse_stall)]
    stall_for: Option<Duration>,
}

/// How many messages back an answer can be checked. What comes later than that counts as lost.
const MEMORY: usize = 4 * CAPACITY;

/// Stalls stay below the time after which the kernel would end the process.
fn parse_stall(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(stall) if stall <= Duration::from_millis(500) => Ok(stall),
        Ok(stall) => Err(format!("{stall:?} is longer than 500ms")),
        Err(error) => Err(error.to_string()),
    }
}

struct Ping {
    publisher: Publisher<Stamp>,
    answers: Subscriber<Stamp>,
    input: InputWatch,
    account: Arc<Account>,
    /// When the last messages were sent, by sequence number modulo the length.
    sent_ns: [u64; MEMORY],
    /// Number of the first message of this process; answers to a process before this one are older.
    first: u64,
    /// Number of the answer that comes next, once one has come: what was sent before `pong` listened is not lost.
    expected: Option<u64>,
    stall: Option<(u64, Duration)>,
}

impl Ping {
    fn new(parts: Parts, stall: Option<(u64, Duration)>) -> Self {
        let Parts { publisher, subscriber: answers, input, account } = parts;
        let first = publisher.position();
        Self { publisher, answers, input, account, sent_ns: [0; MEMORY], first, expected: None, stall }
    }

    fn check(&mut self, answer: Stamp) {
        let next = self.publisher.position();
        if answer.sequence < self.first.max(next.saturating_sub(MEMORY as u64)) {
            return; // to a process before this one, or beyond memory: the next answer finds it missing
        }
        let expected = self.expected.unwrap_or(answer.sequence);
        let sent_ns = self.sent_ns[answer.sequence as usize % MEMORY];
        if answer.sequence < expected || answer.sequence >= next || answer.sent_ns != sent_ns {
            self.account.count_mismatched();
            return;
        }
        self.account.count_lost(answer.sequence - expected);
        self.account.count_received();
        self.account.note_round_trip(MonotonicTime::now().as_nanos().saturating_sub(sent_ns));
        self.expected = Some(answer.sequence + 1);
    }
}

impl Node for Ping {
    fn step(&mut self, cycle: &Cycle) {
        let mut heard = false;
        for _ in 0..CAPACITY {
            let Some(answer) = self.answers.try_recv() else { break };
            heard = true;
            self.check(answer.message);
        }
        self.input.observe(heard, cycle.wake);
        let stamp = Stamp { sequence: self.publisher.position(), sent_ns: MonotonicTime::now().as_nanos() };
        if self.publisher.try_send(stamp).is_ok() {
            self.sent_ns[stamp.sequence as usize % MEMORY] = stamp.sent_ns;
            self.account.count_sent();
        }
        if let Some((every, span)) = self.stall
            && cycle.number.is_multiple_of(every)
        {
            let end = MonotonicTime::now().plus(span);
            while MonotonicTime::now() < end {
                std::hint::spin_loop();
            }
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let topics = (&arguments.publish, &arguments.subscribe);
    horus_nodes::run(
        "ping",
        &arguments.node,
        topics,
        |_| Duration::ZERO,
        |parts| Ping::new(parts, arguments.stall_every.zip(arguments.stall_for)),
    )
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ping: {error}");
            ExitCode::FAILURE
        }
    }
}
