//! Who watches over nodes that cannot help themselves: a node whose step hangs, whose process is stopped, or died.
//!
//! A [`Monitor`] is meant for a process of its own, on a housekeeping CPU and with a priority above all nodes. It reads the figures
//! of every process that runs nodes ([`crate::figures`]), and does two things:
//!
//! - **It publishes what is safe.** When a cycle is not over within its period and its budget (or the limit that its node asks
//!   for), or when the process is gone, the monitor
//!   publishes the safe message of each output in the node's place, by a lane of its own. The node publishes nothing of the step that
//!   hung. It goes on with its safe state when its step returns.
//! - **It parks who takes the CPU.** A real-time thread that has used a budget more CPU time than its node may, loses its policy:
//!   it shares the CPU fairly with ordinary threads, and all nodes of lower priority run again.
//!
//! While it lives it leaves a mark beside the topics. Who relies on it looks for that and says when there is none ([`is_watched`]).
//!
//! It also tells when a user sets the clock of the day, by which nodes do not go.
//!
//! Behind it stands systemd: a monitor that hangs is ended by its own watchdog.
//!
//! # What it does not do
//! - It protects nodes that react to misses by their safe state ([`SafeState`](crate::node::SafeState)) only: for others, no
//!   program said what is safe.
//! - It does not watch nodes that only events release: it is unknown when they have to run.
//! - A parked thread is not set free: its program has to be started again.

mod day;
mod pace;
mod presence;
mod search;
mod seat;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use day::Day;
use pace::Pace;
use presence::Mark;
pub(crate) use presence::Presence;
pub use presence::is_watched;
use rustix::process::Pid;
use search::{MOST_IN_ALL, MOST_OF_A_USER, Shares};
use seat::{Seat, Seats};

use crate::figures::{NodeFigures, ProcessFigures, State};
use crate::graph::NodeInfo;
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;
use crate::topic::{Directory, OpenError};

/// How often processes that come and go are looked for.
const SEARCH: Duration = Duration::from_millis(100);

/// The longest time between two looks, so that its own watchdog is fed.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The most safe messages of one process: each is a lane of a topic.
const MOST_SEATS: usize = 256;

/// Watches over the nodes on the topics of one directory.
pub struct Monitor {
    directory: Directory,
    seats: Seats,
    processes: BTreeMap<PathBuf, Process>,
    search_at: MonotonicTime,
    /// The board that was opened last: others have their turn after it.
    opened_last: PathBuf,
    /// Whose boards are too many, as it was told.
    exceeded: BTreeSet<u32>,
    has_told_cut: bool,
    mark: Mark,
    /// How far its own clock is ahead of the machine's.
    ahead_ns: i64,
    day: Day,
}

struct Process {
    figures: ProcessFigures,
    identity: (u64, u64),
    nodes: Vec<Watched>,
    is_cut_off: bool,
    /// Whether its times can be compared with ours.
    has_our_clock: bool,
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
    /// Whether this monitor has yet to judge it.
    is_new: bool,
    /// Its figures when they could be read last.
    last: Option<NodeFigures>,
}

impl Monitor {
    /// A monitor that has not looked yet.
    pub fn new(directory: Directory) -> Self {
        Self {
            seats: Seats::new(directory.clone()),
            directory,
            processes: BTreeMap::new(),
            search_at: MonotonicTime::default(),
            opened_last: PathBuf::new(),
            exceeded: BTreeSet::new(),
            has_told_cut: false,
            mark: Mark::default(),
            ahead_ns: MonotonicTime::offset_of_namespace(),
            day: Day::default(),
        }
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
            told.extend(self.mark.leave(&self.directory));
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
        for process in self.processes.values_mut() {
            process.nodes.iter_mut().for_each(|node| drop(node.take_seats(&self.seats)));
        }
        let (mut found, is_cut) = search::boards(&self.directory)?;
        let watched: BTreeSet<_> = self.processes.values().map(|process| process.identity).collect();
        // The name of a process that is watched is its successor's when the process has been seen to be dead.
        found.retain(|board| {
            let is_known = watched.contains(&board.identity) || self.processes.contains_key(&board.path);
            !is_known && !presence::is_mark(&board.path)
        });
        let turn = found.partition_point(|board| board.path <= self.opened_last);
        found.rotate_left(turn);
        let mut shares = Shares::of(self.processes.values().map(|process| process.figures.owner().0));
        for board in found {
            if !shares.allow(&board) {
                continue;
            }
            self.opened_last.clone_from(&board.path);
            if let Ok(Some(figures)) = ProcessFigures::open(&board.path) {
                shares.watch(&board);
                let nodes = self.watch_all(&figures, told);
                let ahead_ns = figures.ahead_ns.saturating_sub(self.ahead_ns);
                if ahead_ns != 0 {
                    told.push(day::of_another_clock(&figures.info().name, ahead_ns));
                }
                let process = Process {
                    identity: figures.identity(),
                    has_our_clock: ahead_ns == 0,
                    figures,
                    nodes,
                    is_cut_off: false,
                };
                self.processes.insert(board.path, process);
            }
        }
        self.tell_exceeded(shares.exceeded, is_cut, told);
        Ok(())
    }

    /// Says, once for each user, that not all processes are watched.
    fn tell_exceeded(&mut self, exceeded: BTreeSet<u32>, is_cut: bool, told: &mut Vec<Entry>) {
        let mut tell = |text| told.push(Entry::new(journal::id::MONITOR, Priority::Warning, text));
        for user in exceeded.into_iter().filter(|user| self.exceeded.insert(*user)) {
            tell(format!(
                "not all programs of user {user} are watched: {MOST_OF_A_USER} of a user and {MOST_IN_ALL} in all are possible; stop some of \
                 them, or run their nodes in one program"
            ));
        }
        if is_cut && !std::mem::replace(&mut self.has_told_cut, true) {
            tell(format!(
                "{} has more boards of nodes than are looked at: who makes them?",
                self.directory.path().display()
            ));
        }
    }

    /// All nodes of a process.
    fn watch_all(&self, figures: &ProcessFigures, told: &mut Vec<Entry>) -> Vec<Watched> {
        let owner = figures.owner();
        let (mut nodes, mut seats) = (Vec::new(), 0);
        for info in &figures.info().nodes {
            seats += info.outputs.iter().filter(|output| !output.safe.is_empty()).count();
            let node = match seats > MOST_SEATS {
                true => self.watch(&NodeInfo { outputs: Vec::new(), ..info.clone() }, owner, told),
                false => self.watch(info, owner, told),
            };
            nodes.push(node);
        }
        if seats > MOST_SEATS {
            let text = format!(
                "the program {} has {seats} safe messages: the monitor publishes what is safe on the first {MOST_SEATS} of them",
                figures.info().name
            );
            told.push(Entry::new(journal::id::MONITOR, Priority::Warning, text));
        }
        nodes
    }

    /// Takes the monitor's lane of each topic on which the node has something safe to say, before it is needed.
    fn watch(&self, info: &NodeInfo, owner: (u32, u32), told: &mut Vec<Entry>) -> Watched {
        let safe = info.outputs.iter().filter_map(|output| Some((output.topic.clone(), output.safe_bytes()?)));
        let mut node = Watched {
            seats: Vec::new(),
            wanted: safe.collect(),
            owner,
            taken_over: None,
            pace: Pace::default(),
            is_parked: false,
            is_new: true,
            last: None,
        };
        if let Some(error) = node.take_seats(&self.seats) {
            let text = format!("no process can publish what is safe in the place of node {}: {error}", info.name);
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
        let never = MonotonicTime::MAX;
        let Some(figures) = self.figures.node_without_responses(index).or_else(|| node.last.clone().filter(|_| !lives))
        else {
            return (never, self.tell_cut_off());
        };
        node.last = Some(figures.clone());
        let has_run = figures.state != State::Starting && figures.release > MonotonicTime::default();
        if !has_run || figures.state == State::Ended {
            return (never, None);
        }
        let parked = self.has_our_clock.then(|| node.park(info, self.figures.process, &figures, now)).flatten();
        if parked.is_some() {
            return (now, parked);
        }
        if node.taken_over.is_some_and(|before| figures.completion > before) {
            node.taken_over = None; // it came back, and says what is safe by itself
        }
        if node.seats.is_empty() || node.taken_over.is_some() || info.period_ns == 0 {
            return (never, None);
        }
        let due = if self.has_our_clock { due(info, &figures) } else { never };
        let is_new = std::mem::replace(&mut node.is_new, false);
        if lives && now < due {
            return (due, None);
        }
        node.taken_over = Some(figures.completion);
        if is_new && lives && node.was_made_safe(info, &figures) {
            return (never, None);
        }
        self.figures.take_over(index);
        // With logical execution time, what the node said last may be stamped later than now.
        let deadline =
            if info.logical && self.has_our_clock { figures.release.plus_nanos(info.deadline_ns) } else { now };
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

impl Process {
    /// Says, once, that a process cannot be watched any more.
    fn tell_cut_off(&mut self) -> Option<Entry> {
        let name = &self.figures.info().name;
        let text = format!(
            "the figures of the program {name} were cut off: its nodes are not watched, and made safe only when it ends. A program that may write to the topics' directory \
             could do it; start the program again"
        );
        let is_new = !std::mem::replace(&mut self.is_cut_off, true);
        is_new.then(|| Entry::new(journal::id::MONITOR, Priority::Error, text).field("HORUS_PROCESS", name))
    }
}

/// By when the next cycle has to be over: its release, a period and the budget after it, or the limit that the node asked for. A node that has not run yet has as long from
/// the start of its process.
fn due(info: &NodeInfo, figures: &NodeFigures) -> MonotonicTime {
    let patience = match info.monitor_limit_ns {
        0 => info.period_ns.saturating_add(info.budget_ns.max(info.period_ns / 10)),
        limit => limit,
    };
    match figures.step_began {
        Some(_) => figures.release.plus_nanos(patience),
        None => figures.completion.max(figures.release.plus_nanos(info.period_ns)).plus_nanos(patience),
    }
}

impl Watched {
    /// Takes the seats that are missing; returns what is in the way of the last one that is not to be had.
    fn take_seats(&mut self, seats: &Seats) -> Option<crate::Error> {
        let (owner, mut failed) = (self.owner, None);
        self.wanted.retain(|(topic, message)| match seats.take(topic, message, owner) {
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

    /// Whether a monitor before this one has published what is safe for the cycle that is not over: its own lanes say so.
    fn was_made_safe(&self, info: &NodeInfo, figures: &NodeFigures) -> bool {
        let after_release = if info.logical { info.deadline_ns } else { 0 };
        let since = figures.completion.max(figures.release.plus_nanos(after_release));
        self.seats.iter().all(|seat| seat.was_published(since))
    }

    /// Takes its policy from a thread that computes for longer than a budget beyond its budget.
    fn park(&mut self, info: &NodeInfo, process: u32, figures: &NodeFigures, now: MonotonicTime) -> Option<Entry> {
        let is_real_time = info.scheduling_policy != "other";
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
        let (what, priority) = match horus_sys::scheduling::leave_real_time(Some(thread)) {
            Ok(()) => ("its thread has lost its scheduling policy, so that others run".to_owned(), Priority::Warning),
            Err(errno) => (
                format!("its scheduling policy cannot be taken away: {errno}; run the monitor as root"),
                Priority::Error,
            ),
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
/// threads that are another process's here.
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
