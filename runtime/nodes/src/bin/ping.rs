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

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use horus::message::Stamp;
use horus::prelude::*;
use horus::time::parse_duration;
use horus_nodes::{Account, CAPACITY, DEADLINE, PERIOD};

/// For tests of deadline accounting: `500ms 10` busy-waits for 500 ms in every tenth cycle.
const STALL_VARIABLE: &str = "HORUS_PING_STALL";

/// How many messages back an answer can be checked. What comes later than that counts as lost.
const MEMORY: usize = 4 * CAPACITY;

struct Ping {
    stamps: Output<Stamp>,
    answers: Input<Stamp>,
    account: Arc<Account>,
    /// When the last messages were sent, by sequence number modulo the length.
    sent_ns: [u64; MEMORY],
    /// Number of the first message of this process: later than all of a process before this one.
    first: u64,
    /// Number of the next message.
    next: u64,
    /// Number of the answer that comes next, once one has come: what was sent before `pong` listened is not lost.
    expected: Option<u64>,
    stall: Option<(Duration, u64)>,
}

impl Ping {
    fn check(&mut self, answer: Stamp) {
        if answer.sequence < self.first.max(self.next.saturating_sub(MEMORY as u64)) {
            return; // to a process before this one, or beyond memory: the next answer finds it missing
        }
        let expected = self.expected.unwrap_or(answer.sequence);
        let sent_ns = self.sent_ns[answer.sequence as usize % MEMORY];
        if answer.sequence < expected || answer.sequence >= self.next || answer.sent_ns != sent_ns {
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
        for _ in 0..CAPACITY {
            let Some(answer) = self.answers.messages().next() else { break };
            self.check(answer);
        }
        let stamp = Stamp { sequence: self.next, sent_ns: MonotonicTime::now().as_nanos() };
        self.sent_ns[stamp.sequence as usize % MEMORY] = stamp.sent_ns;
        self.stamps.set(stamp);
        self.account.count_sent();
        self.next += 1;
        if let Some((span, every)) = self.stall
            && cycle.number.is_multiple_of(every)
        {
            let end = MonotonicTime::now().plus(span);
            while MonotonicTime::now() < end {
                std::hint::spin_loop();
            }
        }
    }
}

/// Reads [`STALL_VARIABLE`].
fn stall() -> horus::Result<Option<(Duration, u64)>> {
    let Ok(text) = std::env::var(STALL_VARIABLE) else { return Ok(None) };
    let wrong = || {
        horus::Error::new(format!("{STALL_VARIABLE}={text}: write a time and how many cycles apart, such as 30ms 20"))
    };
    let (span, every) = text.split_once(' ').ok_or_else(wrong)?;
    let every = every.trim().parse().ok().filter(|every| *every > 0).ok_or_else(wrong)?;
    Ok(Some((parse_duration(span)?, every)))
}

fn main() -> ExitCode {
    let account = Arc::new(Account::default());
    let ended = horus::app::main("ping", |app| {
        let answers = app.input_with("pong", Options::latest(CAPACITY))?;
        let stamps = app.output_with("ping", Options::latest(CAPACITY))?;
        app.background(account.every_minute("ping"));
        let (account, stall, first) = (Arc::clone(&account), stall()?, MonotonicTime::now().as_nanos());
        let node = Ping { stamps, answers, account, sent_ns: [0; MEMORY], first, next: first, expected: None, stall };
        app.node("ping", node).period(PERIOD).deadline(DEADLINE);
        Ok(())
    });
    if account.is_used() {
        println!("ping: {account}");
    }
    ended
}
