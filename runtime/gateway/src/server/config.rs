//! The gateway's settings: which topics go where, who is listened to, what everything may cost.
//!
//! Nothing is listened to and no topic is served unless it is written here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus_shm::directory::TopicName;
use serde::Deserialize;
use thiserror::Error;

use crate::frame::{HEAD_BYTES, MAX_PAYLOAD_BYTES};
use crate::log;
use crate::tls::Files;

/// All settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where clients connect.
    #[serde(default)]
    pub listen: Vec<Listen>,
    /// What clients may cost.
    #[serde(default)]
    pub limits: Limits,
    /// Where logs are; each topic has a directory there.
    #[serde(default = "log_directory")]
    pub log_directory: PathBuf,
    /// How often topics are looked at, in microseconds; 0 for all the time, which takes a whole CPU.
    #[serde(default = "look_every_us")]
    pub look_every_us: u32,
    /// The topics that are served.
    #[serde(default)]
    pub topics: BTreeMap<String, Topic>,
}

/// A place where clients connect.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "one of `unix = \"PATH\"`, with `mode = \"0660\"`, and `tcp = \"ADDRESS:PORT\"`, with \
                 `tls = { certificate = \"FILE\", key = \"FILE\", clients = \"FILE\" }`"
)]
pub enum Listen {
    /// A Unix socket: who may use it, its file's permissions say.
    Unix {
        /// The socket's file.
        unix: PathBuf,
        /// Its permissions, in octal digits.
        #[serde(default = "mode")]
        mode: String,
    },
    /// A TCP port: without TLS one of this machine's own, to which every user of the machine may connect.
    Tcp {
        /// Address and port; port 0 for any that is free.
        tcp: SocketAddr,
        /// How it is known who connects.
        tls: Option<Tls>,
    },
}

/// Certificates, as PEM files; relative paths begin at the settings' folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The gateway's own.
    pub certificate: PathBuf,
    /// Its key, which not everybody may read.
    pub key: PathBuf,
    /// Those of the authority that signs clients' certificates.
    pub clients: PathBuf,
}

impl Tls {
    pub(super) fn files(&self) -> Files {
        Files { certificate: self.certificate.clone(), key: self.key.clone(), authority: self.clients.clone() }
    }
}

/// What clients may cost.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Clients at a time.
    pub clients: usize,
    /// Bytes that wait for a client.
    pub queue_bytes: usize,
    /// The longest payload of a frame, in both directions.
    pub payload_bytes: usize,
    /// Channels of a client.
    pub channels: usize,
    /// How often the gateway says that it is there. A client that says nothing for three times as long is disconnected.
    pub heartbeat_ms: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { clients: 64, queue_bytes: 4 << 20, payload_bytes: 1 << 20, channels: 64, heartbeat_ms: 5_000 }
    }
}

/// A topic that is served.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Which way its messages go.
    pub direction: Direction,
    /// The type of its messages, if the gateway is to make the topic when no other program did: a message of crate `horus`.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The most bytes of a message, if the gateway is to make it a topic of bytes.
    pub bytes: Option<usize>,
    /// How many messages the topic holds, if the gateway makes it.
    #[serde(default = "capacity")]
    pub capacity: usize,
    /// How many publishers it has room for, if the gateway makes it; the gateway is one of them.
    #[serde(default = "publishers")]
    pub publishers: usize,
    /// Its log; without one there is none.
    pub log: Option<Log>,
}

/// Which way messages go, as seen from this machine.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Clients send.
    In,
    /// Clients receive.
    Out,
    /// Both.
    Both,
}

impl Direction {
    /// Whether clients may send.
    pub(crate) fn is_in(self) -> bool {
        self != Self::Out
    }

    /// Whether clients may receive.
    pub(crate) fn is_out(self) -> bool {
        self != Self::In
    }
}

/// A topic's log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// When messages are safe from a power cut.
    #[serde(default)]
    pub durability: Durability,
    /// With `interval`: how often the disk is asked.
    #[serde(default = "interval_ms")]
    pub interval_ms: u32,
    /// Bytes of its files together.
    #[serde(default = "keep_bytes")]
    pub keep_bytes: u64,
    /// How long messages are kept; without it, as long as there is room.
    pub keep_s: Option<u64>,
    /// Bytes of one of its files.
    #[serde(default = "segment_bytes")]
    pub segment_bytes: usize,
}

/// When messages are on the disk.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// When the kernel finds the time.
    None,
    /// Every so many milliseconds.
    #[default]
    Interval,
    /// Before anybody is told of them.
    Each,
}

fn log_directory() -> PathBuf {
    "/var/lib/horus/log".into()
}

fn look_every_us() -> u32 {
    1_000
}

fn mode() -> String {
    "0600".into()
}

fn capacity() -> usize {
    64
}

fn publishers() -> usize {
    1
}

fn interval_ms() -> u32 {
    100
}

fn keep_bytes() -> u64 {
    log::Options::default().keep_bytes
}

fn segment_bytes() -> usize {
    log::Options::default().segment_bytes
}

/// Why settings are not taken.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The text is not understood.
    #[error("{0}")]
    Text(#[from] toml::de::Error),
    /// It is understood, and cannot be.
    #[error("{0}")]
    Impossible(String),
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`] says which line is wrong, or what cannot be and why.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let mut config: Self = text.parse()?;
        // Certificates are named as they stand beside the settings.
        let place = path.parent().unwrap_or(Path::new(""));
        for listen in &mut config.listen {
            if let Listen::Tcp { tls: Some(Tls { certificate, key, clients }), .. } = listen {
                [certificate, key, clients].into_iter().for_each(|file| *file = place.join(&*file));
            }
        }
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let Limits { clients, queue_bytes, payload_bytes, channels, heartbeat_ms } = self.limits;
        if !(1..=100_000).contains(&clients) || !(1..=4_096).contains(&channels) {
            return Err("limits.clients is 1 to 100000, limits.channels 1 to 4096".into());
        }
        if !(1_024..=MAX_PAYLOAD_BYTES).contains(&payload_bytes) {
            return Err(format!("limits.payload_bytes is 1024 to {MAX_PAYLOAD_BYTES}"));
        }
        if queue_bytes < 2 * (HEAD_BYTES + payload_bytes) {
            return Err("limits.queue_bytes needs room for two frames of limits.payload_bytes".into());
        }
        if !(10..=600_000).contains(&heartbeat_ms) {
            return Err("limits.heartbeat_ms is 10 to 600000".into());
        }
        self.listen.iter().try_for_each(Listen::check)?;
        self.topics.iter().try_for_each(|(name, topic)| {
            name.parse::<TopicName>().map_err(|error| error.to_string())?;
            topic.check().map_err(|reason| format!("topic {name}: {reason}"))
        })
    }
}

impl std::str::FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)?;
        config.check().map_err(ConfigError::Impossible)?;
        Ok(config)
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix { unix, .. } => write!(out, "unix:{}", unix.display()),
            Self::Tcp { tcp, tls: None } => write!(out, "tcp:{tcp}"),
            Self::Tcp { tcp, tls: Some(_) } => write!(out, "tls:{tcp}"),
        }
    }
}

impl Listen {
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Unix { mode, .. } => parse_mode(mode).map(|_mode| ()).ok_or_else(|| {
                format!("mode = {mode:?}: write octal digits such as \"0660\"; the socket is never open to everybody")
            }),
            // Who can reach the port could read and write every topic that is served.
            Self::Tcp { tcp, tls: None } if !tcp.ip().is_loopback() => Err(format!(
                "tcp = \"{tcp}\" can be reached from other machines, and the gateway could not tell who connects: add \
                 `tls = {{ certificate = \"FILE\", key = \"FILE\", clients = \"FILE\" }}`, or listen on 127.0.0.1 or a Unix \
                 socket and let SSH forward it"
            )),
            Self::Tcp { .. } => Ok(()),
        }
    }
}

/// The permissions that octal digits say, unless they let everybody in.
pub(super) fn parse_mode(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|mode| mode & !0o770 == 0)
}

impl Topic {
    fn check(&self) -> Result<(), String> {
        if self.type_name.is_some() && self.bytes.is_some() {
            return Err("it has a `type` or `bytes`, not both".into());
        }
        if let Some(name) = &self.type_name
            && definition(name).is_none()
        {
            return Err(format!(
                "type = {name:?} is no message of crate horus: leave it out, and start a program that makes the topic"
            ));
        }
        self.log.as_ref().map_or(Ok(()), |log| {
            let options = log.options(log::Kind::default());
            options.check().map_err(|error| error.to_string())
        })
    }
}

/// The message of crate `horus` of that name.
pub(super) fn definition(name: &str) -> Option<&'static horus::messages::Definition> {
    horus::messages::ALL.iter().find(|known| known.type_name == name)
}

impl Log {
    pub(super) fn options(&self, kind: log::Kind) -> log::Options {
        let durability = match self.durability {
            Durability::None => log::Durability::None,
            Durability::Interval => log::Durability::Interval(Duration::from_millis(self.interval_ms.into())),
            Durability::Each => log::Durability::Each,
        };
        let keep = self.keep_s.map(Duration::from_secs);
        log::Options { segment_bytes: self.segment_bytes, keep_bytes: self.keep_bytes, keep, durability, kind }
    }
}
