//! What `horus blame` cannot know: why a journal without misses may not say that no deadline was missed, and what to do about it.
//!
//! Nodes tell their misses to the journal. So it says nothing of programs that could not, of those that were told not to, and to whom may not
//! read it. Nodes that live have counts that are seen without it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use horus::journal::{PRINT, VARIABLE};
use horus::outside::printable;
use horus_evidence::blame::Missed;
use horus_shm::directory::Directory;

use crate::node::running::{self, Node};

/// Names that a sentence has at most.
const MOST_NAMED: usize = 5;

/// What the journal says of a boot.
pub struct Told<'a> {
    /// The entries of misses.
    pub misses: &'a [Missed],
    /// The nodes whose starts are there.
    pub starts: &'a BTreeSet<String>,
    /// Whether it is the boot that lasts.
    pub is_this_boot: bool,
}

/// All that cannot be known, a sentence each.
pub fn unknown(told: &Told, logs: &[PathBuf]) -> Vec<String> {
    let mut unknown: Vec<_> = of_files(logs).into_iter().collect();
    let living = if told.is_this_boot { living() } else { Living::default() };
    if told.starts.is_empty() && told.misses.is_empty() && unknown.is_empty() {
        unknown.push(format!(
            "no node's start is in it: nothing was watched. A program with {VARIABLE}={PRINT}, or one that ran where no journal was, prints its misses: \
             read its standard error, or the account at its end. Misses in a virtual world are the test's"
        ));
    }
    unknown.extend(untold(told, &living.nodes));
    unknown.extend(living.unknown);
    unknown
}

/// Whether the files of the journal are there, and this user may read those of the system.
fn of_files(logs: &[PathBuf]) -> Option<String> {
    let mut files = Vec::new();
    let mut is_closed = false;
    for folder in logs {
        is_closed |= collect(folder, 1, &mut files);
    }
    is_closed |= files.iter().any(|path| {
        let is_of_system = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("system"));
        is_of_system && File::open(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    });
    if is_closed {
        return Some(
            "this user may not read the system's journal, to which installed nodes and root's write: run it as root, or as a member of the group \
             systemd-journal"
                .to_owned(),
        );
    }
    let names: Vec<_> = logs.iter().map(|folder| folder.display().to_string()).collect();
    files.is_empty().then(|| {
        format!(
            "this machine keeps no journal: there is none in {}. Programs print their misses where no systemd-journald runs: read their standard error",
            names.join(" or ")
        )
    })
}

/// The journal's files in a folder and in those below it; true if one may not be read.
fn collect(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) -> bool {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return error.kind() == ErrorKind::PermissionDenied,
    };
    let mut is_closed = false;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "journal") {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            is_closed |= collect(&path, depth - 1, files);
        }
    }
    is_closed
}

/// The nodes that live.
#[derive(Default)]
struct Living {
    nodes: Vec<Node>,
    /// What is not known of them.
    unknown: Vec<String>,
}

fn living() -> Living {
    let Ok(location) = crate::scope::location(None) else { return Living::default() };
    let everywhere = running::everywhere(&location);
    let is_watched = Directory::find(location.path()).ok().flatten().as_ref().and_then(horus::monitor::is_watched);
    let relying = everywhere.own.iter().filter(|node| is_watched == Some(false) && node.asked.relies_on_monitor());
    let relying: Vec<_> = relying.map(Node::name).collect();
    let mut unknown = Vec::new();
    if !relying.is_empty() {
        unknown.push(format!(
            "no monitor watches {}: a step that hangs tells its miss when it ends, and none when its program is killed before. Start \
             horus-monitor.service, or the program `monitor`",
            named(&relying)
        ));
    }
    unknown.extend(everywhere.unseen.map(|unseen| unseen.replacen("not counted:", "not looked at:", 1)));
    let others = everywhere.others.into_iter().map(|other| other.node);
    Living { nodes: everywhere.own.into_iter().chain(others).collect(), unknown }
}

/// The nodes that live of which the journal knows less than their own counts say.
fn untold(told: &Told, nodes: &[Node]) -> Option<String> {
    // An entry of a miss names the program, too; one of a start does not.
    let is_told = |node: &Node| told.misses.iter().any(|miss| miss.node == node.name() || miss.node == node.asked.name);
    let has_started = |node: &Node| told.starts.contains(&node.asked.name);
    let of = |node: &Node| match node.figures.misses {
        0 => (!has_started(node)).then(|| node.name()),
        1 => (!is_told(node)).then(|| format!("{} (1 miss)", node.name())),
        misses => (!is_told(node)).then(|| format!("{} ({misses} misses)", node.name())),
    };
    let untold: Vec<_> = nodes.iter().filter_map(of).collect();
    (!untold.is_empty()).then(|| {
        format!(
            "it does not tell of all that run: {}. Their counts are in `horus node list`. They may run with {VARIABLE}={PRINT}, in a container, or as a \
             user who is not believed (--user)",
            named(&untold)
        )
    })
}

fn named(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(MOST_NAMED).map(|name| printable(name)).collect();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
