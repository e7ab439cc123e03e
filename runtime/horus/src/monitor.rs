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
//! It also tells when somebody sets the clock of the day, by which nodes do not go.
//!
//! Behind it stands systemd: a monitor that hangs is ended by its own watchdog.
//!
//! # What it does not do
//! - It protects nodes that react to misses by their safe state ([`SafeState`](crate::node::SafeState)) only: for others, nobody said what
//!   is safe.
//! - It does not watch nodes that only events release: nobody knows when they have to run.
//! - A parked thread is not set free: its program has to be started again.

mod day;
mod pace;
mod seat;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use day::Day;
use pace::Pace;
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
    day: Day,
}

struct Process {
    figures: ProcessFigures,
    nodes: Vec<Watched>,
}

/// A node, as far as the monitor is concerned.
struct Watched {
    seats: Vec<Seat>,
    /// Topics without a seat yet, and what is safe on each.
    wanted: Vec<(String, Vec<u8>)>,
    /// The user and the group of the process, by number: nothing is done for it that these may not do.
    owner: (u32, u32),
    /// If it was made safe: the last completion of a cycle before that.
    taken_over: Option<MonotonicTime>,
    pace: Pace,
    is_parked: bool,
}

impl Monitor {
    /// A monitor that has not looked yet.
    pub fn new(directory: Directory) -> Self {
        Self { directory, processes: BTreeMap::new(), search_at: MonotonicTime::default(), day: Day::default() }
    }

    /// Looks at every node, and does what has to be done. Returns what there is to tell, and when to look again.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn look(&mut self, now: MonotonicTime) -> Result<(Vec<Entry>, MonotonicTime), OpenError> {
        let mut told = Vec::from_iter(self.day.look(MonotonicTime::offset_of_day()));
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
        // After the dead have left: their successors have the same names, and want the same seats.
        if now >= self.search_at {
            self.search(&mut told)?;
            self.search_at = now.plus(SEARCH);
        }
        Ok((told, next))
    }

    /// Whether it knows no process.
    pub fn is_idle(&self) -> bool {
        self.processes.is_empty()
    }

    /// Finds processes that are new.
    fn search(&mut self, told: &mut Vec<Entry>) -> Result<(), OpenError> {
        for path in horus_shm::board::list(&self.directory)? {
            if let Some(process) = self.processes.get_mut(&path) {
                process.nodes.iter_mut().for_each(|node| drop(node.take_seats(&self.directory)));
                continue; // a successor's turn comes when this one has been seen to be dead
            }
            if let Ok(Some(figures)) = ProcessFigures::open(&path) {
                let owner = figures.owner();
                let nodes = figures.info().nodes.iter().map(|info| self.watch(info, owner, told)).collect();
                self.processes.insert(path, Process { figures, nodes });
            }
        }
        Ok(())
    }

    /// Takes a lane of each topic on which the node has something safe to say, before it is needed.
    fn watch(&self, info: &NodeInfo, owner: (u32, u32), told: &mut Vec<Entry>) -> Watched {
        let safe = info.outputs.iter().filter_map(|output| Some((output.topic.clone(), output.safe_bytes()?)));
        let mut node = Watched {
            seats: Vec::new(),
            wanted: safe.collect(),
            owner,
            taken_over: None,
            pace: Pace::default(),
            is_parked: false,
        };
        if let Some(error) = node.take_seats(&self.directory) {
            let text = format!("nobody can publish what is safe in the place of node {}: {error}", info.name);
            told.push(Entry::new(journal::id::MONITOR, Priority::Warning, text).field("HORUS_NODE", &info.name));
        }
        node
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
        let parked = node.park(info, self.figures.process, &figures, now);
        if parked.is_some() {
            return (now, parked);
        }
        if node.taken_over.is_some_and(|before| figures.completion > before) {
            node.taken_over = None; // it came back, and says what is safe by itself
        }
        if node.seats.is_empty() || node.taken_over.is_some() || info.period_ns == 0 {
            return (never, None);
        }
        let due = due(info, &figures);
        if lives && now < due {
            return (due, None);
        }
        node.taken_over = Some(figures.completion);
        self.figures.take_over(index);
        // With logical execution time, what the node said last may be stamped later than now.
        let deadline = if info.logical { figures.release.plus_nanos(info.deadline_ns) } else { now };
        node.seats.iter_mut().for_each(|seat| seat.publish(MonotonicTime::now().max(deadline)));
        let Some(times) = node.pace.count(now, !lives) else { return (never, None) };
        let cause = match (lives, figures.step_began) {
            (false, _) => "its process is gone".to_owned(),
            (true, Some(began)) => format!("cycle {} has run for {:?}", figures.number, now.since(began)),
            (true, None) => {
                format!("no cycle has begun since cycle {}, {:?} ago", figures.number, now.since(figures.release))
            }
        };
        let often = if times > 1 { format!(" ({times} times since the last entry)") } else { String::new() };
        let text = format!("node {} is made safe by the monitor: {cause}{often}", info.name);
        let entry = Entry::new(journal::id::MONITOR, Priority::Warning, text)
            .field("HORUS_NODE", &info.name)
            .field("HORUS_PROCESS", self.figures.info().name.clone())
            .field("HORUS_CYCLE", figures.number)
            .field("HORUS_RELEASE_NS", figures.release.as_nanos())
            .field("HORUS_TIMES", times);
        (never, Some(entry))
    }
}

/// By when the next cycle has to be over: its release, a period and the budget after it. A node that has not run yet has as long from
/// the start of its process.
fn due(info: &NodeInfo, figures: &NodeFigures) -> MonotonicTime {
    let patience = info.period_ns.saturating_add(info.budget_ns.max(info.period_ns / 10));
    match figures.step_began {
        Some(_) => figures.release.plus_nanos(patience),
        None => figures.completion.max(figures.release.plus_nanos(info.period_ns)).plus_nanos(patience),
    }
}

impl Watched {
    /// Takes the seats that are missing; returns what is in the way of the last one that is not to be had.
    fn take_seats(&mut self, directory: &Directory) -> Option<crate::Error> {
        let (owner, mut failed) = (self.owner, None);
        self.wanted.retain(|(topic, message)| match Seat::take(directory, topic, message, owner) {
            Ok(seat) => {
                self.seats.push(seat);
                false
            }
            Err(error) => {
                failed = Some(error);
                true
            }
        });
        failed
    }

    /// Takes its policy from a thread that computes for longer than a budget beyond its budget.
    fn park(&mut self, info: &NodeInfo, process: u32, figures: &NodeFigures, now: MonotonicTime) -> Option<Entry> {
        let is_real_time = info.policy != "other";
        let began = figures.step_began.filter(|_| is_real_time && !self.is_parked && info.budget_ns > 0)?;
        let limit = Duration::from_nanos(info.budget_ns.saturating_mul(2));
        if now.since(began) < limit {
            return None;
        }
        let used = cpu_time(figures.tid)?.saturating_sub(figures.cpu_time);
        if used < limit || !is_thread_of(figures.tid, process, self.owner.0) {
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

/// Whether a thread is one of a process and a user. Its number says so only in this PID namespace: a process of another one names
/// threads that are somebody else's here.
fn is_thread_of(tid: u32, process: u32, user: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{tid}/status")) else { return false };
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let first = |name| value(name).and_then(|text| text.split_whitespace().next()?.parse::<u32>().ok());
    let is_here = value("NSpid:").is_none_or(|numbers| numbers.split_whitespace().count() == 1);
    is_here && first("Tgid:") == Some(process) && first("Uid:") == Some(user)
}

/// The CPU time of a thread, by `/proc`: it may be a scheduler's tick old.
fn cpu_time(tid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    Some(Duration::from_nanos(text.split_ascii_whitespace().next()?.parse().ok()?))
}
