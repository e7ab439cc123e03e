//! Who watches over nodes that cannot help themselves: a node whose step hangs, whose process is stopped, or died.
//!
//! A [`Monitor`] is meant for a process of its own, on a housekeeping CPU and with a priority above all nodes. It reads the figures
//! of every process that runs nodes ([`crate::figures`]), and does two things:
//!
//! - **It publishes what is safe.** When a cycle is not over within its period and its budget, or when the process is gone, the monitor
//!   publishes the safe message of each output in the node's place, by a lane of its own. The node publishes nothing of the step that
//!   hung. It goes on with its safe state when its step returns.
//! - **It parks who takes the CPU.** A real-time thread that has used a budget more CPU time than its node may, loses its policy:
//!   it shares the CPU fairly with ordinary threads, and all nodes of lower priority run again.
//!
//! Behind it stands systemd: a monitor that hangs is ended by its own watchdog.
//!
//! # What it does not do
//! - It protects nodes that react to misses by their safe state ([`SafeState`](crate::node::SafeState)) only: for others, nobody said what
//!   is safe.
//! - It does not watch nodes that only events release: nobody knows when they have to run.
//! - A parked thread is not set free: its program has to be started again.

mod seat;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;
use seat::Seat;

use crate::figures::{NodeFigures, ProcessFigures, State};
use crate::graph::NodeInfo;
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;
use crate::topic::{Directory, OpenError};

/// How often processes that come and go are looked for.
const SEARCH: Duration = Duration::from_millis(100);

/// The longest time between two looks, so that its own watchdog is fed.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Watches over the nodes on the topics of one directory.
pub struct Monitor {
    directory: Directory,
    processes: BTreeMap<PathBuf, Process>,
    search_at: MonotonicTime,
}

struct Process {
    figures: ProcessFigures,
    nodes: Vec<Watched>,
}

/// A node, as far as the monitor is concerned.
struct Watched {
    seats: Vec<Seat>,
    /// Whether somebody said what is safe.
    has_safe_state: bool,
    /// If it was made safe: the last completion of a cycle before that.
    taken_over: Option<MonotonicTime>,
    is_parked: bool,
}

impl Monitor {
    /// A monitor that has not looked yet.
    pub fn new(directory: Directory) -> Self {
        Self { directory, processes: BTreeMap::new(), search_at: MonotonicTime::default() }
    }

    /// Looks at every node, and does what has to be done. Returns what there is to tell, and when to look again.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn look(&mut self, now: MonotonicTime) -> Result<(Vec<Entry>, MonotonicTime), OpenError> {
        let mut told = Vec::new();
        if now >= self.search_at {
            self.search(&mut told)?;
            self.search_at = now.plus(SEARCH);
        }
        let mut next = now.plus(LONGEST_PAUSE);
        self.processes.retain(|_, process| {
            let lives = process.figures.is_alive();
            for index in 0..process.nodes.len() {
                let (due, entry) = process.look(index, lives, now);
                told.extend(entry);
                next = next.min(due.max(now.plus(SHORTEST_PAUSE)));
            }
            lives
        });
        Ok((told, next))
    }

    /// Whether it knows no process.
    pub fn is_idle(&self) -> bool {
        self.processes.is_empty()
    }

    /// Finds processes that are new.
    fn search(&mut self, told: &mut Vec<Entry>) -> Result<(), OpenError> {
        for path in horus_shm::board::list(&self.directory)? {
            if self.processes.get(&path).is_some_and(|process| process.figures.is_named()) {
                continue;
            }
            if let Ok(Some(figures)) = ProcessFigures::open(&path) {
                let nodes = figures.info().nodes.iter().map(|info| self.watch(info, told)).collect();
                self.processes.insert(path, Process { figures, nodes });
            }
        }
        Ok(())
    }

    /// Takes a lane of each topic on which the node has something safe to say, before it is needed.
    fn watch(&self, info: &NodeInfo, told: &mut Vec<Entry>) -> Watched {
        let mut seats = Vec::new();
        let safe = info.outputs.iter().filter_map(|output| Some((&output.topic, output.safe_bytes()?)));
        for (topic, message) in safe {
            match Seat::take(&self.directory, topic, message) {
                Ok(seat) => seats.push(seat),
                Err(error) => {
                    let text = format!("nobody can publish what is safe in the place of node {}: {error}", info.name);
                    told.push(
                        Entry::new(journal::id::MONITOR, Priority::Warning, text).field("HORUS_NODE", &info.name),
                    );
                }
            }
        }
        let has_safe_state = !seats.is_empty();
        Watched { seats, has_safe_state, taken_over: None, is_parked: false }
    }
}

/// The shortest time between two looks.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);

impl Process {
    /// Looks at one node: when to look again, and what happened.
    fn look(&mut self, index: usize, lives: bool, now: MonotonicTime) -> (MonotonicTime, Option<Entry>) {
        let info = &self.figures.info().nodes[index];
        let node = &mut self.nodes[index];
        let figures = self.figures.node(index);
        let never = MonotonicTime::MAX;
        let has_run = figures.state != State::Starting && figures.release > MonotonicTime::default();
        if !has_run || figures.state == State::Ended {
            return (never, None);
        }
        let parked = node.park(info, &figures, now);
        if parked.is_some() {
            return (now, parked);
        }
        if node.taken_over.is_some_and(|before| figures.completion > before) {
            node.taken_over = None; // it came back, and says what is safe by itself
        }
        if !node.has_safe_state || node.taken_over.is_some() || info.period_ns == 0 {
            return (never, None);
        }
        let due = due(info, &figures);
        if lives && now < due {
            return (due, None);
        }
        node.taken_over = Some(figures.completion);
        self.figures.take_over(index);
        node.seats.iter_mut().for_each(|seat| seat.publish(now));
        let cause = match (lives, figures.step_began) {
            (false, _) => "its process is gone".to_owned(),
            (true, Some(began)) => format!("cycle {} has run for {:?}", figures.number, now.since(began)),
            (true, None) => {
                format!("no cycle has begun since cycle {}, {:?} ago", figures.number, now.since(figures.release))
            }
        };
        let text = format!("node {} is made safe by the monitor: {cause}", info.name);
        let entry = Entry::new(journal::id::MONITOR, Priority::Warning, text)
            .field("HORUS_NODE", &info.name)
            .field("HORUS_PROCESS", self.figures.info().name.clone())
            .field("HORUS_CYCLE", figures.number)
            .field("HORUS_RELEASE_NS", figures.release.as_nanos());
        (never, Some(entry))
    }
}

/// By when the next cycle has to be over: its release, a period and the budget after it. A node that has not run yet has as long from
/// the start of its process.
fn due(info: &NodeInfo, figures: &NodeFigures) -> MonotonicTime {
    let patience = info.period_ns + info.budget_ns.max(info.period_ns / 10);
    match figures.step_began {
        Some(_) => figures.release.plus_nanos(patience),
        None => figures.completion.max(figures.release.plus_nanos(info.period_ns)).plus_nanos(patience),
    }
}

impl Watched {
    /// Takes its policy from a thread that computes for longer than a budget beyond its budget.
    fn park(&mut self, info: &NodeInfo, figures: &NodeFigures, now: MonotonicTime) -> Option<Entry> {
        let is_real_time = info.policy != "other";
        let began = figures.step_began.filter(|_| is_real_time && !self.is_parked && info.budget_ns > 0)?;
        let limit = Duration::from_nanos(2 * info.budget_ns);
        if now.since(began) < limit {
            return None;
        }
        let used = cpu_time(figures.tid)?.saturating_sub(figures.cpu_time);
        if used < limit {
            return None;
        }
        self.is_parked = true;
        let thread = Pid::from_raw(i32::try_from(figures.tid).ok()?)?;
        let (what, priority) = match horus_shm::scheduling::leave_real_time(Some(thread)) {
            Ok(()) => ("its thread has lost its policy, so that others run".to_owned(), Priority::Warning),
            Err(errno) => {
                (format!("its policy cannot be taken away: {errno}; run the monitor as root"), Priority::Error)
            }
        };
        let text = format!(
            "node {} has computed for {used:?} in cycle {}, its budget is {:?}: {what}",
            info.name,
            figures.number,
            Duration::from_nanos(info.budget_ns)
        );
        let entry = Entry::new(journal::id::MONITOR, priority, text);
        Some(entry.field("HORUS_NODE", &info.name).field("HORUS_CYCLE", figures.number).field("HORUS_TID", figures.tid))
    }
}

/// The CPU time of a thread, by `/proc`: it may be a scheduler's tick old.
fn cpu_time(tid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    Some(Duration::from_nanos(text.split_ascii_whitespace().next()?.parse().ok()?))
}
