//! The loop: starts programs when those before them are ready, says what they say, starts again what fails, and ends all in reverse order.

mod ends;
mod starts;
mod virtually;

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use horus::time::{MonotonicTime, pause};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::time::Timespec;

use crate::group::GRACE;
use crate::guard::Guard;
use crate::member::{Member, State};
use crate::order;
use crate::process::{Life, Process, Stream};
use crate::ready::Socket;
use crate::robot::{Program, Robot};
use crate::screen::Screen;
use crate::signals::Signals;
use crate::strays;
pub use virtually::Play;
use virtually::Stage;

/// The distance of looks at what a program left running.
const LOOK: Duration = Duration::from_millis(20);
/// The longest path of the folder that the sockets' folder is in.
const MOST_BYTES_OF_PLACE: usize = 70;
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

/// Runs a robot until its programs have ended, or until one of `signals` comes. `guard` is the command of a process that calls
/// [`guard`](crate::guard()) with the folder that it is given as its last argument. With a `play`, it runs on a virtual clock.
///
/// # Errors
/// When this machine has no folder, pipe or process to give. What fails of a program is told on the screen.
pub fn run(
    robot: &Robot,
    play: Option<&Play>,
    signals: &Signals,
    guard: &dyn Fn() -> Command,
    screen: &mut Screen,
) -> io::Result<Outcome> {
    let folder = tempfile::Builder::new().prefix("horus-run-").tempdir_in(place_of_sockets())?;
    let guard = Guard::start(guard, folder.path())?;
    screen.fit(robot.programs.iter().map(|program| program.name.as_str()));
    let members = robot.programs.iter().map(|_| Member::default()).collect();
    let after: Vec<_> = robot.programs.iter().map(|program| program.after.clone()).collect();
    let mut run = Run {
        programs: &robot.programs,
        before: order::all_before(&after),
        members,
        screen,
        guard,
        folder: folder.path(),
        stop: None,
        asked: None,
        order: Vec::new(),
        has_failed: false,
        stage: play.map(Stage::new).transpose().map_err(|error| io::Error::other(error.to_string()))?,
    };
    let result = run.go(signals);
    run.kill_all(); // only after an error something is left
    strays::end(run.folder, &mut pause);
    result.map(|()| if run.has_failed { Outcome::Failed } else { Outcome::Ended })
}

struct Run<'a> {
    programs: &'a [Program],
    /// All that each of them starts after, also through others.
    before: Vec<Vec<usize>>,
    members: Vec<Member>,
    screen: &'a mut Screen,
    guard: Guard<'a>,
    folder: &'a Path,
    /// When all were to end, because of a signal or of a program.
    stop: Option<MonotonicTime>,
    /// When the first signal came.
    asked: Option<MonotonicTime>,
    /// Those that ended since then.
    order: Vec<usize>,
    has_failed: bool,
    /// What there is of it, if it runs on a virtual clock.
    stage: Option<Stage<'a>>,
}

impl Run<'_> {
    fn go(&mut self, signals: &Signals) -> io::Result<()> {
        let mut count = 0;
        loop {
            self.start_due();
            self.conduct()?;
            self.end_due();
            let is_playing = self.stage.as_ref().is_some_and(Stage::is_playing);
            if self.members.iter().all(|member| member.state == State::Over) && !is_playing {
                break;
            }
            self.wait(signals)?;
            if let Some(words) = self.guard.look() {
                self.screen.tell(words);
            }
            count = self.obey(count, signals.count());
            for place in 0..self.members.len() {
                self.look(place)?;
            }
            if self.stop.is_none() && self.screen.is_closed() {
                self.stop = Some(MonotonicTime::now());
            }
        }
        if self.stop.is_some() && !self.order.is_empty() {
            let names: Vec<_> = self.order.iter().map(|place| self.programs[*place].name.as_str()).collect();
            self.screen.tell(&format!("{} ended in order", names.join(", ")));
        }
        Ok(())
    }

    /// Waits until something happens, or something is due.
    fn wait(&self, signals: &Signals) -> io::Result<()> {
        let now = MonotonicTime::now();
        let due = self.members.iter().zip(self.programs).filter_map(|(member, program)| match member.state {
            State::Starting if self.stop.is_none() => Some(member.began.plus(program.ready_within)),
            State::Ending { kill_at } => Some(kill_at),
            State::Killed { give_up_at } => Some(give_up_at),
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
        let screen = self.stop.is_none().then(|| self.screen.end().as_fd());
        let guard = self.guard.end().map(AsFd::as_fd);
        let conductor = self.stage.as_ref().and_then(Stage::end).map(AsFd::as_fd);
        let files = std::iter::once(signals.socket().as_fd())
            .chain(screen)
            .chain(guard)
            .chain(conductor)
            .chain(sockets)
            .chain(processes);
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
            self.takes_seat(place);
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
}

/// Where sockets may be: their paths have 107 bytes at most.
fn place_of_sockets() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= MOST_BYTES_OF_PLACE { usual } else { PathBuf::from("/tmp") }
}

/// A time for people: `0.5 s`, `10 s`.
fn seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}
