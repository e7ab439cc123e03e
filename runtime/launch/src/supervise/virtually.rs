//! A robot on one virtual clock: its programs start one after the other, and when all are ready a conductor gives them their turns.
//!
//! All of it lies in a folder of its own in memory, so nothing of a robot that runs beside it is touched:
//!
//! ```text
//! /dev/shm/horus-world-…/topics         $HORUS_SHM_DIR of the programs
//!                       /conductor/0    $HORUS_VIRTUAL of the first program, and so on
//! ```

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use horus::conduct::{BEGINNING, Seat, VARIABLE};
use horus::figures;
use horus::time::MonotonicTime;
use horus::world::Scratch;
use horus_shm::directory::{DIRECTORY_VARIABLE, Directory, Namespace};

use super::{Run, seconds};
use crate::cast::Cast;
use crate::conductor::{Conductor, End, Played, Player};
use crate::digest::Digest;
use crate::member::{Member, State};
use crate::robot::Program;

/// Where topics are in the folder of a robot.
const TOPICS: &str = "topics";
/// Where turns are.
const TURNS: &str = "conductor";
/// How long a program that says it is ready may take to say when its nodes are due, which it said before.
const HELLO: Duration = Duration::from_secs(1);
/// What makes Python's sets and dictionaries of texts have another order in each run, unless it is set.
const SEED_OF_PYTHON: &str = "PYTHONHASHSEED";

/// How a robot is to run on a virtual clock.
#[derive(Clone, Debug)]
pub struct Play {
    /// Its programs.
    pub cast: Cast,
    /// How long, in virtual time; until it is stopped if nothing is said.
    pub span: Option<Duration>,
    /// How long a program's turn may take by the machine's clock.
    pub patience: Duration,
}

/// What there is of it while it runs.
pub(super) struct Stage<'a> {
    play: &'a Play,
    scratch: Scratch,
    seats: Vec<Option<(Seat, Option<MonotonicTime>)>>,
    gone: Vec<Arc<AtomicBool>>,
    /// The programs in the order in which they were started.
    order: Vec<usize>,
    stop: Arc<AtomicBool>,
    conductor: Option<(JoinHandle<Played>, UnixStream)>,
    has_begun: bool,
    /// Of a play that is over.
    players: Vec<Player>,
}

impl<'a> Stage<'a> {
    pub fn new(play: &'a Play) -> horus::Result<Self> {
        let scratch = Scratch::new()?;
        let topics = Directory::at(scratch.path().join(TOPICS))?;
        for role in &play.cast.roles {
            topics.in_namespace(&role.namespace.parse()?)?;
        }
        Directory::at(scratch.path().join(TURNS))?;
        let programs = play.cast.roles.len();
        Ok(Self {
            play,
            scratch,
            seats: (0..programs).map(|_| None).collect(),
            gone: (0..programs).map(|_| Arc::default()).collect(),
            order: Vec::new(),
            stop: Arc::default(),
            conductor: None,
            has_begun: false,
            players: Vec::new(),
        })
    }

    /// A seat for a program that starts now, and what its environment says of it.
    pub fn seat(&mut self, place: usize, program: &Program) -> horus::Result<Vec<(&'static str, OsString)>> {
        let turns = self.scratch.path().join(TURNS).join(self.order.len().to_string());
        self.seats[place] = Some((Seat::make(&turns)?, None));
        self.order.push(place);
        let mut said = vec![(VARIABLE, turns.into()), (DIRECTORY_VARIABLE, self.topics().into())];
        if std::env::var_os(SEED_OF_PYTHON).is_none() && !program.env.contains_key(SEED_OF_PYTHON) {
            said.push((SEED_OF_PYTHON, "0".into()));
        }
        Ok(said)
    }

    /// Whether a program that is ready looks at the virtual clock, as it has said by now.
    pub fn hears_of(&mut self, place: usize) -> bool {
        let Some((seat, next)) = &mut self.seats[place] else { return false };
        seat.report(HELLO).map(|report| *next = report.next).is_some()
    }

    /// A program's process has ended.
    pub fn has_ended(&self, place: usize) {
        self.gone[place].store(true, Ordering::Release); // SYNC POINT: gone
    }

    /// All are to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether the conductor plays, or has something to tell.
    pub fn is_playing(&self) -> bool {
        self.conductor.is_some()
    }

    /// Readable when it has something to tell.
    pub fn end(&self) -> Option<&UnixStream> {
        self.conductor.as_ref().map(|(_, end)| end)
    }

    fn topics(&self) -> PathBuf {
        self.scratch.path().join(TOPICS)
    }

    fn begin(&mut self, names: impl Fn(usize) -> String) -> std::io::Result<()> {
        let roles = &self.play.cast.roles;
        let of_namespace = |namespace: &String| {
            let parsed = namespace.parse::<Namespace>().unwrap_or_default();
            (namespace.clone(), parsed.path_in(&self.topics()))
        };
        let folders: std::collections::BTreeMap<_, _> =
            roles.iter().map(|role| of_namespace(&role.namespace)).collect();
        let mut players = Vec::new();
        for &place in &self.order {
            let Some((seat, next)) = self.seats[place].take() else { continue };
            let (hears, is_gone) = (roles[place].hears.clone(), Arc::clone(&self.gone[place]));
            players.push(Player { name: names(place), seat, next, hears, is_gone });
        }
        let conductor = Conductor {
            players,
            digest: Digest::of(folders.into_iter().collect()),
            until: self.play.span.map(|span| BEGINNING.plus(span)),
            patience: self.play.patience,
            stop: Arc::clone(&self.stop),
        };
        let (end, of_thread) = UnixStream::pair()?;
        let thread = thread::Builder::new().name("conductor".to_owned()).spawn(move || conductor.play(of_thread))?;
        (self.conductor, self.has_begun) = (Some((thread, end)), true);
        Ok(())
    }

    /// The nodes of a program whose steps have begun and not ended.
    fn in_step(&self, place: usize) -> Option<String> {
        let role = &self.play.cast.roles[place];
        let namespace = role.namespace.parse::<Namespace>().ok()?;
        let directory = Directory::find(namespace.path_in(&self.topics())).ok()??;
        let processes = figures::list(&directory).ok()?;
        let process = processes.iter().find(|process| process.info().name == role.process)?;
        let nodes = process.info().nodes.iter().enumerate();
        nodes
            .filter(|(number, _)| process.node(*number).is_some_and(|node| node.step_began.is_some()))
            .map(|(_, node)| node.name.clone())
            .next()
    }
}

impl Run<'_> {
    /// Whether a program may start now: one at a time, so that each start of the robot opens topics in the same order.
    pub(super) fn may_start(&self) -> bool {
        self.stage.is_none() || !self.members.iter().any(|member| member.state == State::Starting)
    }

    /// Looks whether a program that is ready looks at the virtual clock; if not, all are ended.
    pub(super) fn takes_seat(&mut self, place: usize) {
        let Some(stage) = &mut self.stage else { return };
        if stage.hears_of(place) {
            return;
        }
        let sentence = "is ready and knows no virtual clock: its HORUS is older than this command, or it runs its nodes by itself; build it anew, or \
                        leave it out by --group NAME";
        self.screen.say(place, &self.programs[place].name, sentence);
        self.fail();
    }

    /// Begins when all are ready, tells when it is over, and passes on that all are to end.
    pub(super) fn conduct(&mut self) -> std::io::Result<()> {
        let Some(stage) = &mut self.stage else { return Ok(()) };
        if self.stop.is_some() {
            stage.stop();
        }
        // One that is optional may have ended before it was ready.
        let is_set = |member: &Member| matches!(member.state, State::Running | State::Over);
        let plays = self.members.iter().any(|member| member.state == State::Running);
        if !stage.has_begun && self.stop.is_none() && plays && self.members.iter().all(is_set) {
            let order = stage.order.iter().copied();
            stage.order = order.filter(|place| self.members[*place].state == State::Running).collect();
            stage.begin(|place| self.programs[place].name.clone())?;
        }
        let Some((thread, _)) = stage.conductor.take_if(|(thread, _)| thread.is_finished()) else { return Ok(()) };
        let played = thread.join().map_err(|_| std::io::Error::other("the conductor's thread panicked"))?;
        self.tell_of(played);
        Ok(())
    }

    fn tell_of(&mut self, played: Played) {
        let now = format!("{} of virtual time", seconds_exactly(played.virtual_time));
        let of_order = |place: &usize| self.stage.as_ref().and_then(|stage| stage.order.get(*place).copied());
        let place_and_name = |place: &usize| of_order(place).map(|place| (place, self.programs[place].name.clone()));
        match &played.end {
            End::Done => {}
            End::Idle => self.screen.tell("nothing more is due: all nodes have ended, or wait for each other"),
            End::Stopped if self.has_failed => {}
            End::Stopped => self.screen.tell("stopped: two runs that are stopped by hand end at different times"),
            End::Hangs(at) => {
                let (place, name) = place_and_name(at).unwrap_or_default();
                let node = self.stage.as_ref().and_then(|stage| stage.in_step(place));
                let node = node.map_or_else(String::new, |node| format!(": node {node} is in a step"));
                let limit = self.stage.as_ref().map_or_else(String::new, |stage| seconds(stage.play.patience));
                let sentence = format!(
                    "has not come back for {limit} from its turn at {now}{node}; all are ended. A longer --turn-limit gives it more"
                );
                self.screen.say(place, &name, &sentence);
                self.fail();
            }
            End::Gone(at) => {
                let (place, name) = place_and_name(at).unwrap_or_default();
                self.screen.say(place, &name, &format!("is gone in its turn at {now}, and the others wait for it"));
                self.fail();
            }
            End::Endless(places) => {
                let names: Vec<_> = places.iter().filter_map(place_and_name).map(|(_, name)| name).collect();
                let who = match names.as_slice() {
                    [name] => format!("{name} releases itself"),
                    names => format!("{} release each other", names.join(", ")),
                };
                let remedy = "give a node of them a min_inter_arrival, or a period; all are ended";
                let sentence = format!("{who} without end at {now}: {remedy}");
                self.screen.tell(&sentence);
                self.fail();
            }
            End::Error(error) => {
                self.screen.tell(&format!("{error}; all are ended"));
                self.fail();
            }
        }
        let took = played.took.as_secs_f64();
        let times = played.virtual_time.as_secs_f64() / took.max(1e-9);
        self.screen.tell(&format!(
            "{now} in {took:.2} s: {times:.1} times as fast as the machine's clock, {} turns",
            played.turns
        ));
        if !self.has_failed {
            self.tell_digest(&played);
        }
        self.stop.get_or_insert_with(MonotonicTime::now);
        if let Some(stage) = &mut self.stage {
            stage.stop();
            stage.players = played.players;
        }
    }

    fn tell_digest(&mut self, played: &Played) {
        let topics = played.rows.iter().map(|row| row.topic.len()).max().unwrap_or_default();
        for row in &played.rows {
            let missed = match row.missed {
                0 => String::new(),
                missed => {
                    format!(", of which {missed} count by their number alone: they were overwritten in their turn")
                }
            };
            let plural = if row.messages == 1 { "" } else { "s" };
            let line = format!("  {:<topics$}  {}  {} message{plural}{missed}", row.topic, row.digest, row.messages);
            self.screen.tell(&line);
        }
        self.screen.tell(&format!("digest {} at {}", played.digest, seconds_exactly(played.virtual_time)));
    }

    /// All are ended, and it is a failure.
    pub(super) fn fail(&mut self) {
        self.has_failed = true;
        self.stop.get_or_insert_with(MonotonicTime::now);
    }

    /// A program has ended that shares its time with the others; true if that is the end of all.
    pub(super) fn is_missed_on_stage(&mut self, place: usize, is_failure: bool) -> bool {
        let Some(stage) = &self.stage else { return false };
        stage.has_ended(place);
        let is_end = is_failure || !stage.has_begun();
        if is_end && self.stop.is_none() {
            let name = &self.programs[place].name;
            self.screen.tell(&format!("time does not go on without {name}: all are ended"));
            self.fail();
        }
        is_end
    }
}

/// A point in virtual time: `3.412 s`, with as many digits as it has.
fn seconds_exactly(time: Duration) -> String {
    let digits = format!("{:09}", time.subsec_nanos());
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { format!("{} s", time.as_secs()) } else { format!("{}.{digits} s", time.as_secs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_virtual_time_has_the_digits_that_it_needs() {
        for (nanos, text) in [(0, "0 s"), (10_000_000_000, "10 s"), (3_412_000_000, "3.412 s"), (1, "0.000000001 s")] {
            assert_eq!(seconds_exactly(Duration::from_nanos(nanos)), text);
        }
    }
}
