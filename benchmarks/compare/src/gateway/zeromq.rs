//! ZeroMQ, publish and subscribe through a forwarder over TCP, without bounds on what waits: as its guide builds a broker.

use horus_benchmarks::transport::Failure;
use zmq::{Context, Error, PUB, SUB, Socket, XPUB, XSUB};

use super::child::Child;
use super::plan::Plan;
use super::way::{Receiving, Sending, System, Way};

/// The library of the distribution.
pub const SYSTEM: System = System { name: "zeromq", open };
/// How long a receiver waits.
const LOOK_MS: i32 = 50;

/// What the process in the middle does.
///
/// # Errors
/// When it cannot begin.
pub fn forwarder() -> Result<(), Failure> {
    let context = Context::new();
    let (front, back) = (socket(&context, XSUB)?, socket(&context, XPUB)?);
    for socket in [&front, &back] {
        socket.bind("tcp://127.0.0.1:*")?;
        let place = socket.get_last_endpoint()?.map_err(|_| "an endpoint that is no text")?;
        println!("{}", place.trim_end_matches('\0'));
    }
    Ok(zmq::proxy(&front, &back)?)
}

fn socket(context: &Context, kind: zmq::SocketType) -> Result<Socket, Failure> {
    let socket = context.socket(kind)?;
    socket.set_sndhwm(0)?;
    socket.set_rcvhwm(0)?;
    socket.set_linger(0)?;
    Ok(socket)
}

fn open(plan: &Plan) -> Result<Way, Failure> {
    let (middle, [front, back]) = Child::role("forwarder", "")?;
    let context = Context::new();
    let (sending, receiving) = (socket(&context, PUB)?, socket(&context, SUB)?);
    receiving.connect(&back)?;
    receiving.set_subscribe(b"")?;
    receiving.set_rcvtimeo(LOOK_MS)?;
    sending.connect(&front)?;
    let sending = Sender { socket: sending, bytes: plan.bytes };
    Ok(Way {
        sending: Box::new(sending),
        receiving: Box::new(Receiver { socket: receiving, bytes: vec![0; 64 << 10] }),
        middle: Box::new(middle),
    })
}

/// A socket keeps its context alive.
struct Sender {
    socket: Socket,
    bytes: usize,
}

impl Sending for Sender {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        messages.chunks_exact(self.bytes).try_for_each(|message| Ok(self.socket.send(message, 0)?))
    }
}

struct Receiver {
    socket: Socket,
    bytes: Vec<u8>,
}

impl Receiving for Receiver {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        match self.socket.recv_into(&mut self.bytes, 0) {
            Ok(read) => {
                each(&self.bytes[..read]);
                Ok(())
            }
            Err(Error::EAGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
