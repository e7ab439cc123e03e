//! Named pipes, one for each direction, neither of which blocks.
//!
//! A pipe is a stream, but writes of at most `PIPE_BUF` (4096) bytes are atomic: as all messages have one size, the
//! stream never holds part of one.

use std::os::fd::OwnedFd;

use horus_benchmarks::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PIPE_BUF, fcntl_setpipe_size};

use crate::rendezvous;

/// The most that a user may make a pipe hold (`fs.pipe-max-size`).
const PIPE_BYTES: usize = 1 << 20;

pub struct Pipes;
pub struct Writing(OwnedFd);
pub struct Reading(OwnedFd);

impl<M: Content> Sender<M> for Writing {
    fn try_send(&mut self, message: &M) -> bool {
        match write(&self.0, message.as_bytes()) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::PIPE) => false,
            Err(error) => panic!("pipe write: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Reading {
    fn try_recv(&mut self, into: &mut M) -> bool {
        match read(&self.0, into.as_mut_bytes()) {
            Ok(0) | Err(Errno::AGAIN) => false,
            Ok(bytes) => {
                assert_eq!(bytes, size_of::<M>(), "a pipe gave part of a message");
                true
            }
            Err(error) => panic!("pipe read: {error}"),
        }
    }
}

impl<M: Content> Processes<M> for Pipes {
    const SYSTEM: &'static str = "pipe";
    type Sender = Writing;
    type Receiver = Reading;

    fn connect(meeting: &Meeting, end: End, _: usize) -> Result<(Writing, Reading), Failure> {
        if size_of::<M>() > PIPE_BUF {
            return Err(format!("a pipe takes {PIPE_BUF} bytes at once, not {}", size_of::<M>()).into());
        }
        let incoming = rendezvous::path(meeting, &format!("to-{}", rendezvous::name(end)));
        let outgoing = rendezvous::path(meeting, &format!("to-{}", rendezvous::name(rendezvous::other(end))));
        mkfifoat(CWD, &incoming, Mode::RUSR | Mode::WUSR)?;
        // Opening the reading end succeeds at once; the writing end needs the other's reading end to be open.
        let reading = open(&incoming, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        fcntl_setpipe_size(&reading, PIPE_BYTES)?;
        rendezvous::both_here(meeting, end, "reading")?;
        let writing = open(&outgoing, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        rendezvous::both_here(meeting, end, "writing")?;
        Ok((Writing(writing), Reading(reading)))
    }
}
