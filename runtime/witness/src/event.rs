//! What the kernel says happened on a CPU, as far as it matters for whose time it was.

/// One event of a CPU's trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// When, in nanoseconds of the trace's clock.
    pub ns: u64,
    /// The thread that had the CPU; 0 while it was idle.
    pub tid: u32,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// Another thread got the CPU.
    Switch {
        /// Who had it.
        from: Task,
        /// Whether that thread sleeps now. Otherwise it is ready, and another thread goes first.
        sleeps: bool,
        /// Who has it from now on.
        to: Task,
    },
    /// A device's interrupt begins.
    InterruptEntry {
        /// Its number.
        number: u32,
        /// Who handles it.
        name: String,
    },
    /// A device's interrupt ends.
    InterruptExit,
    /// The CPU's own timer interrupts.
    TimerEntry,
    /// The CPU's own timer is served.
    TimerExit,
    /// Deferred work of interrupts begins, by its number.
    SoftirqEntry(u32),
    /// Deferred work of interrupts ends.
    SoftirqExit,
    /// A program touched a page that is not mapped, at this address.
    Touch(u64),
    /// The kernel begins to map a page, at this address where it is known.
    FaultEntry(Option<u64>),
    /// The page is mapped.
    FaultExit,
    /// A work item begins: its function's address.
    WorkStart(u64),
    /// A work item ends.
    WorkEnd,
    /// A CPU runs at this frequency from now on.
    Frequency {
        /// Which CPU.
        cpu: u32,
        /// In kHz.
        khz: u64,
    },
    /// A program wrote to the trace, which froze it.
    Marker,
    /// Events between the one before and the one after this are lost.
    Lost,
    /// Something else.
    Other,
}

/// A thread, as the scheduler names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Task {
    /// Its number; 0 is the idle CPU.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// The kernel's priority: below 0 deadline scheduling, 0 to 99 real time (the lower the more urgent), above ordinary.
    pub priority: i32,
}
