//! The sender: an open loop, which sends when it is time and not when an answer came.
//!
//! Each message carries the time at which it was to be sent. Where the sender itself is late, the message's latency says so.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus::time::{Clock, MonotonicTime, SystemClock};
use horus_gateway::client::{ClientError, Connection};
use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::{Head, Type};

/// Before this long, the sender sleeps; after it, it spins.
const SPIN: Duration = Duration::from_micros(60);

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub rate: f64,
    pub count: u64,
    pub bytes: usize,
    pub batch: usize,
}

/// Where to.
pub enum Sink {
    Gateway(Box<Connection>),
    Bare(TcpStream),
}

/// What was sent.
#[derive(Clone, Copy, Debug)]
pub struct Injected {
    pub sent: u64,
    pub began_ns: u64,
    pub ended_ns: u64,
}

/// The sender.
pub struct Injector {
    sink: Sink,
    plan: Plan,
    bytes: Vec<u8>,
}

impl Injector {
    pub fn new(sink: Sink, plan: Plan) -> Self {
        Self { sink, plan, bytes: Vec::new() }
    }

    /// Sends everything, and says in `ended` when that was.
    pub fn run(mut self, ended: &AtomicU64) -> Result<Injected, ClientError> {
        let Plan { rate, count, batch, .. } = self.plan;
        let began = MonotonicTime::now();
        let mut sent = 0;
        let outcome = loop {
            let messages = (batch as u64).min(count - sent);
            if messages == 0 {
                break Ok(());
            }
            let due = match rate > 0.0 {
                true => began.plus(Duration::from_secs_f64(sent as f64 / rate)),
                false => MonotonicTime::now(),
            };
            wait_until(due);
            if let Err(error) = self.send(sent, messages, due.as_nanos()) {
                break Err(error);
            }
            sent += messages;
        };
        let ended_ns = MonotonicTime::now().as_nanos();
        ended.store(ended_ns, Ordering::Relaxed); // the receiver's clock is the same
        outcome.map(|()| Injected { sent, began_ns: began.as_nanos(), ended_ns })
    }

    fn send(&mut self, first: u64, messages: u64, due_ns: u64) -> Result<(), ClientError> {
        self.bytes.clear();
        let mut message = vec![0; self.plan.bytes];
        for number in first..first + messages {
            message.fill(number as u8);
            message[..8].copy_from_slice(&due_ns.to_le_bytes());
            message[8..16].copy_from_slice(&number.to_le_bytes());
            match &self.sink {
                Sink::Gateway(_) if messages > 1 => {
                    batch::push(&mut self.bytes, &Item { sequence: 0, stamp_ns: 0, message: &message });
                }
                _ => self.bytes.extend(&message),
            }
        }
        match &mut self.sink {
            Sink::Gateway(connection) => {
                let kind = if messages > 1 { Type::Batch } else { Type::Message };
                connection.send(&Head { sequence: first, ..Head::new(kind, 1) }, &self.bytes)
            }
            Sink::Bare(stream) => Ok(stream.write_all(&self.bytes)?),
        }
    }
}

fn wait_until(due: MonotonicTime) {
    let now = MonotonicTime::now();
    if due.since(now) > SPIN {
        SystemClock.sleep_until(now.plus(due.since(now) - SPIN));
    }
    while MonotonicTime::now() < due {
        std::hint::spin_loop();
    }
}
