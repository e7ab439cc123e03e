//! ZeroMQ: PAIR sockets, `inproc` between threads and `ipc` between processes, each call with `DONTWAIT`.
//!
//! Between processes a message passes an I/O thread of ZeroMQ on either side, however the caller waits. One pair of
//! sockets for each direction, with a high-water mark of the asked capacity on both sides.

use horus_benchmarks::transport::{Content, Failure, Link, Meeting, Processes, Receiver, Sender, Threads};
use zmq::{Context, DONTWAIT, Error, PAIR, Socket};

use crate::helpers::with_free_threads;
use crate::rendezvous;

/// How long closing waits for messages that were not taken, in milliseconds.
const LINGER_MS: i32 = 1000;

pub struct ZeroMq;

impl<M: Content> Threads<M> for ZeroMq {
    const SYSTEM: &'static str = "zeromq-inproc";

    fn channel(meeting: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let context = Context::new();
        let address = format!("inproc://{}", meeting.name);
        let (receiving, sending) = (pair(&context, capacity)?, pair(&context, capacity)?);
        receiving.bind(&address)?;
        sending.connect(&address)?;
        Ok(ends(sending, receiving))
    }
}

impl<M: Content> Processes<M> for ZeroMq {
    const SYSTEM: &'static str = "zeromq-ipc";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        with_free_threads(|| {
            let context = Context::new();
            let address = |direction: Meeting| format!("ipc://{}", rendezvous::path(&direction, "zeromq").display());
            let (receiving, sending) = (pair(&context, capacity)?, pair(&context, capacity)?);
            receiving.bind(&address(link.back()))?;
            rendezvous::both_here(&link, "bound")?;
            sending.connect(&address(link.out()))?;
            Ok(ends(sending, receiving))
        })
    }
}

fn pair(context: &Context, capacity: usize) -> Result<Socket, Failure> {
    let socket = context.socket(PAIR)?;
    let mark = i32::try_from(capacity)?;
    socket.set_sndhwm(mark)?;
    socket.set_rcvhwm(mark)?;
    socket.set_linger(LINGER_MS)?;
    Ok(socket)
}

/// A socket keeps its context alive.
fn ends<M: Content>(sending: Socket, receiving: Socket) -> (impl Sender<M> + Send, impl Receiver<M> + Send) {
    let send = move |message: &M| match sending.send(message.as_bytes(), DONTWAIT) {
        Ok(()) => true,
        Err(Error::EAGAIN) => false,
        Err(error) => panic!("ZeroMQ send: {error}"),
    };
    let receive = move |into: &mut M| match receiving.recv_into(into.as_mut_bytes(), DONTWAIT) {
        Ok(bytes) => bytes == size_of::<M>(),
        Err(Error::EAGAIN) => false,
        Err(error) => panic!("ZeroMQ receive: {error}"),
    };
    (send, receive)
}
