//! Missed deadlines of a boot: entries of the journal, joined to episodes, and added up by culprit. It asks no journal itself.

mod entry;
mod episode;
pub mod rows;

use std::io::{BufRead, BufReader, Read};

use serde::Serialize;

pub use entry::{Missed, Named, node};
pub use episode::{Culprit, Episode};

/// The newest entries that are looked at: a node writes one a second at most, so these are hours of misses.
pub const MOST_ENTRIES: usize = 20_000;

/// All of a boot.
#[derive(Serialize)]
pub struct Blame {
    /// Missed deadlines, those among them whose cycle never ran included.
    pub misses: u64,
    /// Entries of the journal that are too many to be shown.
    pub is_cut: bool,
    /// Misses that belong together, the oldest first.
    pub episodes: Vec<Episode>,
    /// What each culprit did in all.
    pub culprits: Vec<Culprit>,
    /// What cannot be known, and what to do about it: a sentence each.
    pub unknown: Vec<String>,
}

impl Blame {
    /// Of entries of the journal, the oldest first.
    pub fn of(entries: &[Missed]) -> Self {
        let episodes = episode::episodes(entries);
        Self {
            misses: entries.iter().map(|entry| entry.misses).sum(),
            is_cut: entries.len() >= MOST_ENTRIES,
            culprits: episode::culprits(&episodes),
            episodes,
            unknown: Vec::new(),
        }
    }
}

/// Of what `journalctl -o json` printed: a line an entry.
pub fn parse(lines: impl Read) -> Vec<Missed> {
    let lines = BufReader::new(lines).lines().map_while(Result::ok);
    lines.filter_map(|line| Missed::parse(&line)).take(MOST_ENTRIES).collect()
}
