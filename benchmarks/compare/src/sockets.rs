//! Sockets that never block: Unix datagrams, Unix sequenced packets, UDP over loopback.
//!
//! Of the Unix ones neither loses anything; the kernel bounds how many messages wait: `net.unix.max_dgram_qlen` for
//! datagrams, the send buffer for packets. Of UDP the kernel drops datagrams when the receiver's buffer is full and tells
//! no program; the harness counts them as lost.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;

use horus_benchmarks::transport::{Content, End, Failure, Link, Meeting, Processes, Receiver, Sender};
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

impl<M: Content> Processes<M> for UnixDatagrams {
    const SYSTEM: &'static str = "unix-datagram";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        bind(&socket, &address(&link.back())?)?;
        rendezvous::both_here(&link, "bound")?;
        connect(&socket, &address(&link.out())?)?;
        ends(socket)
    }
}

impl<M: Content> Processes<M> for UnixPackets {
    const SYSTEM: &'static str = "unix-seqpacket";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        ends(packets(&link)?)
    }
}

/// The socket of an end: sequenced packets to and from the other one.
pub(crate) fn packets(link: &Link) -> Result<OwnedFd, Failure> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let address = address(&link.meeting)?;
    if link.end == End::Second {
        rendezvous::both_here(link, "listening")?;
        connect(&socket, &address)?;
        return Ok(socket);
    }
    bind(&socket, &address)?;
    listen(&socket, 1)?;
    rendezvous::both_here(link, "listening")?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rendezvous::patiently("connection", || match accept_with(&socket, SocketFlags::CLOEXEC) {
        Err(Errno::AGAIN) => Ok(None),
        peer => Ok(Some(peer?)),
    })
}

impl<M: Content> Processes<M> for Udp {
    const SYSTEM: &'static str = "udp";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        if sockopt::set_socket_recv_buffer_size_force(&socket, UDP_BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, UDP_BUFFER)?;
        }
        rendezvous::leave(&link.back(), "port", &socket.local_addr()?.port().to_string())?;
        let port: u16 = rendezvous::fetch(&link.out(), "port")?.parse()?;
        socket.connect((Ipv4Addr::LOCALHOST, port))?;
        ends(socket.into())
    }
}

fn address(meeting: &Meeting) -> Result<SocketAddrUnix, Failure> {
    Ok(SocketAddrUnix::new(rendezvous::path(meeting, "socket"))?)
}

/// The same socket sends and receives.
fn ends<M: Content>(sending: OwnedFd) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
    let receiving = sending.try_clone()?;
    let send = move |message: &M| match send(&sending, message.as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(bytes) => bytes == size_of::<M>(),
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED) => false,
        Err(error) => panic!("socket send: {error}"),
    };
    let receive = move |into: &mut M| match recv(&receiving, into.as_mut_bytes(), RecvFlags::DONTWAIT) {
        Ok((bytes, _)) => bytes == size_of::<M>(),
        Err(Errno::AGAIN | Errno::CONNRESET | Errno::CONNREFUSED) => false,
        Err(error) => panic!("socket receive: {error}"),
    };
    Ok((send, receive))
}
