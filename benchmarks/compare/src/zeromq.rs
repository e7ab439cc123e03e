//! ZeroMQ: PAIR sockets, `inproc` between threads and `ipc` between processes, each call with `DONTWAIT`.
//!
//! Between processes a message passes an I/O thread of ZeroMQ on either side, however the caller waits. One pair of
//! sockets for each direction, with a high-water mark of the asked capacity on both sides.

use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender, Threads};
use zmq::{Context, DONTWAIT, Error, PAIR, Socket};

use crate::helpers::with_free_threads;
use crate::rendezvous;

/// How long closing waits for messages that nobody has taken, in milliseconds.
const LINGER_MS: i32 = 1000;

pub struct ZeroMq;

/// Either end; the context lives as long as its sockets.
pub struct Pair(Socket, #[expect(dead_code, reason = "kept alive")] Context);

impl<M: Content> Sender<M> for Pair {
    fn try_send(&mut self, message: &M) -> bool {
        match self.0.send(message.as_bytes(), DONTWAIT) {
            Ok(()) => true,
            Err(Error::EAGAIN) => false,
            Err(error) => panic!("ZeroMQ send: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Pair {
    fn try_recv(&mut self, into: &mut M) -> bool {
        match self.0.recv_into(into.as_mut_bytes(), DONTWAIT) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(Error::EAGAIN) => false,
            Err(error) => panic!("ZeroMQ receive: {error}"),
        }
    }
}

impl<M: Content> Threads<M> for ZeroMq {
    const SYSTEM: &'static str = "zeromq-inproc";
    type Sender = Pair;
    type Receiver = Pair;

    fn channel(meeting: &Meeting, capacity: usize) -> Result<(Pair, Pair), Failure> {
        let context = Context::new();
        let address = format!("inproc://{}", meeting.name);
        let receiving = bound(&context, &address, capacity)?;
        let sending = connected(&context, &address, capacity)?;
        Ok((sending, receiving))
    }
}

impl<M: Content> Processes<M> for ZeroMq {
    const SYSTEM: &'static str = "zeromq-ipc";
    type Sender = Pair;
    type Receiver = Pair;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Pair, Pair), Failure> {
        with_free_threads(|| {
            let context = Context::new();
            let address = |end| {
                let file = rendezvous::path(meeting, &format!("to-{}.zeromq", rendezvous::name(end)));
                format!("ipc://{}", file.display())
            };
            let receiving = bound(&context, &address(end), capacity)?;
            rendezvous::both_here(meeting, end, "bound")?;
            let sending = connected(&context, &address(rendezvous::other(end)), capacity)?;
            rendezvous::both_here(meeting, end, "connected")?;
            Ok((sending, receiving))
        })
    }
}

fn bound(context: &Context, address: &str, capacity: usize) -> Result<Pair, Failure> {
    let pair = pair(context, capacity)?;
    pair.0.bind(address)?;
    Ok(pair)
}

fn connected(context: &Context, address: &str, capacity: usize) -> Result<Pair, Failure> {
    let pair = pair(context, capacity)?;
    pair.0.connect(address)?;
    Ok(pair)
}

fn pair(context: &Context, capacity: usize) -> Result<Pair, Failure> {
    let socket = context.socket(PAIR)?;
    let mark = i32::try_from(capacity)?;
    socket.set_sndhwm(mark)?;
    socket.set_rcvhwm(mark)?;
    socket.set_linger(LINGER_MS)?;
    Ok(Pair(socket, context.clone()))
}
