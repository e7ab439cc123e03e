//! A Unix socket of packets whose ends sleep in `recv` until one comes: what a program without any library would take.

use horus_benchmarks::systems::sleeping::NAP;
use horus_benchmarks::transport::{Content, Failure, Link, Processes, Receiver, Sender};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::sockets::packets;

/// Sequenced packets; a receiver sleeps.
pub struct SleepingPackets;

impl<M: Content> Processes<M> for SleepingPackets {
    const SYSTEM: &'static str = "unix-seqpacket";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let sending = packets(&link)?;
        rustix::io::ioctl_fionbio(&sending, false)?;
        set_socket_timeout(&sending, Timeout::Recv, Some(NAP))?;
        let receiving = sending.try_clone()?;
        let send = move |message: &M| {
            send(&sending, message.as_bytes(), SendFlags::NOSIGNAL).is_ok_and(|bytes| bytes == size_of::<M>())
        };
        let receive = move |into: &mut M| match recv(&receiving, into.as_mut_bytes(), RecvFlags::empty()) {
            Ok((bytes, _)) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNRESET) => false,
            Err(error) => panic!("socket receive: {error}"),
        };
        Ok((send, receive))
    }
}
