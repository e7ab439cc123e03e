//! One client: its connection, its channels, what waits for it, and what it may ask.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};

use horus_sys::clock::monotonic_ns;

use super::config::Limits;
use super::queue::{Overflow, Queue};
use super::socket::Socket;
use crate::frame::words::{Heartbeat, WhenFull};
use crate::frame::{Decoder, Head, Type, words};
use crate::log::Reader;

/// What a channel is for.
pub enum Channel {
    /// The client gets a topic's messages.
    Out {
        /// The topic's place in the list.
        topic: usize,
        /// What to do when the client does not read.
        when_full: WhenFull,
        /// What it still has to get of the log, before what comes.
        replay: Option<Reader>,
    },
    /// The client sends a topic messages.
    In {
        /// The topic's place in the list.
        topic: usize,
    },
}

/// Why a client is no more.
#[derive(Debug)]
pub enum Gone {
    /// It closed the connection.
    Left,
    /// The connection broke.
    Broken(io::Error),
    /// It did not read what it asked for.
    Slow,
    /// It was silent for too long.
    Silent,
    /// The gateway ends.
    Ended,
    /// It has no certificate that counts here, or speaks no TLS where it is needed.
    Untrusted(io::Error),
    /// It had not said who it is, and its place was needed.
    Displaced,
    /// It did what the protocol forbids.
    Mistaken(&'static str),
}

impl std::fmt::Display for Gone {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Left => out.write_str("it left"),
            Self::Broken(error) => write!(out, "its connection broke: {error}"),
            Self::Slow => {
                out.write_str("it did not read, and had asked to be disconnected then, or its answers filled the queue")
            }
            Self::Silent => out.write_str("it was silent for three heartbeats"),
            Self::Ended => out.write_str("the gateway ended"),
            Self::Untrusted(error) => write!(out, "it is not let in: {error}"),
            Self::Displaced => out.write_str("it had not said hello yet, and its place was needed"),
            Self::Mistaken(what) => out.write_str(what),
        }
    }
}

impl From<Overflow> for Gone {
    fn from(_: Overflow) -> Self {
        Self::Slow
    }
}

/// A client.
pub struct Client {
    pub socket: Socket,
    pub name: String,
    pub decoder: Decoder,
    pub queue: Queue,
    pub channels: HashMap<u32, Channel>,
    pub is_greeted: bool,
    /// When something came from it last.
    pub heard_ns: u64,
    /// When it was told last that the gateway is there.
    pub told_ns: u64,
    /// Messages taken from it.
    pub taken: u64,
    /// Whether the kernel is asked to say when it can be written to.
    pub is_waiting_to_write: bool,
}

impl Client {
    pub fn new(socket: Socket, name: String, limits: &Limits) -> Self {
        let now = monotonic_ns();
        Self {
            socket,
            name,
            decoder: Decoder::new(limits.payload_bytes),
            queue: Queue::new(limits.queue_bytes),
            channels: HashMap::new(),
            is_greeted: false,
            heard_ns: now,
            told_ns: now,
            taken: 0,
            is_waiting_to_write: false,
        }
    }

    /// Reads once what there is; false if there was nothing.
    pub fn read(&mut self) -> Result<bool, Gone> {
        let room = self.decoder.room();
        match self.socket.read(room) {
            Ok(0) => Err(Gone::Left),
            Ok(bytes) => {
                self.decoder.filled(bytes);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(Gone::Left),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Gone::Untrusted(error)),
            Err(error) => Err(Gone::Broken(error)),
        }
    }

    /// Writes what waits, as far as the client takes it; true when nothing is left.
    pub fn write(&mut self) -> Result<bool, Gone> {
        // What TLS has encrypted and could not send counts as well.
        match self.queue.write(&mut self.socket).and_then(|is_empty| self.socket.flush().map(|()| is_empty)) {
            Ok(is_empty) => Ok(is_empty),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Ok(false),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Err(Gone::Left),
                _ => Err(Gone::Broken(error)),
            },
        }
    }

    /// Answers a frame of its.
    pub fn answer(&mut self, kind: Type, channel: u32, sequence: u64, payload: &[u8]) -> Result<(), Overflow> {
        let head = Head { sequence, stamp_ns: monotonic_ns(), ..Head::new(kind, channel) };
        self.queue.answer(&head, payload)
    }

    /// Says that something is not done, and why.
    pub fn refuse(&mut self, channel: u32, sequence: u64, why: &str) -> Result<(), Overflow> {
        self.answer(Type::Refused, channel, sequence, &words::text(why))
    }

    /// The topics on its channels; each once.
    pub fn topics(&self) -> BTreeSet<usize> {
        let topic = |channel: &Channel| match channel {
            Channel::Out { topic, .. } | Channel::In { topic } => *topic,
        };
        self.channels.values().map(topic).collect()
    }

    /// Its exact account, without what became of its topics' logs.
    pub fn counts(&self) -> Heartbeat {
        let (sent, dropped) = self.queue.counts();
        Heartbeat { sent, dropped, taken: self.taken, damaged: self.decoder.damage().total(), ..Heartbeat::default() }
    }
}
