//! The door: programs come and go at a SEQPACKET socket, ask, and are answered in order.

mod peer;
mod places;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen as listen_at, socket_with,
};

use crate::Listen;
use crate::notice::Notice;
use crate::witness::Witness;
use peer::Peer;
use places::Ends;

/// How often traces and counters are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The socket that programs come to.
pub fn listen(at: Listen) -> io::Result<OwnedFd> {
    match at {
        Listen::Socket(socket) => {
            // Systemd's sockets wait. A program that came and went would leave us waiting for the next one.
            fcntl_setfl(&socket, fcntl_getfl(&socket)? | OFlags::NONBLOCK)?;
            Ok(socket)
        }
        Listen::Path(path) => listen_on(&path),
    }
}

/// What a person does about a place that cannot be had.
pub fn remedy(error: &io::Error, place: &Path) -> String {
    let folder = place.parent().unwrap_or(place).display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no folder {folder}: make it, or name another place with --listen SOCKET")
        }
        io::ErrorKind::PermissionDenied => {
            format!("this user may not make it in {folder}: run it as root, or name another place with --listen SOCKET")
        }
        io::ErrorKind::AddrInUse => "does another witness run?".to_owned(),
        _ => "name another place with --listen SOCKET".to_owned(),
    }
}

fn listen_on(path: &Path) -> io::Result<OwnedFd> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen_at(&socket, 16)?;
    Ok(socket)
}

/// Serves until `stop` is set.
pub fn run(
    listener: &OwnedFd,
    witness: &mut Witness,
    stop: &AtomicBool,
    notice: &mut dyn FnMut(Notice),
) -> io::Result<()> {
    let (mut peers, mut ends): (Vec<Peer>, _) = (Vec::new(), Ends::default());
    let mut look_at = Instant::now() + LOOK;
    // Relaxed: the flag guards nothing but its own change.
    while !stop.load(Ordering::Relaxed) {
        let is_open = peers.len() < places::MOST;
        let (has_caller, ready) = wait(listener, is_open, &peers, look_at)?;
        // One packet of each program in turn, so that none of them keeps the others waiting.
        let mut index = 0;
        peers.retain_mut(|peer| {
            let is_ready = ready.get(index).copied().unwrap_or(false);
            index += 1;
            !is_ready || stays(peer, witness, &mut ends, notice)
        });
        if let Some(caller) = has_caller.then(|| accept(listener)).flatten() {
            match places::has_room(caller.user, peers.iter().map(|peer| peer.user)) {
                true => peers.push(caller),
                false => {
                    let reason = format!("user {} has {} programs here already", caller.user, places::MOST_OF_A_USER);
                    ends.tell(caller.process, &reason, Instant::now()).into_iter().for_each(&mut *notice);
                }
            }
        }
        if Instant::now() >= look_at {
            witness.look(notice);
            // One that leaves without a word did nothing wrong; one that stays so has another program's place.
            peers.retain(|peer| peer.is_enrolled || peer.came.elapsed() < places::PATIENCE);
            look_at = Instant::now() + LOOK;
        }
    }
    Ok(())
}

/// Answers one packet. Returns whether the connection goes on.
fn stays(peer: &mut Peer, witness: &mut Witness, ends: &mut Ends, notice: &mut dyn FnMut(Notice)) -> bool {
    match peer.answer(witness, notice) {
        Ok(stays) => stays,
        Err(reason) => {
            ends.tell(peer.process, &reason, Instant::now()).into_iter().for_each(notice);
            false
        }
    }
}

/// Waits until a program calls or something is due: whether there is a new program, and which of the others have something to
/// say.
fn wait(listener: &OwnedFd, is_open: bool, peers: &[Peer], until: Instant) -> io::Result<(bool, Vec<bool>)> {
    let mut all: Vec<PollFd<'_>> = peers.iter().map(|peer| PollFd::new(&peer.socket, PollFlags::IN)).collect();
    if is_open {
        all.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
    }
    let left = until.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: left.as_secs().try_into().unwrap_or(1), tv_nsec: left.subsec_nanos().into() };
    match poll(&mut all, Some(&left)) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok((false, Vec::new())), // a signal: the flag may be set
        Err(errno) => return Err(errno.into()),
    }
    let ready: Vec<bool> = all.iter().map(|one| !one.revents().is_empty()).collect();
    let has_caller = is_open && ready.last().copied().unwrap_or(false);
    Ok((has_caller, ready[..peers.len()].to_vec()))
}

/// The next program at the door; `None` when it left again, or has no process that can be named.
fn accept(listener: &OwnedFd) -> Option<Peer> {
    let socket = accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK).ok()?;
    Peer::new(socket).ok()
}
