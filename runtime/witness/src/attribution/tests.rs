//! Hand-made traces, a culprit each, and random ones, whose sums have to be exact.

use horus::witness::protocol::{Confidence, Kind, Missed, Share, Verdict};
use horus::witness::words;

use super::{Account, Record, Signs};
use crate::event::{Event, Task, What};

mod culprits;
mod limits;
mod random;

/// The thread that is asked about: `control`, FIFO 80.
const NODE: u32 = 140;
const HOG: u32 = 137;
const WORKER: u32 = 50;
const INTERRUPT_THREAD: u32 = 60;
const IDLE: u32 = 0;

const MS: u64 = 1_000_000;
/// When cycles of these traces are due.
const RELEASE: u64 = 10 * MS;

fn task(tid: u32) -> Task {
    let (name, priority) = match tid {
        NODE => ("control", 19),
        HOG => ("hog", 9),
        WORKER => ("kworker/1:1", 4),
        INTERRUPT_THREAD => ("irq/3-ttyS1", 4),
        IDLE => ("swapper/1", 120),
        _ => ("other", 120),
    };
    Task { tid, name: name.to_owned(), priority }
}

/// A trace under construction: every event happens in the time of the thread that the switches lead to.
struct Trace {
    events: Vec<Event>,
    running: u32,
}

impl Trace {
    /// Of a CPU that runs this thread since long before the release.
    fn of(running: u32) -> Self {
        let start = Event { ns: RELEASE - 5 * MS, tid: running, what: What::Other };
        Self { events: vec![start], running }
    }

    fn at(mut self, ns: u64, what: What) -> Self {
        self.events.push(Event { ns, tid: self.running, what });
        self
    }

    /// The thread that runs sleeps, and another one gets the CPU.
    fn sleep(self, ns: u64, to: u32) -> Self {
        self.switch(ns, true, to)
    }

    /// The thread that runs would go on, and another one goes first.
    fn preempt(self, ns: u64, to: u32) -> Self {
        self.switch(ns, false, to)
    }

    fn switch(mut self, ns: u64, sleeps: bool, to: u32) -> Self {
        let what = What::Switch { from: task(self.running), sleeps, to: task(to) };
        self = self.at(ns, what);
        self.running = to;
        self
    }

    /// An interrupt of 27 (eth0).
    fn interrupt(self, from: u64, to: u64) -> Self {
        self.at(from, What::InterruptEntry { number: 27, name: "eth0".to_owned() }).at(to, What::InterruptExit)
    }

    fn timer(self, from: u64, to: u64) -> Self {
        self.at(from, What::TimerEntry).at(to, What::TimerExit)
    }

    /// With the program's write at the cycle's end.
    fn frozen(self, missed: &Missed) -> Record {
        let events = self.at(missed.completion_ns, What::Marker).events;
        Record { seen: events[0].ns..missed.completion_ns, events }
    }
}

fn missed(wake_ns: u64, completion_ns: u64) -> Missed {
    Missed {
        node: "balance/control".to_owned(),
        tid: NODE,
        cpu: 1,
        cycle: 7,
        release_ns: RELEASE,
        wake_ns,
        completion_ns,
        deadline_ns: RELEASE + MS,
        budget_ns: None,
    }
}

fn judge(record: &Record, missed: &Missed) -> Verdict {
    judge_with(record, missed, None, &Signs::default())
}

fn judge_with(record: &Record, missed: &Missed, tick_ns: Option<u64>, signs: &Signs) -> Verdict {
    let name = |address| (address == 0xffff_8000).then(|| "update_pages_handler".to_owned());
    let verdict = Account::new(record, missed, tick_ns).verdict(missed, signs, &mut { name });
    assert_eq!(sum(&verdict), verdict.window_ns, "{verdict:#?}");
    assert!(verdict.shares.is_sorted_by(|one, other| one.ns >= other.ns), "{verdict:#?}");
    verdict
}

fn sum(verdict: &Verdict) -> u64 {
    verdict.shares.iter().map(|share| share.ns).sum()
}

fn share(verdict: &Verdict, kind: Kind) -> &Share {
    verdict.shares.iter().find(|share| share.kind == kind).unwrap_or_else(|| panic!("no {kind:?} in {verdict:#?}"))
}

/// Kind, name and time of every share.
fn table(verdict: &Verdict) -> Vec<(Kind, &str, u64)> {
    verdict.shares.iter().map(|share| (share.kind, share.name.as_str(), share.ns)).collect()
}
