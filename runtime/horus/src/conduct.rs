//! How programs of nodes share one virtual time: a conductor lets one of them at a time go on.
//!
//! Each program has a folder, which [`VARIABLE`] names, with two topics of bytes. One side waits for the other at any time:
//!
//! ```text
//! conductor                                  program
//!     <------ report 0: next at t0 ------------      its nodes are declared
//!     ------- turn 1: until t0 --------------->      runs what is due at t0
//!     <------ report 1: next at t1 ------------
//! ```
//!
//! A program that is not in turn runs nothing, so the order of all that happens in a robot is total. It is the same in each run, because
//! the conductor chooses by time and by the order of programs alone.
//!
//! # What was not chosen
//! A barrier for all programs at each instant: programs would run side by side, and the order in which two publish at one instant would be the
//! machine's.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::time::MonotonicTime;
use crate::topic::{Bytes, Options, Publisher, Subscriber, WaitStrategy};

/// When a virtual time begins: a week after zero, which most periods divide.
pub const BEGINNING: MonotonicTime = MonotonicTime::from_nanos(7 * 86_400 * 1_000_000_000);

/// Environment variable with the folder at which a conductor has turns for this program.
pub const VARIABLE: &str = "HORUS_VIRTUAL";

/// Names of the topics and, by their types, version of the protocol.
const TURNS: (&str, &str) = ("turn", "horus/Turn1");
const REPORTS: (&str, &str) = ("report", "horus/Report1");

/// Words of a message.
const WORDS: usize = 3;
/// No time: nothing is due.
const NEVER: u64 = u64::MAX;
/// How soon a program sees that it was asked to end.
const LOOK_FOR_STOP: Duration = Duration::from_millis(20);
/// So many looks later it looks whether the conductor lives.
const LOOKS: u32 = 25;

/// What a program says when its turn is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// When its next node is due; `None` where only messages release nodes.
    pub next: Option<MonotonicTime>,
    /// Whether it runs no more.
    pub is_over: bool,
}

/// The conductor's end for one program.
pub struct Seat {
    turns: Publisher<[u8]>,
    reports: Subscriber<[u8]>,
    number: u64,
}

impl Seat {
    /// Makes the topics in `folder`, before the program starts.
    ///
    /// # Errors
    /// When topics cannot be made there.
    pub fn make(folder: &Path) -> crate::Result<Self> {
        Ok(Self { turns: publisher(folder, TURNS)?, reports: subscriber(folder, REPORTS)?, number: 0 })
    }

    /// Lets the program run what is due by `until`.
    ///
    /// # Errors
    /// When the program was let go on before it had reported.
    pub fn go(&mut self, until: MonotonicTime) -> crate::Result {
        self.number += 1;
        Ok(self.turns.try_send(&bytes([self.number, until.as_nanos(), 0])[..])?)
    }

    /// Waits for the report on the last turn, or on the program's start; `None` when it has not come within `limit`.
    pub fn report(&mut self, limit: Duration) -> Option<Report> {
        let [number, next, is_over] = words(self.reports.recv_timeout(limit)?.message)?;
        let next = (next != NEVER).then(|| MonotonicTime::from_nanos(next));
        (number == self.number).then_some(Report { next, is_over: is_over != 0 })
    }
}

/// A program's end.
pub(crate) struct Turns {
    turns: Subscriber<[u8]>,
    reports: Publisher<[u8]>,
    number: u64,
}

impl Turns {
    /// Those of the conductor that this process was started by, if one did.
    pub fn from_environment() -> crate::Result<Option<Self>> {
        let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) else { return Ok(None) };
        let folder = Path::new(&folder);
        let opened = subscriber(folder, TURNS).and_then(|turns| Ok((turns, publisher(folder, REPORTS)?)));
        let (turns, reports) = opened.map_err(|error| {
            crate::Error::new(format!(
                "{VARIABLE}={}: {error}; `horus run --virtual` sets it: unset it to run by the machine's clock",
                folder.display()
            ))
        })?;
        horus_sys::clock::stamp_virtually(BEGINNING.as_nanos());
        Ok(Some(Self { turns, reports, number: 0 }))
    }

    /// Says that the turn is over, or that the nodes are declared.
    pub fn report(&mut self, report: Report) -> crate::Result {
        let next = report.next.map_or(NEVER, MonotonicTime::as_nanos);
        Ok(self.reports.try_send(&bytes([self.number, next, report.is_over.into()])[..])?)
    }

    /// Waits for the next turn; `None` when `stop` is set, or when the conductor is gone.
    pub fn wait(&mut self, stop: &AtomicBool) -> crate::Result<Option<MonotonicTime>> {
        let mut looks = 0;
        // Relaxed: the flag carries no data.
        while !stop.load(Ordering::Relaxed) {
            if let Some(received) = self.turns.recv_timeout(LOOK_FOR_STOP) {
                let Some([number, until, _]) = words(received.message) else { continue };
                self.number = number;
                return Ok(Some(MonotonicTime::from_nanos(until)));
            }
            looks += 1;
            if looks % LOOKS == 0 && !self.turns.is_published()? {
                break;
            }
        }
        Ok(None)
    }
}

fn publisher(folder: &Path, (topic, type_name): (&str, &str)) -> crate::Result<Publisher<[u8]>> {
    let shape = Bytes::of_type(type_name, WORDS * size_of::<u64>());
    Ok(Publisher::open_as(topic, shape, options(folder))?)
}

fn subscriber(folder: &Path, (topic, type_name): (&str, &str)) -> crate::Result<Subscriber<[u8]>> {
    let shape = Bytes::of_type(type_name, WORDS * size_of::<u64>());
    Ok(Subscriber::open_as(topic, shape, options(folder))?)
}

/// Asleep while others run: a CPU that is spun on is missing there.
fn options(folder: &Path) -> Options {
    Options::reliable(4).directory(folder).wait_strategy(WaitStrategy::Sleep)
}

fn bytes(words: [u64; WORDS]) -> [u8; WORDS * size_of::<u64>()] {
    let mut bytes = [0; WORDS * size_of::<u64>()];
    bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
    bytes
}

fn words(bytes: &[u8]) -> Option<[u64; WORDS]> {
    let (chunks, rest) = bytes.as_chunks();
    let words = <[_; WORDS]>::try_from(chunks).ok().filter(|_| rest.is_empty())?;
    Some(words.map(u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cross_as_bytes_and_other_bytes_are_none() {
        assert_eq!(words(&bytes([1, NEVER, 3])), Some([1, NEVER, 3]));
        assert_eq!(words(&[0; 23]), None);
        assert_eq!(words(&[0; 32]), None);
    }

    #[test]
    fn a_report_on_another_turn_is_none() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut seat = Seat::make(scratch.path()).unwrap();
        let mut reports = publisher(scratch.path(), REPORTS).unwrap();
        let mut say = |number| reports.try_send(&bytes([number, 7, 0])[..]).unwrap();
        say(0);
        let limit = Duration::from_secs(30);
        assert_eq!(seat.report(limit), Some(Report { next: Some(MonotonicTime::from_nanos(7)), is_over: false }));
        seat.go(BEGINNING).unwrap();
        say(0);
        assert_eq!(seat.report(limit), None);
    }
}
