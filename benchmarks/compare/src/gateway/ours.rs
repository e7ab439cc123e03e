//! The gateway as it is: a process of its own, TCP on this machine, a topic of bytes that goes both ways.

use std::path::Path;
use std::time::Duration;

use horus_benchmarks::transport::Failure;
use horus_gateway::client::{Address, Connection};
use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Advertise, Begin, Subscribe, WhenFull};
use horus_gateway::frame::{Head, Type, encode};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;

use super::bare::LOOK;
use super::child::Child;
use super::plan::Plan;
use super::way::{Receiving, Sending, System, Way};

/// As it is set up usually.
pub const SYSTEM: System = System { name: "horus-gateway", open: |plan| open(plan, "") };
/// With a log that a kill does not harm.
pub const LOGGED: System = System { name: "horus-gateway-log", open: |plan| open(plan, "log") };

/// What the process in the middle does.
///
/// # Errors
/// When it cannot begin.
pub fn gateway(bytes: &str) -> Result<(), Failure> {
    let (bytes, more) = bytes.split_once(' ').unwrap_or((bytes, ""));
    let (limits, log) = match more {
        "crowd" => ("clients = 1100\nqueue_bytes = 262144\npayload_bytes = 65536", ""),
        _ => ("queue_bytes = 67108864", more),
    };
    let (topics, files) = (tempfile::tempdir_in("/dev/shm")?, tempfile::tempdir()?);
    let log = if log.is_empty() { "" } else { "log = { durability = \"none\" }\n" };
    let place = Path::new("log");
    let settings = format!(
        "listen = [{{ tcp = \"127.0.0.1:0\" }}]\nlog_directory = \"{}\"\n[limits]\n{limits}\nheartbeat_ms = 60000\n\
         [topics.bench]\ndirection = \"both\"\nbytes = {bytes}\ncapacity = 1024\n{log}",
        files.path().join(place).display(),
    );
    super::crowd::allow_files()?;
    let stop = horus::stop::on_termination()?;
    let mut server = Server::open(settings.parse::<Config>()?, Directory::at(topics.path())?)?;
    println!("{}", server.addresses()[0]);
    Ok(server.run(&stop)?)
}

fn open(plan: &Plan, log: &str) -> Result<Way, Failure> {
    let (middle, address) = start(plan.bytes, log)?;
    let sending = sender(&address, plan.bytes)?;
    let mut receiving = Connection::open(&address, "receiver")?;
    let when_full = WhenFull::DropOldest;
    receiving.subscribe(1, &Subscribe { begin: Begin::Now, when_full, topic: "bench".into() })?;
    Ok(Way { sending: Box::new(sending), receiving: Box::new(Receiver(receiving)), middle })
}

/// Starts a gateway; `kind` is "", "log" or "crowd".
///
/// # Errors
/// When it ends at once.
pub fn start(bytes: usize, kind: &str) -> Result<(Child, Address), Failure> {
    let (middle, [place]) = Child::role("gateway", &format!("{bytes} {kind}"))?;
    Ok((middle, place.parse()?))
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
