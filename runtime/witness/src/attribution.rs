//! Whose time it was: a missed cycle's window, from release to completion, split between all who had it.
//!
//! Pure: events in, shares out, and their times add up to the window to the nanosecond. Interrupts are subtracted from the threads that
//! they interrupt. What the trace does not show is a share too, of kind unknown.
//!
//! # What it does not do
//! - It does not see when a thread is woken, only when it gets the CPU: what is between belongs to the wait, unless a more urgent thread
//!   had the CPU.
//! - A cycle that slept inside a page fault is taken to have waited for a disk; a lock that it slept for in there looks the same.

mod ledger;
mod names;
mod owner;
mod verdict;

use std::ops::Range;

use horus::witness::protocol::Missed;

use crate::event::{Event, What};
pub use verdict::Signs;

use ledger::Ledger;
use owner::{Cpu, Owner, Why};

/// What a CPU's trace held.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// The oldest first.
    pub events: Vec<Event>,
    /// Of this time, in nanoseconds, the events are all that happened.
    pub seen: Range<u64>,
}

impl Record {
    /// Whether the CPU had events before a time, and none in it. At its edges a tenth is left out.
    pub(crate) fn fell_silent(&self, silence: &Range<u64>) -> bool {
        let length = silence.end.saturating_sub(silence.start);
        let edge = length / 10;
        let inner = silence.start.saturating_add(edge)..silence.end.saturating_sub(edge);
        let before = silence.start.saturating_sub(length)..silence.start;
        let any = |range: &Range<u64>| self.events.iter().any(|event: &Event| range.contains(&event.ns));
        self.seen.start <= before.start && self.seen.end >= inner.end && any(&before) && !any(&inner)
    }
}

/// The parts of one missed cycle.
#[derive(Debug)]
pub struct Account {
    window: Range<u64>,
    ledger: Ledger,
}

impl Account {
    /// Splits the window of a missed cycle. A CPU with a tick is never silent for longer than `tick_ns` while it computes; without it
    /// a pause of the whole machine while own code runs looks like own code.
    pub fn new(record: &Record, missed: &Missed, tick_ns: Option<u64>) -> Self {
        let window = missed.release_ns..missed.completion_ns.max(missed.release_ns);
        let cpu = Cpu::new(missed.tid, &record.events);
        let wake = missed.wake_ns.clamp(window.start, window.end);
        let ledger = Ledger::new(window.start);
        let full_khz = record.events.iter().filter_map(|event| frequency(event, missed.cpu)).max();
        let mut walk = Walk { window, wake, cpu, ledger, speed: Speed { khz: full_khz, full_khz } };
        walk.all(record, missed.cpu, tick_ns);
        Self { window: walk.window, ledger: walk.ledger.named(walk.cpu) }
    }

    /// When the CPU was longest without anybody, though the node was due.
    pub(crate) fn longest_silence(&self) -> Option<Range<u64>> {
        self.ledger.silence.clone()
    }
}

fn frequency(event: &Event, of: u32) -> Option<u64> {
    match event.what {
        What::Frequency { cpu, khz } if cpu == of => Some(khz),
        _ => None,
    }
}

/// How fast the CPU runs, and how fast it was seen to run.
struct Speed {
    khz: Option<u64>,
    full_khz: Option<u64>,
}

impl Speed {
    /// How much of a time at this speed would not have been needed at full speed.
    fn lost(&self, ns: u64) -> u64 {
        let (Some(khz), Some(full)) = (self.khz, self.full_khz) else { return 0 };
        let lost = u128::from(ns) * u128::from(full.saturating_sub(khz)) / u128::from(full.max(1));
        u64::try_from(lost).unwrap_or(ns)
    }
}

/// Goes through the events once, and charges each piece of the window.
struct Walk {
    window: Range<u64>,
    /// When the cycle's thread ran: before it is due, after it works.
    wake: u64,
    cpu: Cpu,
    ledger: Ledger,
    speed: Speed,
}

impl Walk {
    fn all(&mut self, record: &Record, cpu: u32, tick_ns: Option<u64>) {
        let Some(first) = record.events.first() else {
            return self.unseen(self.window.end, Why::Empty);
        };
        self.unseen(record.seen.start.min(first.ns), Why::Before);
        self.cpu.begin(first.tid);
        let mut before = record.seen.start.min(first.ns);
        for event in &record.events {
            let is_silent = tick_ns.is_some_and(|tick| event.ns.saturating_sub(before) > tick.saturating_mul(2));
            match tick_ns {
                Some(tick) if is_silent && self.cpu.owner(self.wake <= before) == Owner::OwnCode => {
                    self.advance(before.saturating_add(tick));
                    self.charge(event.ns, Owner::Nobody);
                }
                _ => self.advance(event.ns),
            }
            before = event.ns;
            if let Some(khz) = frequency(event, cpu) {
                self.speed.khz = Some(khz);
            }
            self.cpu.apply(event);
            if self.window.contains(&event.ns)
                && let Some(begun) = self.cpu.begun(&event.what)
            {
                self.ledger.count(begun);
            }
        }
        if record.seen.end > before {
            self.advance(record.seen.end);
        }
        self.unseen(self.window.end, Why::After);
    }

    /// Charges the time up to `ns` to the owner of the CPU.
    fn advance(&mut self, ns: u64) {
        if self.ledger.at < self.wake {
            self.charge(ns.min(self.wake), self.cpu.owner(false));
        }
        if ns > self.wake {
            self.charge(ns, self.cpu.owner(true));
        }
    }

    fn unseen(&mut self, ns: u64, why: Why) {
        self.charge(ns, Owner::Unknown(why));
    }

    fn charge(&mut self, ns: u64, owner: Owner) {
        let until = ns.clamp(self.window.start, self.window.end);
        let time = until.saturating_sub(self.ledger.at);
        let lost = if owner == Owner::OwnCode { self.speed.lost(time) } else { 0 };
        self.ledger.charge(self.ledger.at.saturating_add(lost), Owner::Frequency);
        self.ledger.charge(until, owner);
    }
}

#[cfg(test)]
mod tests;
