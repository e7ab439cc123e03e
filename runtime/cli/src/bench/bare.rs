//! What a gateway is compared with: a process that copies bytes from one TCP connection to another, and knows nothing of messages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::inject::{Injector, Plan, Sink};
use super::own::Child;
use super::receive::{Receiver, Source};
use super::result::Result as Measured;

/// How long the receiver waits for bytes before it looks whether it is at its end.
const LOOK: Duration = Duration::from_millis(50);

/// The relay: says its port, and copies from the first connection to the second.
pub fn relay() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let accept = || -> std::io::Result<TcpStream> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let (mut from, mut to) = (accept()?, accept()?);
    let mut bytes = vec![0; 64 << 10];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            read => to.write_all(&bytes[..read])?,
        }
    }
}

/// Sends the same messages through a relay.
pub fn measure(plan: Plan) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut relay = Child::start(command.args(["bench", "relay"]).stdout(Stdio::piped()))?;
    let mut place = String::new();
    BufReader::new(relay.stdout()).read_line(&mut place)?;
    let connect = || -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect(place.trim())?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let (sending, receiving) = (connect()?, connect()?);
    receiving.set_read_timeout(Some(LOOK))?;
    let ended = Arc::new(AtomicU64::new(0));
    let receiver = Receiver::start(Source::Bare(receiving), plan, Arc::clone(&ended));
    let injected = Injector::new(Sink::Bare(sending), plan).run(&ended)?;
    Ok(Measured::new(plan, injected, receiver.join()?))
}
