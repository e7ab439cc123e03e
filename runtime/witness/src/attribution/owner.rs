//! Who has the CPU at a moment: the state that a trace's events lead from one to the next.

use std::collections::BTreeMap;

use crate::event::{Event, Task, What};

/// Who can have a piece of the window.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// Another thread.
    Task(u32),
    /// A device's interrupt: its number and its handler.
    Interrupt(u32, String),
    /// The CPU's own timer.
    Timer,
    /// Deferred work of interrupts, by number, in a thread.
    Softirq(u32, u32),
    /// A work item, by its function's address, in a kernel worker.
    Work(u64, u32),
    /// A fault of the cycle's own, by its number in the trace.
    Fault(usize),
    /// The step.
    OwnCode,
    /// The cycle's thread before its cycle began: the cycle before, or another node of this thread.
    OwnBefore,
    /// The cycle's thread slept by itself.
    OwnWait,
    /// The time that the step would not have taken at full clock frequency.
    Frequency,
    /// The CPU was idle though the node was due.
    Nobody,
    /// The trace does not show it.
    Unknown(Why),
}

/// Why something was not seen.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Why {
    /// There is no event at all.
    Empty,
    /// It was before the trace's first event.
    Before,
    /// Events are lost.
    Lost,
    /// A miss before had frozen the trace.
    Frozen,
    /// It was after the trace's end.
    After,
}

/// A page fault of the cycle's thread.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Fault {
    /// The address, where it is known.
    pub address: Option<u64>,
    /// Whether the thread slept in it.
    pub slept: bool,
}

/// What a thread is in the middle of.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    fault: Option<usize>,
    work: Option<u64>,
    softirq: Option<u32>,
}

/// From this priority on threads are not real-time ones: they share the CPU.
const ORDINARY: i32 = 100;
/// The deepest nesting of interrupts that is followed.
const DEEPEST: usize = 16;

/// A CPU, as its trace tells.
#[derive(Debug)]
pub struct Cpu {
    /// The thread that is asked about.
    own: u32,
    /// Who runs; `None` where events are lost.
    current: Option<u32>,
    /// Why it is not known who runs, where it is not.
    gap: Why,
    interrupts: Vec<Owner>,
    inside: BTreeMap<u32, Inside>,
    own_sleeps: bool,
    touched: Option<u64>,
    /// The faults of the cycle's thread.
    pub faults: Vec<Fault>,
    /// Threads by number.
    pub tasks: BTreeMap<u32, Task>,
}

impl Cpu {
    /// A CPU before its first event; the names of threads are those of all events.
    pub fn new(own: u32, events: &[Event]) -> Self {
        let mut tasks = BTreeMap::new();
        for event in events {
            if let What::Switch { from, to, .. } = &event.what {
                for task in [from, to] {
                    tasks.entry(task.tid).or_insert_with(|| task.clone());
                }
            }
        }
        Self {
            own,
            current: None,
            gap: Why::Before,
            interrupts: Vec::new(),
            inside: BTreeMap::new(),
            own_sleeps: false,
            touched: None,
            faults: Vec::new(),
            tasks,
        }
    }

    /// From here on everything is seen, and this thread runs: each event says in whose time it happened.
    pub fn begin(&mut self, tid: u32) {
        self.current = Some(tid);
    }

    /// Who has the CPU now; `works` says whether the cycle's thread is past its wake.
    pub fn owner(&self, works: bool) -> Owner {
        let Some(current) = self.current else {
            return Owner::Unknown(self.gap);
        };
        if let Some(interrupt) = self.interrupts.last() {
            return interrupt.clone();
        }
        let inside = self.inside.get(&current).copied().unwrap_or_default();
        if let Some(number) = inside.softirq {
            return Owner::Softirq(number, current);
        }
        if current == self.own {
            return match inside.fault {
                Some(fault) => Owner::Fault(fault),
                None if works => Owner::OwnCode,
                None => Owner::OwnBefore,
            };
        }
        let own_fault = self.inside.get(&self.own).and_then(|inside| inside.fault);
        let other = match inside.work {
            Some(function) => Owner::Work(function, current),
            None => Owner::Task(current),
        };
        match (current, own_fault) {
            (0, Some(fault)) => Owner::Fault(fault),
            (0, None) if works => Owner::OwnWait,
            (0, None) => Owner::Nobody,
            (_, Some(fault)) if self.own_sleeps && !self.is_more_urgent(current) => Owner::Fault(fault),
            (_, None) if works && self.own_sleeps && !self.is_more_urgent(current) => Owner::OwnWait,
            _ => other,
        }
    }

    /// Whether a real-time thread goes before the cycle's: then it cannot be said how much of its time that one slept, and how much it
    /// was ready.
    fn is_more_urgent(&self, tid: u32) -> bool {
        let priority = |tid| self.tasks.get(&tid).map(|task: &Task| task.priority);
        matches!((priority(tid), priority(self.own)), (Some(other), Some(own)) if other < own && other < ORDINARY)
    }

    /// What an event in the window is one more of.
    pub fn begun(&self, what: &What) -> Option<Owner> {
        match what {
            What::InterruptEntry { .. } | What::TimerEntry => self.interrupts.last().cloned(),
            What::SoftirqEntry(number) => Some(Owner::Softirq(*number, self.current?)),
            What::WorkStart(function) => Some(Owner::Work(*function, self.current?)),
            What::Touch(_) if self.current == Some(self.own) => Some(Owner::OwnCode),
            _ => None,
        }
    }

    /// What is so after an event.
    pub fn apply(&mut self, event: &Event) {
        match event.what {
            What::Lost => return self.lose_sight(Why::Lost),
            What::Marker => return self.lose_sight(Why::Frozen), // what follows it, if anything, is from after the thaw
            _ => {}
        }
        if self.current != Some(event.tid) {
            self.begin(event.tid);
        }
        let is_own = event.tid == self.own;
        match &event.what {
            What::Switch { from, sleeps, to } => self.switch(from, *sleeps, to),
            What::InterruptEntry { number, name } => self.interrupt(Owner::Interrupt(*number, name.clone())),
            What::TimerEntry => self.interrupt(Owner::Timer),
            What::InterruptExit => self.leave(|owner| matches!(owner, Owner::Interrupt(..))),
            What::TimerExit => self.leave(|owner| *owner == Owner::Timer),
            What::SoftirqEntry(number) => self.inside(event.tid).softirq = Some(*number),
            What::SoftirqExit => self.inside(event.tid).softirq = None,
            What::WorkStart(function) => self.inside(event.tid).work = Some(*function),
            What::WorkEnd => self.inside(event.tid).work = None,
            What::Touch(address) if is_own => self.touched = Some(*address),
            What::FaultEntry(address) if is_own => {
                let touched = self.touched.take();
                self.faults.push(Fault { address: address.or(touched), slept: false });
                self.inside(event.tid).fault = Some(self.faults.len() - 1);
            }
            What::FaultExit if is_own => self.inside(event.tid).fault = None,
            _ => {}
        }
    }

    /// Until the next event nothing is seen.
    fn lose_sight(&mut self, why: Why) {
        self.current = None;
        self.gap = why;
        self.interrupts.clear();
        self.inside.clear();
        self.own_sleeps = false;
    }

    fn switch(&mut self, from: &Task, sleeps: bool, to: &Task) {
        self.interrupts.clear(); // no interrupt switches threads: an exit was missed
        self.current = Some(to.tid);
        for task in [from, to] {
            self.tasks.insert(task.tid, task.clone());
        }
        if from.tid == self.own {
            self.own_sleeps = sleeps;
            let fault = self.inside.get(&self.own).and_then(|inside| inside.fault);
            if let Some(fault) = fault.and_then(|fault| self.faults.get_mut(fault)) {
                fault.slept |= sleeps;
            }
        }
        if to.tid == self.own {
            self.own_sleeps = false;
        }
    }

    fn interrupt(&mut self, owner: Owner) {
        if self.interrupts.len() < DEEPEST {
            self.interrupts.push(owner);
        }
    }

    /// Ends the innermost interrupt of a kind, and those inside it whose ends were missed.
    fn leave(&mut self, is_it: impl Fn(&Owner) -> bool) {
        if let Some(index) = self.interrupts.iter().rposition(is_it) {
            self.interrupts.truncate(index);
        }
    }

    fn inside(&mut self, tid: u32) -> &mut Inside {
        self.inside.entry(tid).or_default()
    }
}
