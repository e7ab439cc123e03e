//! Nodes that do nothing, on the executor's own loop, without the time in which the loop would sleep.
//!
//! What is left is the price of a tick: choosing the node, reading the clock, judging the deadline, its ports and its figures.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use horus::app::{App, NodeAccount};
use horus::message::Stamp;
use horus::node::Cycle;
use horus::time::{Clock, MonotonicTime, SystemClock, ms};
use horus::topic::Options;
use horus_sys::clock::monotonic_ns;

use crate::options::Effort;
use crate::samples::Samples;
use crate::stage::Stage;

/// The machine's clock, read as the executor reads it, but a sleep is over at once: idle time is skipped.
#[derive(Debug, Default)]
pub struct Idleless {
    skipped_ns: Cell<u64>,
}

impl Clock for Idleless {
    #[inline]
    fn now(&self) -> MonotonicTime {
        SystemClock.now().plus_nanos(self.skipped_ns.get())
    }

    #[inline]
    fn sleep_until(&self, until: MonotonicTime) {
        let ahead = until.as_nanos().saturating_sub(self.now().as_nanos());
        self.skipped_ns.set(self.skipped_ns.get() + ahead);
    }

    #[inline]
    fn cpu(&self) -> u32 {
        SystemClock.cpu()
    }

    #[inline]
    fn cpu_time(&self) -> u64 {
        SystemClock.cpu_time()
    }
}

/// A clock that goes on with each sleep only, so that no cycle is late, however busy the machine is or however slow an emulator.
/// It is read at the price of the machine's.
#[derive(Debug, Default)]
pub struct Stepped {
    now: Cell<MonotonicTime>,
}

impl Clock for Stepped {
    #[inline]
    fn now(&self) -> MonotonicTime {
        black_box(SystemClock.now());
        self.now.get()
    }

    fn sleep_until(&self, until: MonotonicTime) {
        self.now.set(until.max(self.now.get()));
    }

    #[inline]
    fn cpu(&self) -> u32 {
        SystemClock.cpu()
    }

    #[inline]
    fn cpu_time(&self) -> u64 {
        SystemClock.cpu_time()
    }
}

/// What all nodes of a group are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A period, and nothing else.
    Bare,
    /// A period, an input and an output: each reads what the one before it has sent.
    Ports,
    /// The same with logical execution time.
    Logical,
    /// The same with a budget, so with two more system calls a tick.
    Budget,
    /// The same, and each cycle sends the message that releases its node again.
    Events,
}

impl Kind {
    /// In a few words, for a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "a period",
            Self::Ports => "a period, an input, an output",
            Self::Logical => "an input, an output, logical execution time",
            Self::Budget => "an input, an output, a budget",
            Self::Events => "an event, an input, an output",
        }
    }
}

/// Nodes of one kind, on one thread.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// What they are like.
    pub kind: Kind,
    /// How many.
    pub nodes: usize,
}

/// Ticks that a sample covers at least: it costs a clock read of its own.
const TICKS_A_SAMPLE: usize = 200;

impl Group {
    /// How many ticks a sample covers: some rounds, in each of which every node has one.
    pub fn ticks_a_sample(&self) -> u32 {
        (TICKS_A_SAMPLE.div_ceil(self.nodes) * self.nodes) as u32
    }

    /// A program of these nodes. The first of them does `first` in each of its steps, the others nothing.
    fn program(&self, stage: &Stage, first: impl FnMut(&Cycle) + Send + 'static) -> horus::Result<App> {
        let mut app = App::new("benchmark")?;
        self.declare(&mut app, stage, 0, first)?;
        for number in 1..self.nodes {
            self.declare(&mut app, stage, number, |_| {})?;
        }
        Ok(app)
    }

    fn declare(
        &self,
        app: &mut App,
        stage: &Stage,
        number: usize,
        mut work: impl FnMut(&Cycle) + Send + 'static,
    ) -> horus::Result {
        let (name, meeting) = (format!("node{number}"), &stage.meeting);
        let topic = |number: usize| format!("{}-{number}", meeting.name);
        let before = if self.kind == Kind::Events { number } else { (number + self.nodes - 1) % self.nodes };
        if self.kind == Kind::Bare {
            app.node(&name, work).period(ms(1));
            return Ok(());
        }
        // As App::output makes topics, but for the directory.
        let options = Options::latest(8).publishers(2).directory(&meeting.directory);
        let mut output = app.output_with::<Stamp>(&topic(number), options.clone())?;
        let mut input = app.input_with::<Stamp>(&topic(before), options)?;
        let step = move |cycle: &Cycle| {
            work(cycle);
            let sequence = input.latest().map_or(0, |received| received.sequence + 1);
            output.set(Stamp { sequence, sent_ns: cycle.release.as_nanos() });
        };
        let spec = app.node(&name, step).period(ms(1));
        match self.kind {
            Kind::Logical => spec.logical_execution_time(),
            Kind::Budget => spec.budget(ms(1)),
            Kind::Events => spec.on(topic(number)),
            Kind::Bare | Kind::Ports => spec,
        };
        Ok(())
    }

    /// Runs so many releases of each node; those without events are all in time.
    pub fn run(&self, stage: &Stage, releases: u64) -> horus::Result<Vec<NodeAccount>> {
        let mut app = self.program(stage, |_| {})?;
        app.releases(releases);
        let stop = AtomicBool::new(false);
        match self.kind {
            // Its thread waits for messages, by the machine's clock.
            Kind::Events => app.run_in_place(Idleless::default(), &stop),
            _ => app.run_in_place(Stepped::default(), &stop),
        }
    }

    /// Times them until there are enough samples, or the time is up.
    pub fn measure(&self, stage: &Stage) -> horus::Result<Samples> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, samples) = channel();
        let mut stopwatch = Stopwatch::new(self, stage.effort);
        let seen = Arc::clone(&stop);
        let first = move |_: &Cycle| {
            if stopwatch.is_over() {
                // Twice only where the nodes had their next release already: then the second is not wanted.
                let _ = sender.send(stopwatch.samples.clone());
                seen.store(true, Ordering::Relaxed);
            }
        };
        self.program(stage, first)?.run_in_place(Idleless::default(), &stop)?;
        Ok(samples.recv()?)
    }
}

/// Takes the time of some rounds, again and again. A round is a step of the first node.
struct Stopwatch {
    samples: Samples,
    effort: Effort,
    rounds_a_sample: u32,
    rounds: u32,
    warm_up: u64,
    began_ns: u64,
    deadline_ns: u64,
}

impl Stopwatch {
    fn new(group: &Group, effort: Effort) -> Self {
        let ticks = group.ticks_a_sample();
        Self {
            samples: Samples::new(ticks),
            effort,
            rounds_a_sample: ticks / group.nodes as u32,
            rounds: 0,
            warm_up: (effort.warm_up / 100).max(1),
            began_ns: monotonic_ns(),
            deadline_ns: monotonic_ns() + effort.limit.as_nanos() as u64,
        }
    }

    /// Counts a round; whether it was the last one.
    #[inline]
    fn is_over(&mut self) -> bool {
        self.rounds += 1;
        if self.rounds < self.rounds_a_sample {
            return false;
        }
        self.rounds = 0;
        let now = monotonic_ns();
        match self.warm_up.checked_sub(1) {
            Some(left) => self.warm_up = left,
            None => self.samples.record(now - self.began_ns),
        }
        self.began_ns = now;
        self.samples.meter.samples() >= self.effort.samples / 10 || now > self.deadline_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 5] = [Kind::Bare, Kind::Ports, Kind::Logical, Kind::Budget, Kind::Events];

    #[test]
    fn nodes_of_every_kind_tick_as_often_as_asked_for() {
        for kind in KINDS {
            let directory = tempfile::tempdir_in("/dev/shm").unwrap();
            let accounts = Group { kind, nodes: 3 }.run(&Stage::for_tests(directory.path()), 50).unwrap();
            let releases: Vec<_> = accounts.iter().map(|account| account.tally.releases()).collect();
            assert_eq!(releases, [50; 3], "{kind:?}");
        }
    }

    #[test]
    fn a_sample_covers_whole_rounds() {
        for (nodes, ticks) in [(1, 200), (50, 200), (100, 200), (30, 210)] {
            assert_eq!(Group { kind: Kind::Bare, nodes }.ticks_a_sample(), ticks);
        }
    }

    #[test]
    fn a_clock_without_idle_time_is_never_early_and_does_not_wait() {
        let clock = Idleless::default();
        let until = clock.now().plus(std::time::Duration::from_secs(3600));
        clock.sleep_until(until);
        assert!(clock.now() >= until);
    }
}
