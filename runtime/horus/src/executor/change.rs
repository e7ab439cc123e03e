//! What happens to a node beside single misses, on its way to the journal: its safe state, a lower rate, its end, a budget
//! that was exceeded.

use horus_shm::ring::local;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::journal::{self, Entry, Priority};
use crate::miss::MIN_ENTRY_DISTANCE;
use crate::node::{Action, OnMiss};
use crate::time::MonotonicTime;

/// Changes that the ring holds. A node changes its state a few times in its life; budgets are exceeded more often, and counted.
const RING_CAPACITY: usize = 16;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// The node does what [`OnMiss`] says: its safe state, a lower rate, its end.
    Reacts,
    /// A monitor published the safe state while a step hung.
    TakenOver,
    /// A cycle took more CPU time than the budget.
    OverBudget,
    /// A user had its steps run again.
    Armed,
}

/// A change, as it crosses the ring.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Change {
    kind: u64,
    /// The cycle that led to it.
    pub cycle: u64,
    /// CPU time of that cycle, in nanoseconds.
    pub cpu_ns: u64,
    /// How often it has happened.
    pub count: u64,
}

impl Change {
    pub fn new(kind: ChangeKind, cycle: u64, cpu_ns: u64, count: u64) -> Self {
        Self { kind: kind as u64, cycle, cpu_ns, count }
    }

    fn kind(&self) -> ChangeKind {
        match self.kind {
            0 => ChangeKind::Reacts,
            1 => ChangeKind::TakenOver,
            2 => ChangeKind::OverBudget,
            _ => ChangeKind::Armed,
        }
    }
}

/// Makes the two ends for a node.
pub(crate) fn channel(node: &str, on_miss: OnMiss, budget_ns: Option<u64>) -> (local::Writer<Change>, ChangeCollector) {
    let (writer, ring) = local::ring(RING_CAPACITY).expect("a power of two");
    let collector = ChangeCollector { node: node.to_owned(), on_miss, budget_ns, ring, told_over: 0, last_over: None };
    (writer, collector)
}

/// The end beside the loop.
pub(crate) struct ChangeCollector {
    node: String,
    on_miss: OnMiss,
    budget_ns: Option<u64>,
    ring: local::Reader<Change>,
    told_over: u64,
    last_over: Option<MonotonicTime>,
}

impl ChangeCollector {
    /// The next entry, if there is something to tell. An exceeded budget is told once a second at most, with how often it was.
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        while let Some(change) = self.ring.try_recv() {
            match change.kind() {
                ChangeKind::Reacts => return Some(self.reaction(&change)),
                ChangeKind::TakenOver => return Some(self.taken_over(&change)),
                ChangeKind::Armed => return Some(self.armed(&change)),
                ChangeKind::OverBudget => {
                    if self.last_over.is_none_or(|last| now >= last.plus(MIN_ENTRY_DISTANCE)) {
                        self.last_over = Some(now);
                        return Some(self.over_budget(&change));
                    }
                }
            }
        }
        None
    }

    fn entry(&self, id: &'static str, priority: Priority, text: String, change: &Change) -> Entry {
        Entry::new(id, priority, text).field("HORUS_NODE", &self.node).field("HORUS_CYCLE", change.cycle)
    }

    fn reaction(&self, change: &Change) -> Entry {
        let OnMiss { action, after, within } = self.on_miss;
        let does = match action {
            Action::SafeState => "is in its safe state".to_owned(),
            Action::Degrade(every) => format!("runs at a lower rate, one release of {every}"),
            _ => "stops".to_owned(),
        };
        let (node, plural) = (&self.node, if after == 1 { "" } else { "es" });
        let text = match within {
            1 => format!("node {node} {does}: it missed its deadline in cycle {}", change.cycle),
            _ => format!("node {node} {does}: {after} miss{plural} within {within} cycles"),
        };
        self.entry(journal::id::NODE_REACTION, Priority::Warning, text, change).field(
            "HORUS_REACTION",
            match action {
                Action::SafeState => "safe-state",
                Action::Degrade(_) => "degrade",
                _ => "stop",
            },
        )
    }

    fn taken_over(&self, change: &Change) -> Entry {
        let text = format!(
            "node {} is in its safe state: cycle {} hung, and the monitor published what is safe",
            self.node, change.cycle
        );
        self.entry(journal::id::NODE_REACTION, Priority::Warning, text, change).field("HORUS_REACTION", "taken-over")
    }

    fn armed(&self, change: &Change) -> Entry {
        let text = format!("node {} runs its steps again from cycle {} on: a user armed it", self.node, change.cycle);
        self.entry(journal::id::NODE_REACTION, Priority::Warning, text, change).field("HORUS_REACTION", "armed")
    }

    fn over_budget(&mut self, change: &Change) -> Entry {
        let (node, count) = (&self.node, change.count - self.told_over);
        let budget = std::time::Duration::from_nanos(self.budget_ns.unwrap_or(0));
        let used = std::time::Duration::from_nanos(change.cpu_ns);
        let often = if count == 1 { String::new() } else { format!(", the last of {count} such cycles") };
        let text =
            format!("node {node} took {used:?} of CPU time in cycle {}, its budget is {budget:?}{often}", change.cycle);
        self.told_over = change.count;
        self.entry(journal::id::OVER_BUDGET, Priority::Warning, text, change)
            .field("HORUS_CPU_TIME_NS", change.cpu_ns)
            .field("HORUS_BUDGET_NS", budget.as_nanos())
            .field("HORUS_OVER_BUDGET", count)
    }
}
