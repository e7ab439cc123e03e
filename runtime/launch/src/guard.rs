//! Who ends the programs when the command itself is killed: a process of its own, which reads from a pipe what runs.
//!
//! `kill -9` leaves a process no last words, and its pipe is closed in any case. So the guard knows: the command is gone. It asks all programs
//! that run to end, the last one that was started first, and kills what does not.
//!
//! # What was not chosen
//! `PR_SET_PDEATHSIG` has the kernel signal each program by itself. It reaches no process that a program started, knows no order and no grace
//! time, is lost where a program gets capabilities, and is set between fork and exec, where Rust is unsafe.

use std::io::{self, BufRead, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus::time::{MonotonicTime, pause};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::group::{self, GRACE};
use crate::strays;

/// How long the kernel may take to end what is killed.
const KILLED: Duration = Duration::from_secs(1);
/// How often a guard is started in a run.
const MOST_STARTS: u32 = 5;
/// The distance of two looks at a group.
const LOOK: Duration = Duration::from_millis(10);

/// The command's end of the pipe.
pub struct Guard<'a> {
    command: &'a dyn Fn() -> Command,
    folder: &'a Path,
    child: Child,
    /// Readable when the guard has ended.
    end: OwnedFd,
    pipe: Option<ChildStdin>,
    running: Vec<Pid>,
    /// How often it may be started anew.
    starts: u32,
}

impl<'a> Guard<'a> {
    /// Starts what `command` says, which calls [`guard`] with `folder`.
    pub fn start(command: &'a dyn Fn() -> Command, folder: &'a Path) -> io::Result<Self> {
        let (child, end, pipe) = started(command(), folder)?;
        Ok(Self { command, folder, child, end, pipe, running: Vec::new(), starts: MOST_STARTS })
    }

    /// Readable when the guard has ended.
    pub fn end(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref().map(|_| &self.end)
    }

    /// Starts a guard that was killed anew; says what became of it, if it was.
    pub fn look(&mut self) -> Option<&'static str> {
        if self.pipe.is_none() || !matches!(self.child.try_wait(), Ok(Some(_))) {
            return None;
        }
        self.pipe = None;
        self.starts -= 1;
        let again = if self.starts > 0 { started((self.command)(), self.folder).ok() } else { None };
        let Some((child, end, pipe)) = again else {
            return Some("the guard was killed and does not start again: if this command is killed, programs are left");
        };
        (self.child, self.end, self.pipe) = (child, end, pipe);
        self.running.clone().into_iter().for_each(|group| self.tell('+', group));
        Some("the guard, which ends programs when this command is killed, was killed itself: it runs again")
    }

    /// This group runs.
    pub fn add(&mut self, group: Pid) {
        self.running.push(group);
        self.tell('+', group);
    }

    /// This group has ended.
    pub fn remove(&mut self, group: Pid) {
        self.running.retain(|known| *known != group);
        self.tell('-', group);
    }

    fn tell(&mut self, sign: char, group: Pid) {
        // One that was killed is told all when it was started anew.
        let line = format!("{sign}{}\n", group.as_raw_nonzero());
        let _ = self.pipe.as_mut().map(|pipe| pipe.write_all(line.as_bytes()));
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.child.wait();
    }
}

fn started(mut command: Command, folder: &Path) -> io::Result<(Child, OwnedFd, Option<ChildStdin>)> {
    command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    let mut child = command.process_group(0).spawn()?;
    let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let pipe = child.stdin.take();
    Ok((child, end, pipe))
}

/// The guard's process: reads what runs until the command is gone, ends what is left, and removes the command's `folder`.
///
/// # Errors
/// When the kernel refuses the handlers of signals.
pub fn guard(folder: &Path) -> io::Result<()> {
    // It ends by its pipe alone: who signals all processes of a terminal wants the programs' end, too, and gets it in order.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut running: Vec<Pid> = Vec::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let group = line.get(1..).and_then(|number| number.parse().ok()).and_then(Pid::from_raw);
        match (line.chars().next(), group) {
            (Some('+'), Some(group)) => running.push(group),
            (Some('-'), Some(group)) => running.retain(|known| *known != group),
            _ => {}
        }
    }
    for group in running.into_iter().rev() {
        end(group);
    }
    strays::end(folder);
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

fn end(group: Pid) {
    for (signal, limit) in [(Signal::TERM, GRACE), (Signal::KILL, KILLED)] {
        group::signal(group, signal);
        let end = MonotonicTime::now().plus(limit);
        while group::lives(group) {
            if MonotonicTime::now() >= end {
                break;
            }
            pause(LOOK);
        }
    }
}
