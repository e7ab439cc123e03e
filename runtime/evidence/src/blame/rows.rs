//! What a screen and a page show of misses: the same episodes, the same cells.

use std::time::Duration;

use horus_measure::units::time;

use super::{Blame, Culprit, Episode};

/// Episodes that are shown; the newest.
pub const MOST_SHOWN: usize = 50;

/// Culprits that are shown; those with the most misses.
pub const MOST_CULPRITS: usize = 20;

/// The newest episodes.
pub fn shown(blame: &Blame) -> &[Episode] {
    &blame.episodes[blame.episodes.len().saturating_sub(MOST_SHOWN)..]
}

/// The cells of the newest episodes, for a page: when, node, late by, culprit, share, what prevents it.
pub(crate) fn episode_rows(blame: &Blame) -> Vec<Vec<String>> {
    shown(blame).iter().map(cells).collect()
}

/// The cells of the culprits, for a page: culprit, episodes, misses, longest, late by.
pub fn culprit_rows(culprits: &[Culprit]) -> Vec<Vec<String>> {
    let row = |culprit: &Culprit| {
        let (longest, late) = (Duration::from_nanos(culprit.longest_ns), Duration::from_nanos(culprit.late_ns));
        vec![
            culprit.culprit.clone().unwrap_or_else(|| "not known".to_owned()),
            culprit.episodes.to_string(),
            culprit.misses.to_string(),
            if culprit.culprit.is_some() { time(longest) } else { "-".to_owned() },
            time(late),
        ]
    };
    culprits.iter().take(MOST_CULPRITS).map(row).collect()
}

/// The cells of an episode, in that order.
pub fn cells(episode: &Episode) -> Vec<String> {
    let doubt = if is_doubtful(episode) { "?" } else { "" };
    vec![
        clock(episode.when_us),
        episode.node.clone(),
        time(Duration::from_nanos(episode.late_ns)),
        episode.culprit.clone().unwrap_or_else(|| "not known".to_owned()),
        if episode.culprit.is_some() { format!("{} %{doubt}", episode.share) } else { "-".to_owned() },
        remedy(episode),
    ]
}

/// Whether the culprit is not certain.
pub fn is_doubtful(episode: &Episode) -> bool {
    episode.confidence.as_deref().is_some_and(|confidence| confidence != "high")
}

/// What prevents it, or why the culprit is not known.
pub fn remedy(episode: &Episode) -> String {
    match episode.culprit {
        Some(_) => episode.remedy.clone(),
        None => format!("{}: see docs/blame.md", episode.remedy),
    }
}

/// The time of day, in UTC.
fn clock(us: u64) -> String {
    let seconds = us / 1_000_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
