//! What a test scripts for a node, and what happened to it.

use std::time::Duration;

use crate::time::MonotonicTime;

/// Something that happened in a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: MonotonicTime,
    /// To which node.
    pub node: String,
    /// In which cycle.
    pub cycle: u64,
    /// Whether the cycle began or ended.
    pub is_end: bool,
}

/// A length of time that holds for some cycles of a node, and another one before and after them.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    always: Duration,
    scripted: Duration,
    cycles: u64,
}

impl Span {
    fn next(&mut self) -> Duration {
        if self.cycles == 0 {
            return self.always;
        }
        self.cycles -= 1;
        self.scripted
    }
}

/// What is scripted for one node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    lateness: Span,
    execution: Span,
}

impl Faults {
    pub fn delay(&mut self, lateness: Duration) -> Scripted<'_> {
        Scripted::new(&mut self.lateness, lateness)
    }

    pub fn takes(&mut self, time: Duration) -> Scripted<'_> {
        Scripted::new(&mut self.execution, time)
    }

    pub fn next_lateness(&mut self) -> Duration {
        self.lateness.next()
    }

    pub fn next_execution(&mut self) -> Duration {
        self.execution.next()
    }
}

/// What was scripted: it holds from now on, or [`for_cycles`](Self::for_cycles).
pub struct Scripted<'a> {
    span: &'a mut Span,
    before: Duration,
}

impl<'a> Scripted<'a> {
    fn new(span: &'a mut Span, scripted: Duration) -> Self {
        let before = span.always;
        *span = Span { always: scripted, scripted, cycles: 0 };
        Self { span, before }
    }

    /// Ends it after so many cycles; then what held before holds again.
    pub fn for_cycles(self, cycles: u64) {
        self.span.cycles = cycles;
        self.span.always = self.before;
    }
}
