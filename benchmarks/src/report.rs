//! What a benchmark prints: one JSON object for programs, one Markdown table for people.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::host::Host;

/// Name and version of the JSON object's layout.
pub const SCHEMA: &str = "horus-bench/1";

/// All that one run of a benchmark found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// What it was measured on.
    pub host: Host,
    /// The results.
    pub cells: Vec<Cell>,
    /// Sentences that need several cells, such as a slope.
    pub summary: Vec<String>,
    /// Cells that could not be measured, and why.
    pub failed: Vec<String>,
}

impl Report {
    /// The report as a table with a line for each cell and remarks below it.
    pub fn document(&self) -> String {
        let Host { host, kernel, cpu_model, cpus, governor, commit, load, .. } = &self.host;
        format!(
            "{} on {host}, {}, {cpu_model}, CPUs {cpus}, governor {governor}, load {load}\n\
             kernel {kernel}, commit {commit}; times in ns, rates in messages a second\n\n{}\n{}",
            self.benchmark,
            self.host.kind(),
            table(&self.cells.iter().collect::<Vec<_>>()),
            remarks(std::slice::from_ref(self)),
        )
    }
}

/// What the marks in a table mean, as a list.
pub const LEGEND: &str = "\
- `*`: in all five attempts the floors differed by more than 15 %, a message was faster than both, or the times were of two
  placements of the CPUs (the slowest tenth took twice as long as the fastest): compare with nothing.
- `-`: not measured, or fewer than ten samples beyond the quantile.
";

/// Notes of the cells, summaries and failures of all reports, as a list.
pub fn remarks(reports: &[Report]) -> String {
    let mut noted: Vec<(&str, Vec<String>)> = Vec::new();
    for heading in reports.iter().flat_map(|report| &report.cells).map(|cell| &cell.heading) {
        let Some(note) = &heading.note else { continue };
        let about = format!("{} {}", heading.path.name(), heading.system);
        match noted.iter_mut().find(|(text, _)| text == note) {
            Some((_, cells)) if cells.contains(&about) => {}
            Some((_, cells)) => cells.push(about),
            None => noted.push((note, vec![about])),
        }
    }
    let mut text = LEGEND.to_owned();
    for (note, cells) in noted {
        let _ = writeln!(text, "- {}: {note}.", cells.join(", "));
    }
    for Report { benchmark, summary, failed, .. } in reports {
        summary.iter().for_each(|sentence| _ = writeln!(text, "- {benchmark}: {sentence}"));
        failed.iter().for_each(|failure| _ = writeln!(text, "- {benchmark} FAILED: {failure}"));
    }
    text
}

/// Columns that are text.
const LEFT: usize = 5;

const HEAD: &str = "path | message | bytes | ends | system | floor | p50 | p50 / floor | p99 | p99.9 | p99.99 | max | \
                    per second | lost | corrupt";

/// A line for each cell.
pub fn table(cells: &[&Cell]) -> String {
    let head: Vec<_> = HEAD.split(" | ").collect();
    markdown(&head, LEFT, &cells.iter().map(|cell| row(cell)).collect::<Vec<_>>())
}

/// A Markdown table that reads well as it is, too; the first `left` columns are text, the others numbers.
pub fn markdown(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let lengths = |column: usize| rows.iter().map(move |row| row[column].chars().count());
    let widths: Vec<_> = (0..head.len()).map(|i| lengths(i).max().unwrap_or(0).max(head[i].chars().count())).collect();
    let line = |fields: Vec<&str>| {
        let padded = fields.into_iter().zip(&widths).enumerate().map(|(column, (field, width))| match column < left {
            true => format!(" {field:width$} |"),
            false => format!(" {field:>width$} |"),
        });
        format!("|{}\n", padded.collect::<String>())
    };
    let rule = widths.iter().enumerate().map(|(column, width)| match column < left {
        true => format!("{}|", "-".repeat(width + 2)),
        false => format!("{}:|", "-".repeat(width + 1)),
    });
    let mut text = line(head.to_vec()) + "|" + &rule.collect::<String>() + "\n";
    rows.iter().for_each(|row| text += &line(row.iter().map(String::as_str).collect()));
    text
}

fn row(cell: &Cell) -> Vec<String> {
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), nanoseconds);
    let heading = &cell.heading;
    let unsteady = if cell.steady { "" } else { "*" };
    vec![
        heading.path.name(),
        heading.kind(),
        heading.bytes.to_string(),
        format!("{}:{}", heading.publishers, heading.subscribers),
        if heading.system == "horus" { "**horus**".to_owned() } else { heading.system.clone() },
        format!("{unsteady}{}", nanoseconds(cell.floor_ns())),
        time(cell.p50_ns),
        cell.p50_over_floor.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        time(cell.p99_ns),
        time(cell.p999_ns),
        time(cell.p9999_ns),
        time(cell.max_ns),
        cell.per_second.map_or_else(|| "-".to_owned(), rate),
        cell.counts.lost.to_string(),
        cell.counts.corrupt.to_string(),
    ]
}

/// Three digits and more, thousands apart: `9.6`, `133`, `2 603 104`.
pub fn nanoseconds(ns: f64) -> String {
    if ns < 99.95 {
        return format!("{ns:.1}");
    }
    let digits = format!("{ns:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Messages a second: `28.27 M`, `699.9 k`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        millions if millions >= 1e6 => format!("{:.2} M", millions / 1e6),
        thousands if thousands >= 1e3 => format!("{:.1} k", thousands / 1e3),
        few => format!("{few:.0}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cell::{Heading, Measured, Path};
    use crate::pinning::Cpus;
    use crate::samples::Samples;
    use horus_measure::floor::around::Floors;

    pub(crate) fn example() -> (Report, Vec<Option<Samples>>) {
        let mut samples = Samples::new(2);
        (0..2000).for_each(|ns| samples.record(100 + ns));
        let floors = Floors { before_ns: 60.0, after_ns: 260.0 };
        let measured = Measured { samples: Some(samples.clone()), per_second: Some(5.25e6), ..Measured::default() };
        let mut heading = Heading::new(Path::Thread1To1, "horus", 304);
        heading.note = Some("an example".to_owned());
        let report = Report {
            schema: SCHEMA.to_owned(),
            benchmark: "example".to_owned(),
            host: Host::look(Cpus::default_pair(), true),
            cells: vec![Cell::new(&heading, &measured, floors, 5)],
            summary: vec!["All is well.".to_owned()],
            failed: Vec::new(),
        };
        (report, vec![Some(samples)])
    }

    #[test]
    fn the_table_says_what_is_uncertain() {
        let text = example().0.document();
        for part in
            ["| thread-1:1 |", "| **horus** |", "5.25 M", "*160", "compare with nothing", "an example", "All is well."]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn numbers_read_at_a_glance() {
        assert_eq!([9.55, 99.94, 133.4, 2_603_104.0].map(nanoseconds), ["9.6", "99.9", "133", "2 603 104"]);
        assert_eq!([28_271_234.0, 699_900.0, 12.0].map(rate), ["28.27 M", "699.9 k", "12"]);
    }
}
