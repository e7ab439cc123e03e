//! Sockets that never block: Unix datagrams, Unix sequenced packets, UDP over loopback.
//!
//! Of the Unix ones neither loses anything; the kernel bounds how many messages wait: `net.unix.max_dgram_qlen` for
//! datagrams, the send buffer for packets. Of UDP the kernel drops datagrams when the receiver's buffer is full and tells
//! nobody; the harness counts them as lost.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;

use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recv, send, socket_with, sockopt,
};

use crate::rendezvous;

/// Bytes of each UDP socket's buffers; as root also beyond the system's limit for users.
const UDP_BUFFER: usize = 4 << 20;

pub struct Udp;
pub struct UnixDatagrams;
pub struct UnixPackets;

/// Either end: the same socket sends and receives.
pub struct Socket(OwnedFd);

impl<M: Content> Sender<M> for Socket {
    fn try_send(&mut self, message: &M) -> bool {
        match send(&self.0, message.as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED) => false,
            Err(error) => panic!("socket send: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Socket {
    fn try_recv(&mut self, into: &mut M) -> bool {
        match recv(&self.0, into.as_mut_bytes(), RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::CONNRESET | Errno::CONNREFUSED) => false,
            Err(error) => panic!("socket receive: {error}"),
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

impl<M: Content> Processes<M> for Udp {
    const SYSTEM: &'static str = "udp";
    type Sender = Socket;
    type Receiver = Socket;

    fn connect(meeting: &Meeting, end: End, _: usize) -> Result<(Socket, Socket), Failure> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        if sockopt::set_socket_recv_buffer_size_force(&socket, UDP_BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, UDP_BUFFER)?;
        }
        rendezvous::leave(meeting, rendezvous::name(end), &socket.local_addr()?.port().to_string())?;
        let port: u16 = rendezvous::fetch(meeting, rendezvous::name(rendezvous::other(end)))?.parse()?;
        socket.connect((Ipv4Addr::LOCALHOST, port))?;
        rendezvous::both_here(meeting, end, "connected")?;
        ends(socket.into())
    }
}

fn address(meeting: &Meeting, end: End) -> Result<SocketAddrUnix, Failure> {
    Ok(SocketAddrUnix::new(rendezvous::path(meeting, &format!("{}.socket", rendezvous::name(end))))?)
}

fn ends(socket: OwnedFd) -> Result<(Socket, Socket), Failure> {
    Ok((Socket(socket.try_clone()?), Socket(socket)))
}
