//! UDP over loopback: two connected sockets that never block.
//!
//! The kernel drops datagrams when the receiver's buffer is full and tells nobody; the harness counts them as lost.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};

use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender};
use rustix::net::sockopt;

use crate::rendezvous;

/// Bytes of each socket's buffers; as root also beyond the system's limit for users.
const BUFFER: usize = 4 << 20;

/// The system under its name in the results.
pub struct Udp;

/// Either end: the same socket sends and receives.
pub struct Socket(UdpSocket);

impl<M: Content> Sender<M> for Socket {
    fn try_send(&mut self, message: &M) -> bool {
        match self.0.send(message.as_bytes()) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => false,
            Err(error) => panic!("UDP send: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Socket {
    fn try_recv(&mut self, into: &mut M) -> bool {
        match self.0.recv(into.as_mut_bytes()) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => false,
            Err(error) => panic!("UDP receive: {error}"),
        }
    }
}

impl<M: Content> Processes<M> for Udp {
    const SYSTEM: &'static str = "udp";
    type Sender = Socket;
    type Receiver = Socket;

    fn connect(meeting: &Meeting, end: End, _: usize) -> Result<(Socket, Socket), Failure> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        if sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, BUFFER)?;
        }
        socket.set_nonblocking(true)?;
        rendezvous::leave(meeting, rendezvous::name(end), &socket.local_addr()?.port().to_string())?;
        let port: u16 = rendezvous::fetch(meeting, rendezvous::name(rendezvous::other(end)))?.parse()?;
        socket.connect((Ipv4Addr::LOCALHOST, port))?;
        rendezvous::both_here(meeting, end, "connected")?;
        Ok((Socket(socket.try_clone()?), Socket(socket)))
    }
}
