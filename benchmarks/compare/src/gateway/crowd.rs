//! A thousand clients of one topic, without and with one that never reads and one that sends garbage all the time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use horus_benchmarks::gateway::system::{GATEWAY, TROUBLED};
use horus_benchmarks::transport::Failure;
use horus_gateway::client::Address;
use horus_gateway::frame::words::{Begin, Subscribe, WhenFull, text};
use horus_gateway::frame::{Decoder, HEAD_BYTES, Head, Type, batch, encode};
use horus_measure::meter::Meter;
use horus_sys::clock::monotonic_ns;
use rustix::event::{Timespec, epoll};

use super::child::allow_files;
use super::load::{Outcome, wait_until};
use super::ours;
use super::plan::{Known, Plan};
use super::way::Sending;

/// Without, and with trouble.
pub const SYSTEMS: [&str; 2] = [GATEWAY, TROUBLED];
const CLIENTS: usize = 1_000;
const PATIENCE_NS: u64 = 5_000_000_000;
/// Channels of the slow client, so that what waits for it fills what the kernel keeps, and then its queue. The kernel keeps little of a
/// Unix socket's bytes, and megabytes of a TCP connection's.
const SLOW_CHANNELS: u32 = 64;
/// How often garbage is sent, and how much.
const GARBAGE_NS: u64 = 1_000_000;
const GARBAGE_BYTES: usize = 2_000;

/// One of many: what is read of it is looked at when the kernel says that there is something.
struct Client<S = TcpStream> {
    socket: S,
    decoder: Decoder,
    highest: Option<u64>,
}

/// The gateway's memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The most that it had.
    pub most: u64,
    /// What its settings allow: what it had before the first client, and for each client `queue_bytes` and the longest frame.
    pub bound: u64,
}

/// What all of the thousand got together, and the gateway's memory.
///
/// # Errors
/// When a connection breaks.
pub fn run(with_trouble: bool, plan: &Plan) -> Result<(Outcome, Memory), Failure> {
    allow_files()?;
    let (middle, address, near) = ours::start_crowd(plan.bytes)?;
    let at_first = middle.peak_memory()?;
    let Address::Tcp(place) = &address else { return Err("the gateway does not listen on TCP".into()) };
    let mut sender = ours::sender(&address, plan.bytes)?;
    let clients: Vec<Client> = (0..CLIENTS).map(|_| subscribe(connect(place)?, 1)).collect::<Result<_, _>>()?;
    let stop = Arc::new(AtomicBool::new(false));
    let trouble = match with_trouble {
        true => Some((subscribe(UnixStream::connect(near)?, SLOW_CHANNELS)?, garbage(place, Arc::clone(&stop))?)),
        false => None,
    };
    let ended_ns = Arc::new(AtomicU64::new(0));
    let (receiver, plan) = (Arc::clone(&ended_ns), *plan);
    let receiver = std::thread::spawn(move || receive(clients, &plan, &receiver).map_err(|error| error.to_string()));
    wait_until(monotonic_ns() + 300_000_000);
    let began = monotonic_ns();
    let mut bytes = Vec::new();
    for number in 0..plan.count {
        let due_ns = began + (number as f64 / plan.rate * 1e9) as u64;
        wait_until(due_ns);
        bytes.clear();
        plan.write(number, due_ns, &mut bytes);
        sender.send(&bytes)?;
    }
    let sent_ns = monotonic_ns();
    ended_ns.store(sent_ns, Ordering::Relaxed);
    let (mut outcome, last_ns) = receiver.join().expect("a panic there was printed there")?;
    outcome.sent = plan.count * CLIENTS as u64;
    (outcome.sending_ns, outcome.delivering_ns) = (sent_ns - began, last_ns.saturating_sub(began));
    stop.store(true, Ordering::Relaxed);
    let most = middle.peak_memory()?;
    let limits = ours::settings(plan.bytes, ours::CROWD)?.limits;
    let connected = CLIENTS as u64 + 1 + if trouble.is_some() { 2 } else { 0 };
    let each = limits.queue_bytes + HEAD_BYTES + limits.payload_bytes;
    if let Some((slow, garbage)) = trouble {
        garbage.join().expect("a panic there was printed there");
        let (wanted, got) = (plan.count * u64::from(SLOW_CHANNELS), late(slow)?);
        if got >= wanted {
            return Err(format!("the slow client got all of its {wanted} messages: it was not slow enough").into());
        }
    }
    Ok((outcome, Memory { most, bound: at_first + connected * each as u64 }))
}

/// What a client that did not read gets when it does, in messages.
fn late(mut slow: Client<UnixStream>) -> Result<u64, Failure> {
    slow.socket.set_read_timeout(Some(Duration::from_millis(500)))?;
    let mut got = 0;
    while let Ok(read @ 1..) = slow.socket.read(slow.decoder.room()) {
        slow.decoder.filled(read);
        while let Some(frame) = slow.decoder.next() {
            match frame.head.kind {
                Type::Message => got += 1,
                Type::Batch => got += batch::items(frame.payload).ok_or("a batch is none")?.count() as u64,
                _ => {}
            }
        }
    }
    Ok(got)
}

fn connect(place: &str) -> Result<TcpStream, Failure> {
    let socket = TcpStream::connect(place)?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

fn greet(socket: &mut impl Write) -> Result<(), Failure> {
    let mut hello = Vec::new();
    encode(&mut hello, &Head::new(Type::Hello, 0), &text("one of many"));
    Ok(socket.write_all(&hello)?)
}

/// A client with so many channels of the topic.
fn subscribe<S: Read + Write>(mut socket: S, channels: u32) -> Result<Client<S>, Failure> {
    greet(&mut socket)?;
    let wanted = Subscribe { begin: Begin::Now, when_full: WhenFull::DropOldest, topic: "bench".into() };
    let mut bytes = Vec::new();
    (1..=channels).for_each(|channel| encode(&mut bytes, &Head::new(Type::Subscribe, channel), &wanted.payload()));
    socket.write_all(&bytes)?;
    // The last answer: from here on it gets all.
    let mut decoder = Decoder::new(1 << 16);
    loop {
        let read = socket.read(decoder.room())?;
        if read == 0 {
            return Err("the gateway closed the connection of one of many".into());
        }
        decoder.filled(read);
        while let Some(frame) = decoder.next() {
            if frame.head.kind == Type::Topic && frame.head.channel == channels {
                return Ok(Client { socket, decoder, highest: None });
            }
        }
    }
}

/// Sends what is no frame, until it is told to stop.
fn garbage(place: &str, stop: Arc<AtomicBool>) -> Result<std::thread::JoinHandle<()>, Failure> {
    let mut socket = connect(place)?;
    greet(&mut socket)?;
    Ok(std::thread::spawn(move || {
        let bytes: Vec<u8> = (0..GARBAGE_BYTES).map(|at| ((at * at) >> 3) as u8).collect();
        while !stop.load(Ordering::Relaxed) && socket.write_all(&bytes).is_ok() {
            std::thread::sleep(Duration::from_nanos(GARBAGE_NS));
        }
    }))
}

fn receive(mut clients: Vec<Client>, plan: &Plan, ended_ns: &AtomicU64) -> Result<(Outcome, u64), Failure> {
    let poll: OwnedFd = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (id, client) in clients.iter().enumerate() {
        client.socket.set_nonblocking(true)?;
        epoll::add(&poll, &client.socket, epoll::EventData::new_u64(id as u64), epoll::EventFlags::IN)?;
    }
    let mut outcome = Outcome { latency: Meter::new(), ..Outcome::default() };
    let mut last_ns = 0;
    let mut events = Vec::with_capacity(CLIENTS);
    while outcome.received < plan.count * CLIENTS as u64 {
        let ended = ended_ns.load(Ordering::Relaxed);
        if ended > 0 && monotonic_ns() > ended.max(last_ns) + PATIENCE_NS {
            break;
        }
        events.clear();
        let look = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), Some(&look))?;
        for event in &events {
            let client = &mut clients[event.data.u64() as usize];
            match client.socket.read(client.decoder.room()) {
                Ok(0) => return Err("the gateway closed the connection of one of many".into()),
                Ok(read) => client.decoder.filled(read),
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            }
            let now = monotonic_ns();
            let mut take = |message: &[u8]| match plan.read(message) {
                Known::Message { number, due_ns } => {
                    outcome.received += 1;
                    outcome.out_of_order += u64::from(client.highest.is_some_and(|highest| number <= highest));
                    client.highest = client.highest.max(Some(number));
                    outcome.latency.record(now.saturating_sub(due_ns), number);
                    last_ns = now;
                }
                Known::Probe => {}
                Known::Wrong => outcome.wrong += 1,
            };
            while let Some(frame) = client.decoder.next() {
                match frame.head.kind {
                    Type::Message => take(frame.payload),
                    Type::Batch => {
                        batch::items(frame.payload).into_iter().flatten().for_each(|item| take(item.message))
                    }
                    _ => {}
                }
            }
        }
    }
    Ok((outcome, last_ns))
}
