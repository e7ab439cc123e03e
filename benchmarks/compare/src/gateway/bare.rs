//! The least that can be in the middle: a process that copies bytes from one TCP connection to another, and knows nothing of messages.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use horus_benchmarks::gateway::system::RELAY;
use horus_benchmarks::transport::Failure;

use super::child::Child;
use super::plan::Plan;
use super::polling;
use super::way::{Receiving, Sending, System, Way};

/// How long a read waits.
pub const LOOK: Duration = Duration::from_millis(50);
/// What is read at a time.
const READ_BYTES: usize = 64 << 10;

/// The relay.
pub const SYSTEM: System = System { name: RELAY, open: |plan| open(plan, String::new()) };
/// The relay, which never sleeps and has a CPU of its own.
pub const POLLING: System = System { name: RELAY, open: |plan| open(plan, polling::argument()) };

/// What the process in the middle does.
///
/// # Errors
/// When a connection breaks.
pub fn relay(argument: &str) -> Result<(), Failure> {
    let is_polling = polling::begin(argument)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let accept = || -> Result<TcpStream, Failure> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let (mut from, mut to) = (accept()?, accept()?);
    from.set_nonblocking(is_polling)?;
    let mut bytes = vec![0; READ_BYTES];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&bytes[..read])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Connects to a port without delay of small messages.
///
/// # Errors
/// When no program listens.
pub fn connect(place: &str) -> Result<TcpStream, Failure> {
    let stream = TcpStream::connect(place).map_err(|error| format!("{place}: {error}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    Ok(stream)
}

fn open(plan: &Plan, argument: String) -> Result<Way, Failure> {
    let (middle, [place]) = Child::role("relay", &argument)?;
    let (sending, receiving) = (connect(&place)?, connect(&place)?);
    Ok(Way {
        sending: Box::new(sending),
        receiving: Box::new(Stream { bytes: plan.bytes, socket: Buffered::new(receiving) }),
        middle: Box::new(middle),
    })
}

impl Sending for TcpStream {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        Ok(self.write_all(messages)?)
    }
}

/// Messages of one length, one behind the other.
struct Stream {
    bytes: usize,
    socket: Buffered,
}

impl Receiving for Stream {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        self.socket.fill()?;
        let whole = self.socket.bytes().len() / self.bytes * self.bytes;
        self.socket.bytes()[..whole].chunks_exact(self.bytes).for_each(each);
        self.socket.consume(whole);
        Ok(())
    }
}

/// What was read and is not taken yet.
pub struct Buffered {
    socket: TcpStream,
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Buffered {
    /// Nothing yet.
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, bytes: vec![0; 4 * READ_BYTES], begin: 0, end: 0 }
    }

    /// Reads once.
    ///
    /// # Errors
    /// When the connection is at its end.
    pub fn fill(&mut self) -> Result<(), Failure> {
        self.bytes.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        match self.socket.read(&mut self.bytes[self.end..]) {
            Ok(0) => Err("the process in the middle closed the connection".into()),
            Ok(read) => {
                self.end += read;
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What is there.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// So many bytes are taken.
    pub fn consume(&mut self, bytes: usize) {
        self.begin += bytes;
    }
}
