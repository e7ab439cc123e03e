//! Whether a monitor watches over the nodes on some topics: it leaves a board there as long as it lives, and who relies on it looks.

use std::time::Duration;

use horus_shm::board::{self, Board};
use horus_shm::directory::{Directory, TopicName};

use crate::graph::ProcessInfo;
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;

/// The name of its board; no program has a point in its name.
const NAME: &str = "horus.monitor";

fn name() -> TopicName {
    NAME.parse().expect("it is a good name")
}

/// Whether a living monitor watches over the nodes on the topics of `directory`; `None` where this user may not see it.
pub fn is_watched(directory: &Directory) -> Option<bool> {
    board::exists(directory, &name()).ok()
}

/// A monitor's own mark, which the kernel takes back when it ends.
#[derive(Default)]
pub(super) struct Mark {
    board: Option<Board>,
    has_complained: bool,
}

impl Mark {
    /// Leaves the mark, unless it is there. Says, once, what is in the way.
    pub fn leave(&mut self, directory: &Directory) -> Option<Entry> {
        if self.board.is_some() {
            return None;
        }
        let problem = match Board::make(directory, &name(), 1) {
            Ok(Some(board)) => {
                self.board = Some(board);
                return None;
            }
            Ok(None) => "another monitor watches over them already: stop one of the two".to_owned(),
            Err(error) => format!("nodes will say that none does: {error}"),
        };
        let text = format!(
            "this monitor watches over the nodes on the topics of {}, and {problem}",
            directory.path().display()
        );
        let is_new = !std::mem::replace(&mut self.has_complained, true);
        is_new.then(|| Entry::new(journal::id::MONITOR, Priority::Warning, text))
    }
}

/// Whether a file is the mark.
pub(super) fn is_mark(path: &std::path::Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == NAME)
}

/// How long after one look the next one comes. A monitor that is started again is back within it.
const DISTANCE: Duration = Duration::from_secs(1);

/// Looks, for a program whose nodes rely on a monitor, whether there is one.
pub(crate) struct Presence {
    directory: Directory,
    /// The nodes that rely on it.
    nodes: String,
    next: Option<MonotonicTime>,
    /// Looks in a row that found none.
    absent: u32,
}

impl Presence {
    /// Nothing where no node relies on a monitor.
    pub fn of(info: &ProcessInfo, directory: Directory) -> Option<Self> {
        let nodes: Vec<_> = info.nodes.iter().filter(|node| node.relies_on_monitor()).map(|node| &*node.name).collect();
        (!nodes.is_empty()).then(|| Self { directory, nodes: nodes.join(", "), next: None, absent: 0 })
    }

    /// What there is to tell: that no monitor is there, and that one is back.
    pub fn look(&mut self, now: MonotonicTime) -> Option<Entry> {
        let due = *self.next.get_or_insert(now.plus(DISTANCE));
        if now == MonotonicTime::MAX || now < due {
            return None;
        }
        self.next = Some(now.plus(DISTANCE));
        let was_told = self.absent >= 2;
        self.absent = if is_watched(&self.directory)? { 0 } else { self.absent.saturating_add(1) };
        let (nodes, place) = (&self.nodes, self.directory.path().display());
        let (priority, text) = match (was_told, self.absent) {
            (false, 2) => (
                Priority::Warning,
                format!(
                    "no monitor runs on the topics of {place}: no process publishes what is safe for {nodes} when a step hangs or the process is stopped \
                     or killed. Start horus-monitor.service, or the program `monitor` beside this one"
                ),
            ),
            (true, 0) => (Priority::Info, format!("a monitor runs on the topics of {place} and watches over {nodes}")),
            _ => return None,
        };
        Some(Entry::new(journal::id::MONITOR, priority, text).field("HORUS_NODE", nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{NodeInfo, OutputInfo};

    #[test]
    fn that_no_monitor_runs_is_told_once_and_only_for_nodes_that_rely_on_one() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        let log = NodeInfo { name: "log".to_owned(), period_ns: 1_000_000, ..NodeInfo::default() };
        let safe = OutputInfo { topic: "cmd".to_owned(), safe: "00".to_owned() };
        let motor = NodeInfo { name: "motor".to_owned(), outputs: vec![safe], ..log.clone() };
        let program = |nodes| ProcessInfo { name: "base".to_owned(), nodes, chains: Vec::new() };
        assert!(Presence::of(&program(vec![log.clone()]), directory.clone()).is_none());
        let mut presence = Presence::of(&program(vec![log, motor]), directory.clone()).unwrap();
        let mut mark = Mark::default();
        let at = |seconds| MonotonicTime::default().plus(Duration::from_secs(seconds));
        let mut told = |seconds: u64| presence.look(at(seconds)).map(|entry| entry.message().to_owned());
        assert_eq!((told(1), told(2)), (None, None), "it may be starting");
        let text = told(3).unwrap();
        assert!(text.starts_with("no monitor runs") && text.contains("what is safe for motor when"), "{text}");
        assert_eq!((told(4), is_watched(&directory)), (None, Some(false)));
        assert!(mark.leave(&directory).is_none() && is_watched(&directory) == Some(true));
        assert!(told(5).unwrap().starts_with("a monitor runs"));
        assert_eq!(told(6), None);
        let second = Mark::default().leave(&directory).expect("there is one already");
        assert!(second.message().contains("another monitor"), "{}", second.message());
        drop(mark);
        assert_eq!(told(7), None, "it may be started again");
        assert!(told(8).unwrap().starts_with("no monitor runs"));
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "its board went with it");
    }
}
