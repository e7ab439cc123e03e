//! The loop: starts programs when those before them are ready, says what they say, starts again what fails, and ends all in reverse order.

use std::io;
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use horus::time::MonotonicTime;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::time::Timespec;
use tempfile::TempDir;

use crate::file::Ready;
use crate::group::GRACE;
use crate::guard::Guard;
use crate::member::{Member, State};
use crate::process::{Life, Process, Stream};
use crate::ready::Socket;
use crate::restart::MOST_RESTARTS;
use crate::robot::{Program, Robot};
use crate::screen::Screen;
use crate::signals::Signals;
use crate::strays;

/// A second signal that comes sooner is the first one, sent twice.
const SAME_SIGNAL: Duration = Duration::from_secs(1);
/// The distance of looks at what a program left running.
const LOOK: Duration = Duration::from_millis(20);
/// The longest time between two looks.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How the run of a robot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a failure that is not looked at is told to no one"]
pub enum Outcome {
    /// All programs ended as they were asked to, or by themselves with success.
    Ended,
    /// A program failed for good, or had to be killed.
    Failed,
}

/// Runs a robot until its programs have ended, or until one of `signals` comes. `guard` starts a process that calls
/// [`guard`](crate::guard()) with the folder that it is given as its last argument.
///
/// # Errors
/// When this machine has no folder, pipe or process to give. What fails of a program is told on the screen.
pub fn run(robot: &Robot, signals: &Signals, guard: Command, screen: &mut Screen) -> io::Result<Outcome> {
    let folder = tempfile::Builder::new().prefix("horus-run-").tempdir()?;
    let guard = Guard::start(guard, folder.path())?;
    screen.fit(robot.programs.iter().map(|program| program.name.as_str()));
    let members = robot.programs.iter().map(|_| Member::default()).collect();
    let mut run = Run {
        programs: &robot.programs,
        members,
        screen,
        guard,
        folder,
        stop: None,
        order: Vec::new(),
        has_failed: false,
    };
    let result = run.go(signals);
    run.kill_all(); // only after an error something is left
    strays::end(run.folder.path());
    result.map(|()| if run.has_failed { Outcome::Failed } else { Outcome::Ended })
}

struct Run<'a> {
    programs: &'a [Program],
    members: Vec<Member>,
    screen: &'a mut Screen,
    // Dropped before the folder: the guard removes it only when the command was killed.
    guard: Guard,
    folder: TempDir,
    /// When all were asked to end.
    stop: Option<MonotonicTime>,
    /// Those that ended since then.
    order: Vec<usize>,
    has_failed: bool,
}

impl Run<'_> {
    fn go(&mut self, signals: &Signals) -> io::Result<()> {
        let mut count = 0;
        loop {
            self.start_due();
            self.end_due();
            if self.members.iter().all(|member| member.state == State::Over) {
                break;
            }
            self.wait(signals)?;
            count = self.obey(count, signals.count());
            for place in 0..self.members.len() {
                self.look(place)?;
            }
            if self.screen.is_closed && self.stop.is_none() {
                self.stop = Some(MonotonicTime::now());
            }
        }
        if self.stop.is_some() && !self.order.is_empty() {
            let names: Vec<_> = self.order.iter().map(|place| self.programs[*place].name.as_str()).collect();
            self.screen.tell(&format!("{} ended in order", names.join(", ")));
        }
        Ok(())
    }

    /// Starts those whose time has come.
    fn start_due(&mut self) {
        let now = MonotonicTime::now();
        for place in 0..self.members.len() {
            let is_due = match self.members[place].state {
                State::Waiting => self.programs[place].after.iter().all(|before| self.members[*before].was_ready),
                State::Pausing { until } => now >= until,
                _ => false,
            };
            if is_due && self.stop.is_none() {
                self.start(place);
            }
        }
    }

    fn start(&mut self, place: usize) {
        let (program, member) = (&self.programs[place], &mut self.members[place]);
        member.starts += 1;
        member.begin();
        let started = Socket::bind(self.folder.path(), place, member.starts)
            .and_then(|socket| Process::start(program, socket.path()).map(|process| (socket, process)));
        match started {
            Ok((socket, process)) => {
                self.guard.add(process.group());
                (member.socket, member.process, member.state) = (Some(socket), Some(process), State::Starting);
                if program.ready == Ready::Start {
                    self.is_ready(place, "started");
                }
            }
            Err(error) => {
                member.state = State::Over;
                self.has_failed = true;
                let command = program.start.command.display();
                self.screen.say(place, &program.name, &format!("cannot be started: {command}: {error}"));
                self.is_missing(place);
            }
        }
    }

    fn is_ready(&mut self, place: usize, words: &str) {
        let member = &mut self.members[place];
        (member.state, member.was_ready, member.was_ready_now) = (State::Running, true, true);
        self.screen.say(place, &self.programs[place].name, words);
    }

    /// Whether programs wait for this one.
    fn waits_for(&self, place: usize) -> Option<&str> {
        let waits = |(other, program): (usize, &Program)| {
            program.after.contains(&place) && self.members[other].state == State::Waiting
        };
        let other = self.programs.iter().enumerate().position(waits)?;
        Some(&self.programs[other].name)
    }

    /// A program is gone for good: what waits for it cannot start.
    fn is_missing(&mut self, place: usize) {
        if self.stop.is_some() || self.members[place].was_ready {
            return;
        }
        if let Some(waiting) = self.waits_for(place) {
            let sentence =
                format!("{} was never ready, and {waiting} starts after it: all are ended", self.programs[place].name);
            self.screen.tell(&sentence);
            (self.stop, self.has_failed) = (Some(MonotonicTime::now()), true);
        }
    }

    /// What is late: a program that is not ready, one that does not end. And the end of those whose turn it is.
    fn end_due(&mut self) {
        let now = MonotonicTime::now();
        for place in 0..self.members.len() {
            let program = &self.programs[place];
            match self.members[place].state {
                State::Starting if now >= self.members[place].began.plus(program.ready_within) => self.is_late(place),
                State::Ending { kill_at } if now >= kill_at => {
                    let sentence = format!("did not end within {} of SIGTERM: killed", seconds(GRACE));
                    self.screen.say(place, &program.name, &sentence);
                    self.kill(place);
                }
                _ => {}
            }
        }
        if self.stop.is_none() {
            return;
        }
        for place in (0..self.members.len()).rev() {
            let is_free = |(other, program): (usize, &Program)| {
                !program.after.contains(&place) || self.members[other].state == State::Over
            };
            if !self.programs.iter().enumerate().all(is_free) {
                continue;
            }
            let member = &mut self.members[place];
            match (member.state, &member.process) {
                (State::Starting | State::Running, Some(process)) => {
                    process.signal(Signal::TERM);
                    member.state = State::Ending { kill_at: now.plus(GRACE) };
                }
                (State::Waiting | State::Pausing { .. }, _) => member.state = State::Over,
                _ => {}
            }
        }
    }

    fn is_late(&mut self, place: usize) {
        let program = &self.programs[place];
        let time = seconds(program.ready_within);
        let remedy = "it has to say READY=1, as a program of nodes does: see what it prints, or write ready = \"start\" if it never says so, or a \
                      longer ready_within";
        let waits = self.waits_for(place).map(str::to_owned);
        self.screen.say(place, &program.name, &format!("is not ready after {time}: {remedy}"));
        self.members[place].state = State::Running;
        if let Some(waiting) = waits {
            self.has_failed = true;
            self.screen.tell(&format!("{waiting} starts after {}, which is not ready: all are ended", program.name));
            self.stop = Some(MonotonicTime::now());
        }
    }

    fn kill(&mut self, place: usize) {
        let member = &mut self.members[place];
        if let Some(process) = &member.process {
            self.has_failed = true;
            process.signal(Signal::KILL);
            member.state = State::Killed;
        }
    }

    fn kill_all(&mut self) {
        for place in 0..self.members.len() {
            self.kill(place);
        }
    }

    /// Obeys `more` signals after `count`, and returns how many there were.
    fn obey(&mut self, count: usize, more: usize) -> usize {
        if more == 0 {
            return count;
        }
        let now = MonotonicTime::now();
        match self.stop {
            None => self.stop = Some(now),
            Some(since) if count + more > 2 || now.since(since) > SAME_SIGNAL => {
                self.screen.tell("a second signal: all are killed");
                self.kill_all();
            }
            Some(_) => {}
        }
        count + more
    }

    /// Waits until something happens, or something is due.
    fn wait(&self, signals: &Signals) -> io::Result<()> {
        let now = MonotonicTime::now();
        let due = self.members.iter().zip(self.programs).filter_map(|(member, program)| match member.state {
            State::Starting => Some(member.began.plus(program.ready_within)),
            State::Ending { kill_at } => Some(kill_at),
            State::Pausing { until } => Some(until),
            _ => None,
        });
        // No file tells that a group has ended.
        let rest = self.members.iter().any(|member| member.rest_until.is_some()).then_some(LOOK);
        let wait = due.min().map_or(LONGEST_WAIT, |due| due.since(now)).min(rest.unwrap_or(LONGEST_WAIT));
        // One nanosecond more than nothing, or the loop would spin in the last one.
        let wait = Timespec::try_from(wait + Duration::from_nanos(1)).map_err(io::Error::other)?;
        let sockets =
            self.members.iter().filter_map(|member| member.socket.as_ref().map(|socket| socket.socket().as_fd()));
        let processes = self.members.iter().filter_map(|member| member.process.as_ref()).flat_map(Process::files);
        let files = std::iter::once(signals.socket().as_fd()).chain(sockets).chain(processes);
        let mut files: Vec<_> = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN)).collect();
        match poll(&mut files, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks what a program says and whether it lives.
    fn look(&mut self, place: usize) -> io::Result<()> {
        let (name, member) = (&self.programs[place].name, &mut self.members[place]);
        let Some(mut process) = member.process.take() else { return Ok(()) };
        let life = process.life()?;
        process.read(|stream, line| {
            self.screen.line(place, name, line);
            if stream == Stream::Error {
                member.keep(line);
            }
        });
        let is_young = matches!(member.state, State::Starting | State::Running) && !member.was_ready_now;
        if member.socket.as_ref().is_some_and(Socket::hears_ready) && is_young {
            // Rounded up: no program is ready after nothing.
            let took = MonotonicTime::now().since(member.began).as_millis().div_ceil(100).max(1);
            let words = format!("ready after {}", seconds(Duration::from_millis(100 * took as u64)));
            self.is_ready(place, &words);
        }
        match life {
            Life::Runs => self.members[place].process = Some(process),
            Life::Leaves => {
                let now = MonotonicTime::now();
                match self.members[place].rest_until {
                    None => {
                        process.signal(Signal::TERM);
                        self.members[place].rest_until = Some(now.plus(GRACE));
                    }
                    Some(until) if now >= until => process.signal(Signal::KILL),
                    Some(_) => {}
                }
                self.members[place].process = Some(process);
            }
            Life::Ended(status) => {
                self.guard.remove(process.group());
                process.end(|line| self.screen.line(place, name, line));
                self.has_ended(place, status);
            }
        }
        Ok(())
    }

    fn has_ended(&mut self, place: usize, status: ExitStatus) {
        let (program, member) = (&self.programs[place], &mut self.members[place]);
        let (state, ran) = (member.state, MonotonicTime::now().since(member.began));
        (member.socket, member.rest_until) = (None, None);
        if matches!(state, State::Ending { .. } | State::Killed) {
            member.state = State::Over;
            self.order.push(place);
            return;
        }
        let how = member.how(status);
        let is_failure = !status.success();
        let again = if program.restart.applies(is_failure) { member.attempts.next(ran) } else { None };
        if let (Some(attempt), None) = (again, self.stop) {
            member.state = State::Pausing { until: MonotonicTime::now().plus(attempt.pause) };
            let (pause, number) = (seconds(attempt.pause), attempt.number);
            self.screen.say(place, &program.name, &format!("{how} -> again in {pause} ({number} of {MOST_RESTARTS})"));
            return;
        }
        member.state = State::Over;
        self.has_failed |= is_failure;
        let rest = match program.restart.applies(is_failure) && self.stop.is_none() {
            true => format!("; given up after {MOST_RESTARTS} restarts"),
            false => String::new(),
        };
        self.screen.say(place, &program.name, &format!("{how}{rest}"));
        self.is_missing(place);
    }
}

/// A time for people: `0.5 s`, `10 s`.
fn seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}
