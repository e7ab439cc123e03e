//! Named pipes, one for each direction, neither of which blocks.
//!
//! A pipe is a stream, but writes of at most `PIPE_BUF` (4096) bytes are atomic: as all messages have one size, the
//! stream never holds part of one.

use horus_benchmarks::transport::{Content, Failure, Link, Processes, Receiver, Sender};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PIPE_BUF, fcntl_setpipe_size};

use crate::rendezvous;

/// The most that a user may make a pipe hold (`fs.pipe-max-size`).
const PIPE_BYTES: usize = 1 << 20;

pub struct Pipes;

impl<M: Content> Processes<M> for Pipes {
    const SYSTEM: &'static str = "pipe";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        if size_of::<M>() > PIPE_BUF {
            return Err(format!("a pipe takes {PIPE_BUF} bytes at once, not {}", size_of::<M>()).into());
        }
        let incoming = rendezvous::path(&link.back(), "pipe");
        mkfifoat(CWD, &incoming, Mode::RUSR | Mode::WUSR)?;
        // Opening the reading end succeeds at once; the writing end needs the other's reading end to be open.
        let reading = open(&incoming, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        fcntl_setpipe_size(&reading, PIPE_BYTES)?;
        rendezvous::both_here(&link, "reading")?;
        let outgoing = rendezvous::path(&link.out(), "pipe");
        let writing = open(&outgoing, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        let send = move |message: &M| match write(&writing, message.as_bytes()) {
            Ok(bytes) => bytes == size_of::<M>(),
            Err(Errno::AGAIN | Errno::PIPE) => false,
            Err(error) => panic!("pipe write: {error}"),
        };
        let receive = move |into: &mut M| match read(&reading, into.as_mut_bytes()) {
            Ok(0) | Err(Errno::AGAIN) => false,
            Ok(bytes) => {
                assert_eq!(bytes, size_of::<M>(), "a pipe gave part of a message");
                true
            }
            Err(error) => panic!("pipe read: {error}"),
        };
        Ok((send, receive))
    }
}
