//! One process of a program: started in a group of its own, with pipes for what it says.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::time::Timespec;

use crate::command;
use crate::group;
use crate::lines::Lines;
use crate::robot::Program;

/// How much is read of a pipe in one look, so that a talkative program holds up no other.
const MOST_BYTES: usize = 64 * 1024;

/// Which pipe a line came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Error,
}

/// Whether a process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Runs,
    /// It has ended, and what it started in its group runs on.
    Leaves,
    /// It has ended, and all of its group.
    Ended(ExitStatus),
}

/// A running program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Readable when it has ended.
    end: OwnedFd,
    /// It has ended, and what it started runs on.
    is_over: bool,
    pipes: [Option<Pipe>; 2],
}

#[derive(Debug)]
struct Pipe {
    stream: Stream,
    file: OwnedFd,
    lines: Lines,
}

impl Process {
    /// Starts it.
    pub fn start(program: &Program, socket: &Path, more: &[(&str, OsString)]) -> io::Result<Self> {
        // In a group of its own, so that Ctrl-C reaches the command alone, which ends programs in order.
        let mut command = command::of(program);
        more.iter().for_each(|(name, value)| _ = command.env(name, value));
        let mut child = command.env("NOTIFY_SOCKET", socket).process_group(0).spawn()?;
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).inspect_err(|_| _ = child.kill())?;
        let out = child.stdout.take().map(|pipe| (Stream::Out, OwnedFd::from(pipe)));
        let error = child.stderr.take().map(|pipe| (Stream::Error, OwnedFd::from(pipe)));
        let mut pipes = [None, None];
        for (place, (stream, file)) in [out, error].into_iter().flatten().enumerate() {
            fcntl_setfl(&file, OFlags::NONBLOCK)?;
            pipes[place] = Some(Pipe { stream, file, lines: Lines::default() });
        }
        Ok(Self { child, end, is_over: false, pipes })
    }

    /// The number of its group.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Further descriptors of the pipes that it writes to.
    pub fn reading_ends(&self) -> io::Result<Vec<OwnedFd>> {
        self.pipes.iter().flatten().map(|pipe| pipe.file.try_clone()).collect()
    }

    /// What there is to wait for.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        (!self.is_over)
            .then(|| self.end.as_fd())
            .into_iter()
            .chain(self.pipes.iter().flatten().map(|pipe| pipe.file.as_fd()))
    }

    /// Reads what it has said.
    pub fn read(&mut self, mut each: impl FnMut(Stream, &str)) {
        for pipe in &mut self.pipes {
            let is_open = pipe.as_mut().is_some_and(|pipe| pipe.read(&mut each));
            if !is_open && let Some(mut ended) = pipe.take() {
                ended.lines.end(|line| each(ended.stream, line));
            }
        }
    }

    /// Gives what was said last and has no end of a line.
    pub fn end(&mut self, mut each: impl FnMut(&str)) {
        self.pipes.iter_mut().flatten().for_each(|pipe| pipe.lines.end(&mut each));
    }

    /// Whether it lives.
    pub fn life(&mut self) -> io::Result<Life> {
        if !self.has_ended()? {
            return Ok(Life::Runs);
        }
        self.is_over = true;
        // It is not waited for yet, so its number is still its group's.
        if group::lives(self.group()) {
            return Ok(Life::Leaves);
        }
        self.child.wait().map(Life::Ended)
    }

    fn has_ended(&self) -> io::Result<bool> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut [PollFd::new(&self.end, PollFlags::IN)], Some(&now)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Signals all of its group.
    pub fn signal(&self, signal: Signal) {
        group::signal(self.group(), signal);
    }
}

impl Pipe {
    /// Whether more may come.
    fn read(&mut self, each: &mut impl FnMut(Stream, &str)) -> bool {
        let mut bytes = [0; 8192];
        for _ in 0..MOST_BYTES / bytes.len() {
            match rustix::io::read(&self.file, &mut bytes) {
                Ok(0) => return false,
                Ok(length) => self.lines.add(&bytes[..length], |line| each(self.stream, line)),
                Err(Errno::AGAIN | Errno::INTR) => return true,
                Err(_) => return false,
            }
        }
        true
    }
}
