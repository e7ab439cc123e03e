//! One process of a program: started in a group of its own, with pipes for what it says.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::command;
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

/// A running program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Readable when it has ended.
    end: OwnedFd,
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
    pub fn start(program: &Program, socket: &Path) -> io::Result<Self> {
        // In a group of its own, so that Ctrl-C reaches the command alone, which ends programs in order.
        let mut child = command::of(program).env("NOTIFY_SOCKET", socket).process_group(0).spawn()?;
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).inspect_err(|_| _ = child.kill())?;
        let out = child.stdout.take().map(|pipe| (Stream::Out, OwnedFd::from(pipe)));
        let error = child.stderr.take().map(|pipe| (Stream::Error, OwnedFd::from(pipe)));
        let mut pipes = [None, None];
        for (place, (stream, file)) in [out, error].into_iter().flatten().enumerate() {
            fcntl_setfl(&file, OFlags::NONBLOCK)?;
            pipes[place] = Some(Pipe { stream, file, lines: Lines::default() });
        }
        Ok(Self { child, end, pipes })
    }

    /// The number of its group.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// What there is to wait for.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.end.as_fd()).chain(self.pipes.iter().flatten().map(|pipe| pipe.file.as_fd()))
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

    /// How it ended, if it has. What it left running in its group is ended, too.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut look = [rustix::event::PollFd::new(&self.end, rustix::event::PollFlags::IN)];
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        match rustix::event::poll(&mut look, Some(&now)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // It is not waited for yet, so its number is still its group's.
        self.signal(Signal::KILL);
        self.child.wait().map(Some)
    }

    /// Signals all of its group.
    pub fn signal(&self, signal: Signal) {
        // "No such group" is success.
        let _ = kill_process_group(self.group(), signal);
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
