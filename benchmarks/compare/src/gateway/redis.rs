//! Redis, publish and subscribe: its protocol by hand (RESP2), many commands a write where messages come together.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use horus_benchmarks::gateway::system::REDIS;
use horus_benchmarks::transport::Failure;

use super::bare::{Buffered, connect};
use super::child::Child;
use super::plan::Plan;
use super::way::{Receiving, Sending, System, Way};

/// The server of the distribution, without anything on disk and without a bound on what waits for a subscriber.
pub const SYSTEM: System = System { name: REDIS, open };
const PATIENCE: Duration = Duration::from_secs(20);
const SUBSCRIBED: &[u8] = b"*3\r\n$9\r\nsubscribe\r\n$5\r\nbench\r\n:1\r\n";

fn open(plan: &Plan) -> Result<Way, Failure> {
    // A port that was free a moment ago: the server has no way to say which one it took.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut server = Command::new("redis-server");
    server.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    server.args(["--client-output-buffer-limit", "pubsub 0 0 0"]).stdout(Stdio::null());
    let middle = Child::start(&mut server)?;
    let place = format!("127.0.0.1:{port}");
    let until = Instant::now() + PATIENCE;
    let sending = loop {
        match connect(&place) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > until => return Err(error),
            Err(_) => std::thread::yield_now(),
        }
    };
    let mut receiving = connect(&place)?;
    receiving.write_all(b"*2\r\n$9\r\nSUBSCRIBE\r\n$5\r\nbench\r\n")?;
    let mut answer = [0; SUBSCRIBED.len()];
    receiving.read_exact(&mut answer)?;
    if answer != SUBSCRIBED {
        return Err("the server on Redis's port does not answer as Redis does".into());
    }
    // It answers each command; a thread has to read that.
    let mut answers = sending.try_clone()?;
    answers.set_read_timeout(None)?;
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while answers.read(&mut bytes).is_ok_and(|read| read > 0) {}
    });
    let before = |words: &str| format!("*3\r\n$7\r\n{words}\r\n$5\r\nbench\r\n${}\r\n", plan.bytes).into_bytes();
    let sending = Sender { socket: sending, before: before("PUBLISH"), bytes: plan.bytes, out: Vec::new() };
    let receiving = Receiver { socket: Buffered::new(receiving), before: before("message"), bytes: plan.bytes };
    Ok(Way { sending: Box::new(sending), receiving: Box::new(receiving), middle: Box::new(middle) })
}

struct Sender {
    socket: TcpStream,
    before: Vec<u8>,
    bytes: usize,
    out: Vec<u8>,
}

impl Sending for Sender {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        self.out.clear();
        for message in messages.chunks_exact(self.bytes) {
            [&self.before[..], message, b"\r\n"].iter().for_each(|part| self.out.extend_from_slice(part));
        }
        Ok(self.socket.write_all(&self.out)?)
    }
}

struct Receiver {
    socket: Buffered,
    before: Vec<u8>,
    bytes: usize,
}

impl Receiving for Receiver {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        self.socket.fill()?;
        let length = self.before.len() + self.bytes + 2;
        let whole = self.socket.bytes().len() / length * length;
        for push in self.socket.bytes()[..whole].chunks_exact(length) {
            let message = push.strip_prefix(&self.before[..]).ok_or("Redis sent something that is no message")?;
            each(&message[..self.bytes]);
        }
        self.socket.consume(whole);
        Ok(())
    }
}
