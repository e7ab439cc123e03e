//! The socket itself: whole packets, descriptors that ride along, and no call that waits but [`wait`].

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType,
};

/// Room for as many descriptors as the kernel lets ride along with a packet.
pub(super) const RIGHTS: usize = rustix::cmsg_space!(ScmRights(253));

/// Connects, if a witness listens and has room for one more.
pub(super) fn connect(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Waits until there is something to read, for at most this long.
pub(super) fn wait(socket: &OwnedFd, patience: Duration) {
    if let Ok(patience) = Timespec::try_from(patience) {
        let _ = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&patience));
    }
}

/// Sends a packet, or fails when the other end does not read.
pub(super) fn send(socket: &OwnedFd, packet: &[u8]) -> Result<(), Errno> {
    rustix::net::send(socket, packet, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).map(drop)
}

/// The next packet's length and descriptors, if there is one; an error when the connection has ended, or the packet is no whole one.
pub(super) fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    space: &mut [MaybeUninit<u8>; RIGHTS],
) -> Result<Option<(usize, Vec<OwnedFd>)>, &'static str> {
    let mut ancillary = RecvAncillaryBuffer::new(space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = match rustix::net::recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags) {
        Ok(received) => received,
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(_) => return Err("the witness ended"),
    };
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    let rights = rights.flatten().collect();
    match received.bytes {
        0 => Err("the witness ended"),
        _ if received.flags.contains(ReturnFlags::TRUNC) => Err("the witness's answer is too long"),
        length => Ok(Some((length, rights))),
    }
}
