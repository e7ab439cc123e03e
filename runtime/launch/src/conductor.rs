//! The conductor of a robot in virtual time: of all programs, it always lets the one go on whose node is due first, and waits for it.
//!
//! Of several that are due at one time, the one that was started first goes on. A program whose nodes wait for a topic is due when a message
//! has come there. So the order is total, and follows from the programs alone.
//!
//! It is a thread beside the loop that reads what programs print: a program that waits for its pipe to be read would never come back.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use horus::conduct::{BEGINNING, Report, Seat};
use horus::time::MonotonicTime;

use crate::digest::{Digest, Name, Row};

/// How soon it sees that a program ended, or that all are to end.
const LOOK: Duration = Duration::from_millis(20);
/// The distance of two looks for topics that programs opened while they ran.
const SCAN: Duration = Duration::from_millis(100);
/// So many turns within [`WINDOW`] are programs that answer each other without end.
const MOST_TURNS: u64 = 10_000;
const WINDOW: Duration = Duration::from_millis(1);

/// A program, as its conductor knows it.
pub struct Player {
    pub name: String,
    pub seat: Seat,
    pub next: Option<MonotonicTime>,
    /// Topics that release nodes of it.
    pub hears: Vec<Name>,
    /// Set when its process has ended.
    pub is_gone: Arc<AtomicBool>,
}

/// What it plays, and until when.
pub struct Conductor {
    /// In the order in which they were started.
    pub players: Vec<Player>,
    pub digest: Digest,
    /// When virtual time ends.
    pub until: Option<MonotonicTime>,
    /// How long a turn may take by the machine's clock.
    pub patience: Duration,
    /// Set when all are to end.
    pub stop: Arc<AtomicBool>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// At the time that was asked for.
    Done,
    /// Nothing is due any more.
    Idle,
    /// All were to end.
    Stopped,
    /// A program, by its place in the order, has not come back from a turn.
    Hangs(usize),
    /// A program is gone that was to run.
    Gone(usize),
    /// Programs release each other without end.
    Endless(Vec<usize>),
    /// The machine refused something.
    Error(String),
}

/// What was played.
pub struct Played {
    pub end: End,
    pub virtual_time: Duration,
    pub took: Duration,
    pub turns: u64,
    pub rows: Vec<Row>,
    pub digest: String,
    /// Kept until all have ended: a program whose conductor is gone ends by itself, and not when it is its turn to.
    pub players: Vec<Player>,
}

/// Of a program that ended as it should.
const OVER: Option<MonotonicTime> = None;

impl Conductor {
    /// Plays until the end. `done` is closed then.
    pub fn play(mut self, done: UnixStream) -> Played {
        let _done = done;
        let began = Instant::now();
        let mut score = Score::default();
        let end = self.go(&mut score);
        let (rows, digest) = self.digest.finish();
        let virtual_time = score.now.since(BEGINNING);
        Played { end, virtual_time, took: began.elapsed(), turns: score.turns, rows, digest, players: self.players }
    }

    fn go(&mut self, score: &mut Score) -> End {
        let hears = self.hears();
        let mut scan = BEGINNING;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return End::Stopped;
            }
            let due = self.players.iter().enumerate().filter_map(|(place, player)| Some((player.next?, place))).min();
            let Some((at, place)) = due else { return End::Idle };
            if let Some(until) = self.until.filter(|until| at > *until) {
                score.now = until;
                return End::Done;
            }
            if at >= scan {
                if let Err(error) = self.digest.scan() {
                    return End::Error(error);
                }
                scan = at.plus(SCAN);
            }
            if !score.turn(at, place) {
                return End::Endless(score.most());
            }
            let report = match self.turn(place, at) {
                Ok(report) => report,
                Err(end) => return end,
            };
            self.players[place].next = if report.is_over { OVER } else { report.next };
            if report.is_over {
                self.players[place].hears.clear();
            }
            let Self { players, digest, .. } = self;
            let looked = digest.look(|topic| {
                for &other in hears.get(topic).into_iter().flatten() {
                    let listener = &mut players[other];
                    if other != place && !listener.hears.is_empty() {
                        listener.next = Some(listener.next.map_or(at, |next| next.min(at)));
                    }
                }
            });
            if let Err(error) = looked {
                return End::Error(error);
            }
        }
    }

    /// Who is released by each topic.
    fn hears(&self) -> BTreeMap<Name, Vec<usize>> {
        let mut hears: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (place, player) in self.players.iter().enumerate() {
            player.hears.iter().for_each(|topic| hears.entry(topic.clone()).or_default().push(place));
        }
        hears
    }

    /// Lets a program go on, and waits for its report.
    fn turn(&mut self, place: usize, at: MonotonicTime) -> Result<Report, End> {
        let Self { players, stop, patience, .. } = self;
        let player = &mut players[place];
        player.seat.go(at).map_err(|error| End::Error(format!("{}: {error}", player.name)))?;
        let began = Instant::now();
        loop {
            // Its last report may lie there when it has ended.
            let is_gone = player.is_gone.load(Ordering::Acquire); // SYNC POINT: gone
            match player.seat.report(LOOK) {
                Some(report) => return Ok(report),
                None if is_gone => return Err(End::Gone(place)),
                None if stop.load(Ordering::Relaxed) => return Err(End::Stopped),
                None if began.elapsed() >= *patience => return Err(End::Hangs(place)),
                None => {}
            }
        }
    }
}

/// Where the play stands.
struct Score {
    now: MonotonicTime,
    turns: u64,
    /// When the turns began that are counted, and how many there were of each program.
    window: (MonotonicTime, BTreeMap<usize, u64>),
}

impl Default for Score {
    fn default() -> Self {
        Self { now: BEGINNING, turns: 0, window: (BEGINNING, BTreeMap::new()) }
    }
}

impl Score {
    /// Takes note of a turn; false if it is one too many.
    fn turn(&mut self, at: MonotonicTime, place: usize) -> bool {
        self.now = at;
        self.turns += 1;
        if at.since(self.window.0) >= WINDOW {
            self.window = (at, BTreeMap::new());
        }
        *self.window.1.entry(place).or_default() += 1;
        self.window.1.values().sum::<u64>() <= MOST_TURNS
    }

    /// Who had most of the turns.
    fn most(&self) -> Vec<usize> {
        let of = |(place, turns): (&usize, &u64)| (*turns > MOST_TURNS / 10).then_some(*place);
        self.window.1.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_without_end_at_one_time_are_found_and_many_over_time_are_not() {
        let score = || Score::default();
        let mut slow = score();
        assert!((0..3 * MOST_TURNS).all(|turn| slow.turn(BEGINNING.plus_nanos(turn * 100), 0)));
        let mut endless = score();
        assert_eq!(
            (0..3 * MOST_TURNS).position(|turn| !endless.turn(BEGINNING.plus_nanos(turn), 0)),
            Some(MOST_TURNS as usize)
        );
    }
}
