//! Unix sockets, as datagrams and as sequenced packets; neither blocks, neither loses anything.
//!
//! The kernel bounds how many messages wait: `net.unix.max_dgram_qlen` for datagrams, the send buffer for packets.

use std::os::fd::OwnedFd;

use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recv, send, socket_with,
};

use crate::rendezvous;

/// Datagram sockets.
pub struct UnixDatagrams;

/// Sequenced-packet sockets.
pub struct UnixPackets;

/// Either end: the same socket sends and receives.
pub struct Socket(OwnedFd);

impl<M: Content> Sender<M> for Socket {
    fn try_send(&mut self, message: &M) -> bool {
        match send(&self.0, message.as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED) => false,
            Err(error) => panic!("Unix socket send: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Socket {
    fn try_recv(&mut self, into: &mut M) -> bool {
        match recv(&self.0, into.as_mut_bytes(), RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::CONNRESET) => false,
            Err(error) => panic!("Unix socket receive: {error}"),
        }
    }
}

impl<M: Content> Processes<M> for UnixDatagrams {
    const SYSTEM: &'static str = "unix-datagram";
    type Sender = Socket;
    type Receiver = Socket;

    fn connect(meeting: &Meeting, end: End, _: usize) -> Result<(Socket, Socket), Failure> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        bind(&socket, &address(meeting, end)?)?;
        rendezvous::both_here(meeting, end, "bound")?;
        connect(&socket, &address(meeting, rendezvous::other(end))?)?;
        rendezvous::both_here(meeting, end, "connected")?;
        ends(socket)
    }
}

impl<M: Content> Processes<M> for UnixPackets {
    const SYSTEM: &'static str = "unix-seqpacket";
    type Sender = Socket;
    type Receiver = Socket;

    fn connect(meeting: &Meeting, end: End, _: usize) -> Result<(Socket, Socket), Failure> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let address = address(meeting, End::First)?;
        if end == End::First {
            bind(&socket, &address)?;
            listen(&socket, 1)?;
            rendezvous::both_here(meeting, end, "listening")?;
            rustix::io::ioctl_fionbio(&socket, true)?;
            let peer = rendezvous::patiently("connection", || match accept_with(&socket, SocketFlags::CLOEXEC) {
                Err(Errno::AGAIN) => Ok(None),
                peer => Ok(Some(peer?)),
            })?;
            ends(peer)
        } else {
            rendezvous::both_here(meeting, end, "listening")?;
            connect(&socket, &address)?;
            ends(socket)
        }
    }
}

fn address(meeting: &Meeting, end: End) -> Result<SocketAddrUnix, Failure> {
    Ok(SocketAddrUnix::new(rendezvous::path(meeting, &format!("{}.socket", rendezvous::name(end))))?)
}

fn ends(socket: OwnedFd) -> Result<(Socket, Socket), Failure> {
    Ok((Socket(socket.try_clone()?), Socket(socket)))
}
