//! The floor of everything that goes through TCP: one message thrown back and forth, and half of each round trip.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use horus_benchmarks::transport::Failure;
use horus_measure::meter::Meter;
use horus_sys::clock::monotonic_ns;

use super::child::Child;
use super::load::Outcome;
use super::plan::{Known, Plan};

/// Its name in the results.
pub const SYSTEM: &str = "tcp";
/// Round trips that are not counted.
const COLD: u64 = 1_000;

/// What the other end does: it sends back what came.
///
/// # Errors
/// When the connection breaks.
pub fn echo() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut bytes = [0; 4_096];
    loop {
        match stream.read(&mut bytes)? {
            0 => return Ok(()),
            read => stream.write_all(&bytes[..read])?,
        }
    }
}

/// Throws the messages of a plan, each when the last one is back.
///
/// # Errors
/// When the connection breaks.
pub fn run(plan: &Plan) -> Result<Outcome, Failure> {
    let (_echo, [place]) = Child::role("echo", "")?;
    let mut stream = TcpStream::connect(place)?;
    stream.set_nodelay(true)?;
    let mut outcome = Outcome { latency: Meter::new(), ..Outcome::default() };
    let mut out = Vec::new();
    let mut back = vec![0; plan.bytes];
    let mut began = monotonic_ns();
    for number in 0..COLD + plan.count {
        let sent_ns = monotonic_ns();
        if number == COLD {
            began = sent_ns;
        }
        out.clear();
        plan.write(number, sent_ns, &mut out);
        stream.write_all(&out)?;
        stream.read_exact(&mut back)?;
        let now = monotonic_ns();
        let is_wrong = plan.read(&back) != Known::Message { number, due_ns: sent_ns };
        outcome.wrong += u64::from(is_wrong);
        if number >= COLD {
            outcome.latency.record((now - sent_ns) / 2, number);
            outcome.sending_ns = now - began;
        }
    }
    (outcome.sent, outcome.received, outcome.delivering_ns) = (plan.count, plan.count, outcome.sending_ns);
    Ok(outcome)
}
