//! The gateway as it is: a process of its own, TCP on this machine, a topic of bytes that goes both ways.

use std::path::PathBuf;
use std::time::Duration;

use horus_benchmarks::gateway::system::GATEWAY;
use horus_benchmarks::transport::Failure;
use horus_gateway::client::{Address, Connection};
use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Advertise, Begin, Subscribe, WhenFull};
use horus_gateway::frame::{Head, Type, encode};
use horus_gateway::server::Server;
use horus_gateway::server::config::{Config, Listen};
use horus_shm::directory::Directory;

use super::bare::LOOK;
use super::child::{Child, allow_files};
use super::plan::Plan;
use super::polling;
use super::way::{Receiving, Sending, System, Way};

/// As it is set up usually.
pub const SYSTEM: System = System { name: GATEWAY, open: |plan| open(plan, USUAL) };
/// With a log that a kill does not harm.
pub const LOGGED: System = System { name: "horus-gateway-log", open: |plan| open(plan, LOG) };
/// One that never sleeps and has a CPU of its own.
pub const POLLING: System = System { name: GATEWAY, open: |plan| open(plan, &polling::argument()) };
/// Kinds of gateways beside one that polls, which is called by its CPU.
const USUAL: &str = "usual";
const LOG: &str = "log";
/// A gateway for a crowd of clients.
pub const CROWD: &str = "crowd";

/// What the process in the middle does.
///
/// # Errors
/// When it cannot begin.
pub fn gateway(argument: &str) -> Result<(), Failure> {
    let (bytes, kind) = argument.split_once(' ').ok_or("a gateway needs bytes and its kind")?;
    let (topics, files) = (tempfile::tempdir_in("/dev/shm")?, tempfile::tempdir()?);
    let mut config = settings(bytes.parse()?, kind)?;
    config.log_directory = files.path().join("log");
    if kind == CROWD {
        config.listen.push(Listen::Unix { unix: files.path().join("socket"), mode: "0600".to_owned() });
    }
    if config.look_every_us == 0 {
        polling::begin(kind)?;
    }
    allow_files()?;
    let stop = horus::stop::on_termination()?;
    let mut server = Server::open(config, Directory::at(topics.path())?)?;
    server.addresses().iter().for_each(|address| println!("{address}"));
    Ok(server.run(&stop)?)
}

/// The settings of a gateway for messages of so many bytes.
///
/// # Errors
/// When the gateway does not take them.
pub fn settings(bytes: usize, kind: &str) -> Result<Config, Failure> {
    let (first, limits, log) = match kind {
        USUAL => ("", "queue_bytes = 67108864", ""),
        LOG => ("", "queue_bytes = 67108864", "log = { durability = \"none\" }"),
        CROWD => ("", "clients = 1100\nqueue_bytes = 65536\npayload_bytes = 16384", ""),
        _polling => ("look_every_us = 0", "queue_bytes = 67108864", ""),
    };
    let settings = format!(
        "listen = [{{ tcp = \"127.0.0.1:0\" }}]\n{first}\n[limits]\n{limits}\nheartbeat_ms = 60000\n\
         [topics.bench]\ndirection = \"both\"\nbytes = {bytes}\ncapacity = 1024\n{log}\n",
    );
    Ok(settings.parse()?)
}

fn open(plan: &Plan, kind: &str) -> Result<Way, Failure> {
    let (middle, address) = start(plan.bytes, kind)?;
    let sending = sender(&address, plan.bytes)?;
    let mut receiving = Connection::open(&address, "receiver")?;
    let when_full = WhenFull::DropOldest;
    receiving.subscribe(1, &Subscribe { begin: Begin::Now, when_full, topic: "bench".into() })?;
    Ok(Way { sending: Box::new(sending), receiving: Box::new(Receiver(receiving)), middle: Box::new(middle) })
}

/// Starts a gateway of a kind.
fn start(bytes: usize, kind: &str) -> Result<(Child, Address), Failure> {
    let (middle, [place]) = Child::role("gateway", &format!("{bytes} {kind}"))?;
    Ok((middle, place.parse()?))
}

/// Starts a gateway for a crowd; the path is that of its Unix socket.
///
/// # Errors
/// When it ends at once.
pub fn start_crowd(bytes: usize) -> Result<(Child, Address, PathBuf), Failure> {
    let (middle, [place, near]) = Child::role("gateway", &format!("{bytes} {CROWD}"))?;
    let Address::Unix(near) = near.parse()? else { return Err("the gateway has no Unix socket".into()) };
    Ok((middle, place.parse()?, near))
}

/// Connects a sender.
///
/// # Errors
/// When the gateway refuses.
pub fn sender(address: &Address, bytes: usize) -> Result<Sender, Failure> {
    let mut connection = Connection::open(address, "sender")?;
    connection.advertise(1, &Advertise { layout_hash: 0, topic: "bench".into() })?;
    Ok(Sender { connection, bytes, payload: Vec::new(), frame: Vec::new() })
}

/// The sender's end.
pub struct Sender {
    connection: Connection,
    bytes: usize,
    payload: Vec<u8>,
    frame: Vec<u8>,
}

impl Sending for Sender {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        self.frame.clear();
        if messages.len() == self.bytes {
            encode(&mut self.frame, &Head::new(Type::Message, 1), messages);
        } else {
            self.payload.clear();
            for message in messages.chunks_exact(self.bytes) {
                batch::push(&mut self.payload, &Item { sequence: 0, stamp_ns: 0, message });
            }
            encode(&mut self.frame, &Head::new(Type::Batch, 1), &self.payload);
        }
        Ok(self.connection.send_bytes(&self.frame)?)
    }
}

struct Receiver(Connection);

impl Receiving for Receiver {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let mut wait: Duration = LOOK;
        // All that came by one read.
        while let Some(frame) = self.0.receive(wait)? {
            match frame.head.kind {
                Type::Message => each(frame.payload),
                Type::Batch => batch::items(frame.payload).into_iter().flatten().for_each(|item| each(item.message)),
                _ => {}
            }
            if !self.0.has_frame() {
                break;
            }
            wait = Duration::ZERO;
        }
        Ok(())
    }
}
