//! A client of the gateway, for programs in Rust: `horus tap`, `horus bench gateway`, tests. It waits; a program that must not wait
//! uses [`crate::frame`] on a socket of its own.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use horus_sys::clock::monotonic_ns;
use rustls::pki_types::ServerName;
use thiserror::Error;

use crate::frame::words::{self, Advertise, Subscribe, Topic, Welcome};
use crate::frame::{Damage, Decoder, Frame, Head, MAX_PAYLOAD_BYTES, Type, encode};
use crate::tls::Stream;

/// Certificates and whom they trust: [`Files::client`](crate::tls::Files::client) makes one.
pub type Identity = std::sync::Arc<rustls::ClientConfig>;

/// How long an answer is waited for, unless the caller has less time.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Where a gateway listens: `unix:PATH`, `tcp:ADDRESS:PORT` or `tls:NAME:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A TCP port.
    Tcp(String),
    /// A TCP port for which a certificate is needed.
    Tls(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("tcp", address)) if address.contains(':') => Ok(Self::Tcp(address.into())),
            Some(("tls", address)) if address.contains(':') => Ok(Self::Tls(address.into())),
            _ if text.starts_with('/') => Ok(Self::Unix(text.into())),
            _ => Err(format!(
                "{text:?} is no gateway's address: write unix:/run/horus/gateway/socket, tcp:127.0.0.1:7447 or tls:NAME:7447"
            )),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp(address) => write!(out, "tcp:{address}"),
            Self::Tls(address) => write!(out, "tls:{address}"),
        }
    }
}

/// Why a client cannot go on.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No program is there.
    #[error("cannot connect to {address}: {source}; does `horus gateway` run?")]
    Connect {
        /// Where.
        address: Address,
        /// What the kernel said.
        source: io::Error,
    },
    /// One side does not trust the other one.
    #[error("no connection by TLS: {0}; the gateway's journal has its side of it")]
    Untrusted(String),
    /// The connection broke.
    #[error("the connection to the gateway broke: {0}")]
    Broken(io::Error),
    /// The gateway closed the connection; its journal says why.
    #[error("the gateway closed the connection: its journal says why")]
    Closed,
    /// The gateway does not do what was asked for.
    #[error("the gateway refused: {0}")]
    Refused(String),
    /// There was no answer, or one that no gateway gives.
    #[error("the gateway did not answer as the protocol says")]
    NoAnswer,
    /// There was no answer in time.
    #[error("no answer within {0:?}: is that a gateway?")]
    Silent(Duration),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Self::Closed,
            ErrorKind::InvalidData => Self::Untrusted(error.to_string()),
            _ => Self::Broken(error),
        }
    }
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<Stream>),
}

impl Socket {
    fn set_read_timeout(&self, limit: Duration) -> io::Result<()> {
        let limit = Some(limit.max(Duration::from_micros(1)));
        match self {
            Self::Unix(stream) => stream.set_read_timeout(limit),
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Tls(stream) => stream.socket().set_read_timeout(limit),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
            Self::Tls(stream) => stream.read(into),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes),
        }
    }
}

/// A connection to a gateway.
pub struct Connection {
    socket: Socket,
    decoder: Decoder,
    welcome: Welcome,
    /// What came while an answer was waited for.
    kept: VecDeque<(Head, Vec<u8>)>,
    /// The frame that is lent.
    lent: Vec<u8>,
    out: Vec<u8>,
    sent_ns: u64,
    timeout: Duration,
    /// How long an answer is waited for.
    patience: Duration,
}

impl Connection {
    /// Connects, and says who this is.
    ///
    /// # Errors
    /// When no program is there, or what is there is no gateway.
    pub fn open(address: &Address, name: &str) -> Result<Self, ClientError> {
        Self::open_as(address, name, None)
    }

    /// Connects with a certificate, which an address with `tls:` needs.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when one side does not trust the other one.
    pub fn open_as(address: &Address, name: &str, identity: Option<&Identity>) -> Result<Self, ClientError> {
        Self::open_within(address, name, identity, PATIENCE)
    }

    /// As [`open_as`](Self::open_as), where each answer is waited for no longer than `patience`; [`PATIENCE`] otherwise.
    ///
    /// # Errors
    /// As there, and [`ClientError::Silent`].
    pub fn open_within(
        address: &Address,
        name: &str,
        identity: Option<&Identity>,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let connect = |source| ClientError::Connect { address: address.clone(), source };
        let patience = patience.max(Duration::from_millis(1)); // of none, the kernel makes an error
        let tcp = |place: &str| {
            let mut outcome = Err(io::Error::from(ErrorKind::AddrNotAvailable));
            for address in place.to_socket_addrs().map_err(connect)? {
                outcome = TcpStream::connect_timeout(&address, patience);
                if outcome.is_ok() {
                    break;
                }
            }
            let stream = outcome.map_err(connect)?;
            stream.set_nodelay(true)?;
            Ok::<_, ClientError>(stream)
        };
        let socket = match (address, identity) {
            (Address::Unix(path), _) => Socket::Unix(UnixStream::connect(path).map_err(connect)?),
            (Address::Tcp(place), _) => Socket::Tcp(tcp(place)?),
            (Address::Tls(_), None) => return Err(ClientError::Untrusted("this client has no certificate".into())),
            (Address::Tls(place), Some(identity)) => {
                let host = place.rsplit_once(':').map_or("", |(host, _port)| host).trim_matches(['[', ']']);
                let host =
                    ServerName::try_from(host.to_owned()).map_err(|error| ClientError::Untrusted(error.to_string()))?;
                Socket::Tls(Box::new(Stream::client(tcp(place)?, identity, host)?))
            }
        };
        let mut connection = Self {
            socket,
            decoder: Decoder::new(MAX_PAYLOAD_BYTES),
            welcome: Welcome { instance: 0, heartbeat_ms: u32::MAX, max_payload: 0 },
            kept: VecDeque::new(),
            lent: Vec::new(),
            out: Vec::new(),
            sent_ns: monotonic_ns(),
            timeout: Duration::ZERO,
            patience,
        };
        connection.send(&Head::new(Type::Hello, 0), &words::text(name))?;
        let payload = connection.answer(Type::Welcome, 0)?;
        connection.welcome = Welcome::read(&payload).ok_or(ClientError::NoAnswer)?;
        Ok(connection)
    }

    /// Has answers waited for no longer than so long from now on.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// What the gateway said of itself.
    pub fn welcome(&self) -> Welcome {
        self.welcome
    }

    /// Subscribes to a topic, on a channel that is not in use.
    ///
    /// # Errors
    /// When the gateway refuses.
    pub fn subscribe(&mut self, channel: u32, wanted: &Subscribe) -> Result<Topic, ClientError> {
        self.ask(Type::Subscribe, channel, &wanted.payload())
    }

    /// Becomes a publisher of a topic, on a channel that is not in use.
    ///
    /// # Errors
    /// When the gateway refuses.
    pub fn advertise(&mut self, channel: u32, wanted: &Advertise) -> Result<Topic, ClientError> {
        self.ask(Type::Advertise, channel, &wanted.payload())
    }

    fn ask(&mut self, kind: Type, channel: u32, payload: &[u8]) -> Result<Topic, ClientError> {
        self.send(&Head::new(kind, channel), payload)?;
        let payload = self.answer(Type::Topic, channel)?;
        Topic::read(&payload).ok_or(ClientError::NoAnswer)
    }

    /// The answer to what was just sent; what comes before it is kept.
    fn answer(&mut self, wanted: Type, channel: u32) -> Result<Vec<u8>, ClientError> {
        let until = monotonic_ns().saturating_add(self.patience.as_nanos() as u64);
        loop {
            let left = Duration::from_nanos(until.saturating_sub(monotonic_ns()));
            if left.is_zero() {
                return Err(ClientError::Silent(self.patience));
            }
            let Some(Frame { head, payload }) = self.next_of_socket(left)? else { continue };
            if head.channel == channel && head.kind == Type::Refused {
                return Err(ClientError::Refused(words::read_text(payload).unwrap_or_default()));
            }
            let payload = payload.to_vec();
            if head.channel == channel && head.kind == wanted {
                return Ok(payload);
            }
            self.kept.push_back((head, payload));
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn send(&mut self, head: &Head, payload: &[u8]) -> Result<(), ClientError> {
        self.out.clear();
        encode(&mut self.out, head, payload);
        let written = self.socket.write_all(&self.out);
        self.wrote(written)
    }

    /// Sends any bytes: several frames at once, or what is none.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        let written = self.socket.write_all(bytes);
        self.wrote(written)
    }

    fn wrote(&mut self, written: io::Result<()>) -> Result<(), ClientError> {
        self.sent_ns = monotonic_ns();
        Ok(written?)
    }

    /// The next frame; `None` when none comes within `limit`. Says meanwhile that this client is there.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn receive(&mut self, limit: Duration) -> Result<Option<Frame<'_>>, ClientError> {
        if let Some((head, payload)) = self.kept.pop_front() {
            self.lent = payload;
            return Ok(Some(Frame { head, payload: &self.lent }));
        }
        self.next_of_socket(limit)
    }

    fn next_of_socket(&mut self, limit: Duration) -> Result<Option<Frame<'_>>, ClientError> {
        let until = monotonic_ns().saturating_add(limit.as_nanos() as u64);
        let heartbeat = Duration::from_millis(self.welcome.heartbeat_ms.into());
        loop {
            // A frame that is lent ends the loop, which the compiler does not see.
            if self.decoder.is_ready() {
                return Ok(self.decoder.next());
            }
            let now = monotonic_ns();
            if now.saturating_sub(self.sent_ns) >= heartbeat.as_nanos() as u64 {
                self.send(&Head::new(Type::Heartbeat, 0), &[])?;
            }
            let left = Duration::from_nanos(until.saturating_sub(now)).min(heartbeat);
            if left != self.timeout {
                self.socket.set_read_timeout(left)?;
                self.timeout = left;
            }
            match self.socket.read(self.decoder.room()) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(bytes) => self.decoder.filled(bytes),
                // A machine that was frozen for a moment interrupts a socket that has a time limit: signal(7).
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
                {
                    if monotonic_ns() >= until {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the next frame is here already: for a program that has something else to do than wait, such as the comparison with rivals.
    pub fn has_frame(&mut self) -> bool {
        !self.kept.is_empty() || self.decoder.is_ready()
    }

    /// What came that was no frame.
    pub fn damage(&self) -> Damage {
        self.decoder.damage()
    }
}
