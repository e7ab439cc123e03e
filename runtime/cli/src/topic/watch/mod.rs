//! `horus topic echo`, `hz`, `bw` and `delay`: what goes over a topic, seen by an observer that no peer of the topic knows of.
//!
//! None of them joins, so none can hold up a publisher, be woken by one, or take a subscriber's place. In exchange they look
//! by the clock, and miss what is overwritten between two looks; they count what they missed.

pub mod bandwidth;
pub mod delay;
pub mod echo;
mod lengths;
pub mod rate;
pub mod windows;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::time::{Clock, MonotonicTime, SystemClock, parse_duration};
use horus_shm::directory::{Directory, Location, TopicName};
use horus_shm::ends::observe::{Observation, Start};
use horus_shm::error::OpenError;
use horus_shm::segment::header::Header;

use super::near;

/// The time between two looks for messages.
const LOOK: Duration = Duration::from_millis(1);
/// The time between two looks for a topic, or for another one of the same name. Shorter than a publisher of one message
/// stays ([`super::publish`]).
const SEARCH: Duration = Duration::from_millis(20);

/// Which topic, and how long to wait for it.
#[derive(clap::Args)]
pub struct Target {
    /// The topic's name
    name: TopicName,
    /// End with an error when so long nothing comes, such as 10s [default: wait for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
}

/// Why a command ends before its time.
#[derive(Debug)]
pub enum Ending {
    /// The reader of its output has enough (`| head`).
    Closed,
    /// Something is in the way; the reason.
    Failed(String),
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(format!("cannot write: {error}")),
        }
    }
}

impl From<OpenError> for Ending {
    fn from(error: OpenError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Ends the line in which the terminal shows `^C`, if `stop` was set by it.
pub fn end_line(stop: &AtomicBool) {
    if stop.load(Ordering::Relaxed) && io::stderr().is_terminal() {
        eprintln!();
    }
}

/// A topic that is watched, through all files that its name stands for meanwhile.
pub struct Watch {
    location: Location,
    target: Target,
    stop: Arc<AtomicBool>,
    observation: Observation,
    next_search: MonotonicTime,
    /// When something came last, or the watch began.
    last: MonotonicTime,
}

impl Watch {
    /// Waits for the topic and begins to watch it; `None` when the user stopped that.
    pub fn begin(location: Location, target: Target, start: Start) -> Result<Option<Self>, Ending> {
        let stop = horus::stop::on_termination()?;
        let began = MonotonicTime::now();
        let mut start = start;
        let observation = loop {
            let directory = Directory::find(location.path())?;
            let found = directory.as_ref().map(|directory| Observation::open(&directory.file(&target.name), start));
            if let Some(observation) = found.transpose()?.flatten() {
                break observation;
            }
            let missing = || {
                let near = near::hint(directory.as_ref(), target.name.as_str());
                format!("there is no topic {} in {}{near}", target.name, location.path().display())
            };
            if target.timeout.is_some_and(|limit| MonotonicTime::now().since(began) >= limit) {
                return Err(Ending::Failed(missing()));
            }
            if start != Start::First {
                super::note(&format!("waiting: {}", missing()));
                start = Start::First; // whatever will be sent there is meant for this watch
            }
            SystemClock.sleep_until(MonotonicTime::now().plus(SEARCH));
            if stop.load(Ordering::Relaxed) {
                end_line(&stop);
                return Ok(None);
            }
        };
        if observation.publishers()?.is_empty() {
            super::note(&format!("waiting: no program publishes {} at the moment", target.name));
        }
        let now = MonotonicTime::now();
        Ok(Some(Self { location, target, stop, observation, next_search: now.plus(SEARCH), last: now }))
    }

    /// The topic's name.
    pub fn name(&self) -> &str {
        self.target.name.as_str()
    }

    pub fn topic(&mut self) -> &mut Observation {
        &mut self.observation
    }

    /// What its messages are, and how it is made.
    pub fn header(&self) -> &Header {
        self.observation.header()
    }

    /// Whether the user wants to end it.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the line in which the terminal shows `^C`, if the user stopped the command so.
    pub fn end_line(&self) {
        end_line(&self.stop);
    }

    /// Says that something came.
    pub fn came(&mut self) {
        self.last = MonotonicTime::now();
    }

    /// Waits until `until`, or until the next search if that is earlier. When the topic was made anew, that one is watched
    /// from now on, and the one before is returned: with what was sent there since the last look.
    ///
    /// # Errors
    /// When nothing came for as long as the user would wait.
    pub fn rest(&mut self, until: MonotonicTime) -> Result<Option<Observation>, Ending> {
        SystemClock.sleep_until(until.min(self.next_search));
        let now = MonotonicTime::now();
        if now < self.next_search {
            return Ok(None);
        }
        self.next_search = now.plus(SEARCH);
        if self.target.timeout.is_some_and(|limit| now.since(self.last) >= limit) {
            return Err(Ending::Failed(format!("{}: nothing came in time (--timeout)", self.name())));
        }
        if self.observation.is_current() {
            return Ok(None);
        }
        let Some(directory) = Directory::find(self.location.path())? else { return Ok(None) };
        // As long as there is no other one, a peer that has this one open may go on.
        let found = Observation::open(&directory.file(&self.target.name), Start::First)?;
        Ok(found.map(|found| std::mem::replace(&mut self.observation, found)))
    }
}
