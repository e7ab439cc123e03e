//! The receiver: looks at every byte of every message, and knows each by its number.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use horus_gateway::client::{ClientError, Connection};
use horus_gateway::frame::{Type, batch};
use horus_measure::meter::Meter;
use horus_sys::clock::monotonic_ns;

use super::inject::Plan;

/// How long after the last message was sent a missing one is waited for.
const PATIENCE_NS: u64 = 2_000_000_000;
/// How long a wait for bytes is at most.
const LOOK: Duration = Duration::from_millis(50);

/// Where from.
pub enum Source {
    Gateway(Box<Connection>),
    Bare(TcpStream),
}

/// What came.
#[derive(Default)]
pub struct Received {
    pub latency: Meter,
    pub messages: u64,
    pub twice: u64,
    pub out_of_order: u64,
    pub wrong: u64,
    pub last_ns: u64,
    seen: Vec<bool>,
    highest: Option<u64>,
}

/// The receiver's thread.
pub struct Receiver(JoinHandle<Result<Received, ClientError>>);

impl Receiver {
    /// Begins to receive; `ended` says when the sender was through, or 0.
    pub fn start(mut source: Source, plan: Plan, ended: Arc<AtomicU64>) -> Self {
        Self(std::thread::spawn(move || {
            let mut received = Received { seen: vec![false; plan.count as usize], ..Received::default() };
            let mut bytes = Vec::new();
            while received.messages < plan.count {
                let ended_ns = ended.load(Ordering::Relaxed);
                if ended_ns > 0 && monotonic_ns() > ended_ns.max(received.last_ns) + PATIENCE_NS {
                    break;
                }
                match &mut source {
                    Source::Gateway(connection) => received.take_frame(connection, plan.bytes)?,
                    Source::Bare(stream) => received.take_bytes(stream, &mut bytes, plan.bytes)?,
                }
            }
            Ok(received)
        }))
    }

    /// What came in all.
    pub fn join(self) -> Result<Received, ClientError> {
        self.0.join().expect("a panic there was printed there")
    }
}

impl Received {
    fn take_frame(&mut self, connection: &mut Connection, wanted: usize) -> Result<(), ClientError> {
        let Some(frame) = connection.receive(LOOK)? else { return Ok(()) };
        let now = monotonic_ns();
        match frame.head.kind {
            Type::Message => self.take(frame.payload, wanted, now),
            Type::Batch => {
                batch::items(frame.payload).into_iter().flatten().for_each(|item| self.take(item.message, wanted, now));
            }
            _ => {}
        }
        Ok(())
    }

    fn take_bytes(&mut self, stream: &mut TcpStream, bytes: &mut Vec<u8>, wanted: usize) -> std::io::Result<()> {
        let before = bytes.len();
        bytes.resize(before + (64 << 10), 0);
        let read = match stream.read(&mut bytes[before..]) {
            Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                Ok(0)
            }
            other => other,
        }?;
        let now = monotonic_ns();
        bytes.truncate(before + read);
        let whole = bytes.len() / wanted * wanted;
        bytes[..whole].chunks_exact(wanted).for_each(|message| self.take(message, wanted, now));
        bytes.drain(..whole);
        Ok(())
    }

    fn take(&mut self, message: &[u8], wanted: usize, now_ns: u64) {
        let word = |at: usize| message.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let (Some(due_ns), Some(number)) = (word(0), word(8)) else { return self.wrong += 1 };
        let Some(seen) = usize::try_from(number).ok().and_then(|number| self.seen.get_mut(number)) else {
            return self.wrong += 1;
        };
        if message.len() != wanted || message[16..].iter().any(|byte| *byte != number as u8) {
            self.wrong += 1;
        } else if std::mem::replace(seen, true) {
            self.twice += 1;
        } else {
            self.messages += 1;
            self.out_of_order += u64::from(self.highest.is_some_and(|highest| number < highest));
            self.highest = self.highest.max(Some(number));
            self.latency.record(now_ns.saturating_sub(due_ns), number);
            self.last_ns = now_ns;
        }
    }
}
