//! What a benchmark prints: one JSON object for programs, one table for people.

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
    pub fn table(&self) -> String {
        let mut rows = vec![Vec::from(HEAD.map(str::to_owned))];
        rows.extend(self.cells.iter().map(row));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: Vec<_> = (0..HEAD.len()).map(width).collect();
        let mut text = self.preamble();
        for row in &rows {
            for (column, (field, width)) in row.iter().zip(&widths).enumerate() {
                let _ =
                    if column < LEFT { write!(text, "{field:width$}  ") } else { write!(text, "{field:>width$}  ") };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        for remark in self.remarks() {
            let _ = writeln!(text, "{remark}");
        }
        text
    }

    fn preamble(&self) -> String {
        let Host { host, kernel, cpu_model, cpus, governor, commit, load, virtual_machine, .. } = &self.host;
        let kind = if *virtual_machine { "virtual machine" } else { "machine" };
        format!(
            "{} on {host}, {kind}, {cpu_model}, CPUs {cpus}, governor {governor}, load {load}\n\
             kernel {kernel}, commit {commit}; times in ns, rates in messages a second\n\n",
            self.benchmark
        )
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = vec![String::new()];
        let mut noted: Vec<(&str, Vec<String>)> = Vec::new();
        for heading in self.cells.iter().map(|cell| &cell.heading) {
            let Some(note) = &heading.note else { continue };
            let about = format!("{} {}", heading.path.name(), heading.system);
            match noted.iter_mut().find(|(text, _)| text == note) {
                Some((_, cells)) if cells.contains(&about) => {}
                Some((_, cells)) => cells.push(about),
                None => noted.push((note, vec![about])),
            }
        }
        remarks.extend(noted.iter().map(|(note, cells)| format!("{}: {note}.", cells.join(", "))));
        if self.cells.iter().any(|cell| !cell.steady) {
            remarks.push("* the floors differed by more than 15 %, or a message was faster than both, in all five attempts: compare with care.".to_owned());
        }
        if self.cells.iter().any(|cell| cell.p9999_ns.is_none()) {
            remarks.push("- not measured, or fewer than ten samples beyond the quantile.".to_owned());
        }
        remarks.extend(self.summary.iter().cloned());
        remarks.extend(self.failed.iter().map(|failure| format!("FAILED {failure}")));
        remarks
    }
}

/// Columns that are text.
const LEFT: usize = 3;

const HEAD: [&str; 16] = [
    "path",
    "system",
    "message",
    "bytes",
    "pub",
    "sub",
    "floor",
    "p50",
    "p50/floor",
    "p99",
    "p99.9",
    "p99.99",
    "max",
    "per second",
    "lost",
    "corrupt",
];

fn row(cell: &Cell) -> Vec<String> {
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), short);
    let heading = &cell.heading;
    let unsteady = if cell.steady { "" } else { "*" };
    let message = [heading.message.as_deref(), Some(heading.unit.as_str()).filter(|unit| *unit != "one way")];
    vec![
        heading.path.name(),
        heading.system.clone(),
        message.into_iter().flatten().collect::<Vec<_>>().join(", "),
        heading.bytes.to_string(),
        heading.publishers.to_string(),
        heading.subscribers.to_string(),
        format!("{unsteady}{}", short(f64::midpoint(cell.floor_before_ns, cell.floor_after_ns))),
        time(cell.p50_ns),
        cell.p50_over_floor.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        time(cell.p99_ns),
        time(cell.p999_ns),
        time(cell.p9999_ns),
        time(cell.max_ns),
        cell.per_second.map_or_else(|| "-".to_owned(), rate),
        cell.lost.to_string(),
        cell.corrupt.to_string(),
    ]
}

fn short(ns: f64) -> String {
    if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") }
}

fn rate(per_second: f64) -> String {
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
    use crate::floor::Floors;
    use crate::pinning::Cpus;
    use crate::samples::Samples;

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
    fn the_object_has_schema_host_and_cells() {
        let json = serde_json::to_value(example().0).unwrap();
        assert_eq!(json["schema"], "horus-bench/1");
        assert!(json["host"].is_object());
        for field in [
            "path",
            "system",
            "bytes",
            "floor_before_ns",
            "floor_after_ns",
            "p50_ns",
            "p99_ns",
            "p999_ns",
            "p9999_ns",
            "max_ns",
            "p50_over_floor",
            "sent",
            "received",
            "lost",
            "corrupt",
            "per_second",
        ] {
            assert!(json["cells"][0].get(field).is_some(), "{field}");
        }
    }

    #[test]
    fn the_table_says_what_is_uncertain() {
        let table = example().0.table();
        for text in ["thread-1:1  horus", "5.25 M", "*160", "compare with care", "an example", "All is well."] {
            assert!(table.contains(text), "{text} in\n{table}");
        }
    }
}
