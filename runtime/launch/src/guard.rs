//! Who ends the programs when the command itself is killed: a process of its own, which hears from a socket what runs.
//!
//! `kill -9` leaves a process no last words, and its socket is closed in any case. So the guard knows: the command is gone. It asks all programs
//! that run to end, those that start after others first, and kills what does not.
//!
//! # Why it has the programs' pipes
//! A program that writes into a pipe without a reader ends by SIGPIPE, in the midst of its work. So the guard gets the reading ends of what
//! each program says, reads nothing while the command lives, and all of it afterwards, until they have ended.
//!
//! # What was not chosen
//! `PR_SET_PDEATHSIG` has the kernel signal each program by itself. It reaches no process that a program started, knows no order and no grace
//! time, is lost where a program gets capabilities, and is set between fork and exec, where Rust is unsafe.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus::time::{MonotonicTime, pause};
use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::time::Timespec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::group::{self, GRACE};
use crate::process::Process;
use crate::strays;

/// How long the kernel may take to end what is killed.
const KILLED: Duration = Duration::from_secs(1);
/// How often a guard is started in a run.
const MOST_STARTS: u32 = 5;
/// How long a guard may take to make room for a message.
const PATIENCE: Duration = Duration::from_millis(500);
/// The distance of two looks at a group.
const LOOK: Duration = Duration::from_millis(10);
/// A program has two pipes: stdout and stderr.
const PIPES: usize = 2;
/// No message is longer: a sign and two numbers.
const MOST_BYTES: usize = 64;

/// A group that runs.
#[derive(Debug)]
struct Ward {
    group: Pid,
    /// How many programs it starts after: one that starts after it has more.
    rank: usize,
    /// The reading ends of what it says.
    pipes: Vec<OwnedFd>,
}

/// The command's end of the socket.
pub struct Guard<'a> {
    command: &'a dyn Fn() -> Command,
    folder: &'a Path,
    child: Child,
    /// Readable when the guard has ended.
    end: OwnedFd,
    socket: Option<OwnedFd>,
    running: Vec<Ward>,
    /// How often it may be started anew.
    starts: u32,
}

impl<'a> Guard<'a> {
    /// Starts what `command` says, which calls [`guard`] with `folder`.
    pub fn start(command: &'a dyn Fn() -> Command, folder: &'a Path) -> io::Result<Self> {
        let (child, end, socket) = started(command(), folder)?;
        Ok(Self { command, folder, child, end, socket: Some(socket), running: Vec::new(), starts: MOST_STARTS })
    }

    /// Readable when the guard has ended.
    pub fn end(&self) -> Option<&OwnedFd> {
        self.socket.as_ref().map(|_| &self.end)
    }

    /// Starts a guard that was killed anew; says what became of it, if it was.
    pub fn look(&mut self) -> Option<&'static str> {
        if self.socket.is_none() || !matches!(self.child.try_wait(), Ok(Some(_))) {
            return None;
        }
        self.socket = None;
        self.starts -= 1;
        let again = if self.starts > 0 { started((self.command)(), self.folder).ok() } else { None };
        let Some((child, end, socket)) = again else {
            return Some("the guard was killed and does not start again: if this command is killed, programs are left");
        };
        (self.child, self.end, self.socket) = (child, end, Some(socket));
        let running = std::mem::take(&mut self.running);
        running.iter().for_each(|ward| self.tell_of(ward));
        self.running = running;
        Some("the guard, which ends programs when this command is killed, was killed itself: it runs again")
    }

    /// This process runs, and starts after so many others.
    pub fn add(&mut self, process: &Process, rank: usize) {
        // Where no more files may be opened, it ends in its turn all the same, unless it prints.
        let pipes = process.reading_ends().unwrap_or_default();
        let ward = Ward { group: process.group(), rank, pipes };
        self.tell_of(&ward);
        self.running.push(ward);
    }

    /// This group has ended.
    pub fn remove(&mut self, group: Pid) {
        self.running.retain(|known| known.group != group);
        self.tell(&format!("-{} 0", group.as_raw_nonzero()), &[]);
    }

    fn tell_of(&mut self, ward: &Ward) {
        let pipes: Vec<_> = ward.pipes.iter().map(AsFd::as_fd).collect();
        self.tell(&format!("+{} {}", ward.group.as_raw_nonzero(), ward.rank), &pipes);
    }

    /// Tells the guard, and waits for a short time at most. One that does not listen is ended, and [`look`](Self::look) tells another one all.
    fn tell(&mut self, text: &str, files: &[BorrowedFd]) {
        let Some(socket) = &self.socket else { return };
        let sent = match send(socket, text, files) {
            // So many descriptors are on their way that no more may be.
            Err(Errno::TOOMANYREFS) => send(socket, text, &[]),
            sent => sent,
        };
        if sent.is_err() {
            let _ = self.child.kill();
        }
    }
}

/// Sends a message, with descriptors of these files.
fn send(socket: &OwnedFd, text: &str, files: &[BorrowedFd]) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(PIPES))];
    let mut more = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        more.push(SendAncillaryMessage::ScmRights(files));
    }
    let (parts, flags) = ([IoSlice::new(text.as_bytes())], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    let sent = sendmsg(socket, &parts, &mut more, flags);
    if sent != Err(Errno::AGAIN) {
        return sent.map(drop);
    }
    poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&timespec(PATIENCE)))?;
    sendmsg(socket, &parts, &mut more, flags).map(drop)
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.socket = None;
        let _ = self.child.wait();
    }
}

fn started(mut command: Command, folder: &Path) -> io::Result<(Child, OwnedFd, OwnedFd)> {
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    command.arg(folder).stdin(there).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    let child = command.process_group(0).spawn()?;
    let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    Ok((child, end, here))
}

/// The guard's process: hears what runs until the command is gone, ends what is left, and removes the command's `folder`.
///
/// # Errors
/// When the kernel refuses the handlers of signals.
pub fn guard(folder: &Path) -> io::Result<()> {
    // It ends by its socket alone: who signals all processes of a terminal wants the programs' end, too, and gets it in order.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut running: Vec<Ward> = Vec::new();
    while let Some((sign, ward)) = heard()? {
        running.retain(|known| known.group != ward.group);
        if sign == '+' {
            running.push(ward);
        }
    }
    // Of those that wait for as many others, the last one that was started is the first: the sort is stable.
    running.sort_by_key(|ward| ward.rank);
    let mut pipes: Vec<_> = running.iter_mut().flat_map(|ward| std::mem::take(&mut ward.pipes)).collect();
    let mut wait = |time| listen(&mut pipes, time);
    for ward in running.iter().rev() {
        end(ward.group, &mut wait);
    }
    strays::end(folder, &mut wait);
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

/// The next message: its sign, and of whom it is. `None` when the command is gone.
fn heard() -> io::Result<Option<(char, Ward)>> {
    loop {
        let (mut text, mut space) = ([0; MOST_BYTES], [MaybeUninit::uninit(); cmsg_space!(ScmRights(PIPES))]);
        let mut more = RecvAncillaryBuffer::new(&mut space);
        let heard = recvmsg(io::stdin(), &mut [IoSliceMut::new(&mut text)], &mut more, RecvFlags::CMSG_CLOEXEC);
        let length = match heard {
            Ok(heard) if heard.bytes > 0 => heard.bytes,
            Ok(_) | Err(Errno::CONNRESET) => return Ok(None),
            Err(Errno::INTR) => continue,
            // The machine has none to give at this moment.
            Err(Errno::NOMEM | Errno::NOBUFS) => {
                pause(LOOK);
                continue;
            }
            Err(error) => return Err(error.into()), // it is no command that starts this: nothing is ended
        };
        let files = more.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let pipes = files.flatten().collect();
        if let Some((sign, group, rank)) = understood(&text[..length]) {
            return Ok(Some((sign, Ward { group, rank, pipes })));
        }
    }
}

fn understood(text: &[u8]) -> Option<(char, Pid, usize)> {
    let text = str::from_utf8(text).ok()?;
    let (group, rank) = text.get(1..)?.split_once(' ')?;
    Some((text.chars().next()?, Pid::from_raw(group.parse().ok()?)?, rank.parse().ok()?))
}

fn end(group: Pid, wait: &mut dyn FnMut(Duration)) {
    for (signal, limit) in [(Signal::TERM, GRACE), (Signal::KILL, KILLED)] {
        group::signal(group, signal);
        let end = MonotonicTime::now().plus(limit);
        while group::lives(group) && MonotonicTime::now() < end {
            wait(LOOK);
        }
    }
}

/// Lets time pass, and reads meanwhile what comes through the pipes, as fast as it comes: a pipe that is full holds up its writers.
fn listen(pipes: &mut Vec<OwnedFd>, time: Duration) {
    let end = MonotonicTime::now().plus(time);
    loop {
        let left = end.since(MonotonicTime::now());
        if left.is_zero() || pipes.is_empty() {
            return pause(left);
        }
        let mut looks: Vec<_> = pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        let _ = poll(&mut looks, Some(&timespec(left)));
        pipes.retain(has_more);
    }
}

/// Reads what is in a pipe, which does not block; whether more may come.
fn has_more(pipe: &OwnedFd) -> bool {
    let mut bytes = [0; 65_536];
    !matches!(rustix::io::read(pipe, &mut bytes), Ok(0))
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() }
}
