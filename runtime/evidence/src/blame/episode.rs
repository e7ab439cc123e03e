//! Misses that belong together, and what each culprit did in all.

use serde::Serialize;

use super::entry::Missed;

/// Entries of a node and a culprit that follow each other within this time are one episode: ten entries' shortest distance.
const TOGETHER_US: u64 = 10_000_000;

/// Misses of a node by one culprit, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Episode {
    /// Microseconds since 1970: its first entry.
    pub when_us: u64,
    /// Its last.
    pub until_us: u64,
    /// With its program.
    pub node: String,
    /// How many deadlines.
    pub misses: u64,
    /// The most that a cycle was late.
    pub late_ns: u64,
    /// Who it was, in words; `null` where it is not known.
    pub culprit: Option<String>,
    /// Without what is another one at its next time: process, address, CPU.
    #[serde(skip)]
    pub who: Option<String>,
    /// Its kind: `task`, `interrupt`, …
    pub kind: Option<String>,
    /// The longest that it had of a cycle.
    pub ns: u64,
    /// In percent of that cycle.
    pub share: u64,
    /// `high`, `low` or `none`.
    pub confidence: Option<String>,
    /// What prevents it, or why the culprit is not known.
    pub remedy: String,
    /// The file of the newest frozen trace.
    pub trace: Option<String>,
}

/// What a culprit did in all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// In words, without process, address and CPU; `null` for all that have no name.
    pub culprit: Option<String>,
    /// In how many episodes.
    pub episodes: usize,
    /// How many deadlines were missed in these. An entry of the journal counts for the culprit of its worst miss.
    pub misses: u64,
    /// The most that it had of a cycle.
    pub longest_ns: u64,
    /// The most that a cycle was late.
    pub late_ns: u64,
}

/// Joins entries, which are in the order of time.
pub fn episodes(entries: &[Missed]) -> Vec<Episode> {
    let mut all: Vec<Episode> = Vec::new();
    for entry in entries {
        let new = Episode::of(entry);
        let is_same = |old: &&mut Episode| {
            old.node == new.node
                && old.culprit == new.culprit
                && (old.culprit.is_some() || old.remedy == new.remedy)
                && new.when_us.saturating_sub(old.until_us) <= TOGETHER_US
        };
        match all.iter_mut().rev().find(is_same) {
            Some(old) => old.add(new),
            None => all.push(new),
        }
    }
    all
}

/// Adds up episodes; the one with the most misses comes first, the unnamed last.
pub fn culprits(episodes: &[Episode]) -> Vec<Culprit> {
    let mut all: Vec<Culprit> = Vec::new();
    for episode in episodes {
        let at = all.iter().position(|culprit| culprit.culprit == episode.who).unwrap_or_else(|| {
            let culprit = episode.who.clone();
            all.push(Culprit { culprit, episodes: 0, misses: 0, longest_ns: 0, late_ns: 0 });
            all.len() - 1
        });
        let culprit = &mut all[at];
        culprit.episodes += 1;
        culprit.misses += episode.misses;
        culprit.longest_ns = culprit.longest_ns.max(episode.ns);
        culprit.late_ns = culprit.late_ns.max(episode.late_ns);
    }
    all.sort_by_key(|culprit| (culprit.culprit.is_none(), std::cmp::Reverse(culprit.misses)));
    all
}

impl Episode {
    fn of(entry: &Missed) -> Self {
        let named = entry.culprit.as_ref().ok();
        Self {
            when_us: entry.when_us,
            until_us: entry.when_us,
            node: entry.node.clone(),
            misses: entry.misses,
            late_ns: entry.late_ns,
            culprit: named.map(|named| named.text.clone()),
            who: named.map(|named| named.who.clone()),
            kind: named.map(|named| named.kind.clone()),
            ns: named.map_or(0, |named| named.ns),
            share: named.map_or(0, |named| named.share),
            confidence: named.map(|named| named.confidence.clone()),
            remedy: entry.culprit.as_ref().map_or_else(Clone::clone, |named| named.remedy.clone()),
            trace: named.and_then(|named| named.trace.clone()),
        }
    }

    fn add(&mut self, new: Self) {
        self.until_us = self.until_us.max(new.when_us);
        self.misses += new.misses;
        if new.ns > self.ns {
            (self.ns, self.share, self.confidence) = (new.ns, new.share, new.confidence);
        }
        self.late_ns = self.late_ns.max(new.late_ns);
        self.trace = new.trace.or(self.trace.take());
    }
}
