//! The screen of `horus blame`: a table of episodes, and one of culprits, no wider than the terminal.

use horus_evidence::blame::rows::{MOST_CULPRITS, MOST_SHOWN, cells, culprit_rows, is_doubtful, remedy, shown};
use horus_evidence::blame::{Blame, Culprit, Episode};
use horus_witness::flight;

use crate::table::{Head, table};

const HEADS: [Head; 6] = [
    ("WHEN", false),
    ("NODE", false),
    ("LATE BY", true),
    ("CULPRIT", false),
    ("SHARE", true),
    ("WHAT PREVENTS IT", false),
];

const SUMMARY: [Head; 5] =
    [("CULPRIT", false), ("EPISODES", true), ("MISSES", true), ("LONGEST", true), ("LATE BY", true)];

/// What stands before a remedy on a line of its own.
const INDENT: &str = "          ";

/// The whole screen.
pub fn text(blame: &Blame, width: usize, is_this_boot: bool) -> String {
    let since = if is_this_boot { "since boot" } else { "in that boot" };
    if blame.episodes.is_empty() && blame.unknown.is_empty() {
        return format!("no deadline was missed {since}\n");
    }
    if blame.episodes.is_empty() {
        let head = format!("the journal has no missed deadline {since}, which does not say that there was none:\n");
        return head + &unknown_text(&blame.unknown, width);
    }
    let least = if blame.is_cut { "at least " } else { "" };
    let (misses, episodes) = (blame.misses, blame.episodes.len());
    let mut text = format!(
        "{least}{} in {} {since}",
        count(misses, "miss", "misses"),
        count(episodes as u64, "episode", "episodes")
    );
    text += match episodes.saturating_sub(MOST_SHOWN) {
        0 => ", times are UTC\n".to_owned(),
        more => format!(", times are UTC; the first {more} are left out: --json has all\n"),
    }
    .as_str();
    let shown = shown(blame);
    text += &episodes_text(shown, width);
    if shown.iter().any(is_doubtful) {
        text += "?  not certain: docs/blame.md says why\n";
    }
    if blame.culprits.len() > 1 || episodes > 1 {
        text += "\n";
        text += &culprits_text(&blame.culprits, width);
    }
    if let Some(trace) = blame.episodes.iter().rev().find_map(|episode| episode.trace.as_ref()) {
        text += &format!("\nthe newest trace: trace-cmd report {trace}\n");
        if let Some(number) = trace.rsplit('/').next().and_then(flight::number) {
            text += &format!("the node's last cycles and messages before it: horus blame --show {number}\n");
        }
    }
    if !blame.unknown.is_empty() {
        text += "\nthere may be more than that:\n";
        text += &unknown_text(&blame.unknown, width);
    }
    text
}

/// What cannot be known, each on lines of its own.
fn unknown_text(unknown: &[String], width: usize) -> String {
    let lines = unknown.iter().flat_map(|sentence| {
        let lines = wrapped(sentence, width.saturating_sub(2));
        lines.into_iter().enumerate().map(|(number, line)| format!("{}{line}\n", if number == 0 { "- " } else { "  " }))
    });
    lines.collect()
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// One line an episode where that fits; else its remedy stands on lines of its own.
fn episodes_text(episodes: &[Episode], width: usize) -> String {
    let rows: Vec<Vec<String>> = episodes.iter().map(cells).collect();
    let whole = table(&HEADS, &rows);
    if whole.lines().all(|line| line.chars().count() <= width) {
        return whole;
    }
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(|row| row[..5].to_vec()).collect();
    fit(&mut rows, &HEADS[..5], 3, width);
    let short = table(&HEADS[..5], &rows);
    let mut lines = short.lines();
    let head = lines.next().unwrap_or_default().to_owned() + "\n";
    let told = lines.zip(episodes).map(|(line, episode)| {
        let remedy = wrapped(&remedy(episode), width.saturating_sub(INDENT.len()));
        let remedy: String = remedy.iter().map(|line| format!("{INDENT}{line}\n")).collect();
        format!("{line}\n{remedy}")
    });
    head + &told.collect::<String>()
}

fn culprits_text(culprits: &[Culprit], width: usize) -> String {
    let mut rows = culprit_rows(culprits);
    fit(&mut rows, &SUMMARY, 0, width);
    let more = culprits.len().saturating_sub(MOST_CULPRITS);
    let rest = if more > 0 { format!("and {more} more: --json has all\n") } else { String::new() };
    table(&SUMMARY, &rows) + &rest
}

/// Shortens the cells of a column until the table is `width` wide; no cell below 12 characters. Then the node's names, too.
fn fit(rows: &mut [Vec<String>], heads: &[Head], column: usize, width: usize) {
    for (column, least) in [(column, 24), (1, 12), (column, 12)] {
        let widest = table(heads, rows).lines().map(|line| line.chars().count()).max().unwrap_or_default();
        let cell = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let room = cell.saturating_sub(widest.saturating_sub(width)).max(least);
        for row in rows.iter_mut().filter(|row| row[column].chars().count() > room) {
            row[column] = row[column].chars().take(room - 1).collect::<String>() + "…";
        }
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first");
        match line.is_empty() {
            true => line.push_str(word),
            false if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            false => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
