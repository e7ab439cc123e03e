//! Tables of what languages cost beside Rust: made of the files that `languages/run` leaves in a run's `languages/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::report::{markdown, rate};
use crate::transport::Failure;

mod cpp;

/// A table of one directory.
type Table = fn(&Path) -> Result<String, Failure>;

/// Every table: its name in documents, its title, and how it is made.
pub const TABLES: [(&str, &str, Table); 3] =
    [("cpp", "C and C++ beside Rust", cpp::table), ("python", "Python", python), ("csharp", "C#", csharp)];

/// Where a run keeps these files.
pub const FOLDER: &str = "languages";

/// The whole `table.md` of a directory.
pub fn of_run(directory: &Path) -> Result<String, Failure> {
    let machine = read(directory, "machine.txt")?;
    let mut text = format!(
        "# What each language costs\n\n{}\n\nMade of the files beside this one by `cargo run --bin tables`.\n",
        machine.trim()
    );
    for (_, title, table) in TABLES {
        text += &format!("\n## {title}\n\n{}", table(directory)?);
    }
    Ok(text)
}

fn read(directory: &Path, name: &str) -> Result<String, Failure> {
    let path = directory.join(name);
    fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}; benchmarks/languages/run writes it", path.display()).into())
}

fn rows<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Vec<T>, Failure> {
    let text = read(directory, name)?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
    rows.map_err(|error| format!("{}: {error}", directory.join(name).display()).into())
}

/// The middle one; of two middle ones, the larger.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// What stands in the last column: whether a figure is within its limit.
fn holds(figure: f64, limit: f64) -> String {
    if figure <= limit { "yes".to_owned() } else { format!("no: {:.2} times", figure / limit) }
}

/// A row of `research_bench_python.py`.
#[derive(Deserialize)]
struct Called {
    what: String,
    original_us: Option<f64>,
    median_us: f64,
    fastest_us: f64,
    limit_us: Option<f64>,
}

fn python(directory: &Path) -> Result<String, Failure> {
    let rows: Vec<Called> = rows(directory, "python.csv")?;
    let microseconds = |us: f64| format!("{us:.3}");
    let row = |row: &Called| {
        let original = row.original_us.map_or_else(String::new, |us| us.to_string());
        let (most, holds) =
            row.limit_us.map_or_else(Default::default, |limit| (format!("{limit}"), holds(row.median_us, limit)));
        vec![
            row.what.clone(),
            microseconds(row.median_us),
            microseconds(row.fastest_us),
            original.to_owned(),
            most,
            holds,
        ]
    };
    let head = ["µs", "median", "fastest round", "original HORUS", "at most", "holds"];
    Ok(markdown(&head, 1, &rows.iter().map(row).collect::<Vec<_>>()))
}

/// A window of `PerformanceComparison`: so many messages in so many seconds, in a round that took so much of the CPUs.
#[derive(Deserialize)]
struct Passed {
    bytes: usize,
    way: String,
    messages: f64,
    seconds: f64,
    round_cpu_seconds: f64,
    round_seconds: f64,
}

/// All windows of one way: messages a second, and CPU time a second.
type Rounds = (Vec<f64>, Vec<f64>);

/// Ratios of rates: bytes, way, the way it is compared with, and how many times as fast it is to be.
const CSHARP: [(usize, &str, &str, Option<f64>); 8] = [
    (8, "copy", "pipes", Some(10.0)),
    (65536, "untouched", "pipes", Some(50.0)),
    (65536, "place", "pipes", Some(50.0)),
    // What no message can be faster than, when its payload is written and read.
    (65536, "rust memory", "pipes", None),
    (8, "copy", "rust copy", Some(0.4)),
    (1024, "copy", "rust copy", Some(0.4)),
    (65536, "place", "rust place", Some(0.4)),
    (524_288, "place", "rust place", Some(0.4)),
];

fn csharp(directory: &Path) -> Result<String, Failure> {
    let mut rates: BTreeMap<usize, BTreeMap<String, Rounds>> = BTreeMap::new();
    let mut ways: Vec<String> = Vec::new();
    for row in rows::<Passed>(directory, "csharp.csv")? {
        if !ways.contains(&row.way) {
            ways.push(row.way.clone());
        }
        let (rate, cpu) = rates.entry(row.bytes).or_default().entry(row.way).or_default();
        rate.push(row.messages / row.seconds);
        cpu.push(row.round_cpu_seconds / row.round_seconds);
    }
    let figure = |bytes: usize, way: &str| median(rates.get(&bytes)?.get(way)?.0.clone());
    let cell = |bytes: usize, way: &String| {
        let found = rates.get(&bytes).and_then(|ways| ways.get(way));
        let shown = found.and_then(|(rates, cpu)| Some((median(rates.clone())?, median(cpu.clone())?)));
        shown.map_or_else(|| "-".to_owned(), |(per_second, cpu)| format!("{} ({:.0} %)", rate(per_second), 100.0 * cpu))
    };
    let row = |bytes: usize| [bytes.to_string()].into_iter().chain(ways.iter().map(|way| cell(bytes, way))).collect();
    let head: Vec<&str> = ["bytes"].into_iter().chain(ways.iter().map(String::as_str)).collect();
    let mut text = markdown(&head, 1, &rates.keys().map(|bytes| row(*bytes)).collect::<Vec<_>>());
    text += "\nMessages a second, and CPU time of both ends in % of one CPU. Medians of all windows.\n\n";
    let reached = CSHARP.iter().map(|(bytes, way, other, wanted)| {
        let ratio = figure(*bytes, way).zip(figure(*bytes, other)).map(|(own, other)| own / other);
        let shown = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (least, judged) = match (wanted, ratio) {
            (None, _) => Default::default(),
            (Some(wanted), None) => (wanted.to_string(), "not measured".to_owned()),
            (Some(wanted), Some(ratio)) => (wanted.to_string(), holds(*wanted, ratio)),
        };
        vec![format!("{bytes} B, {way} / {other}"), shown, least, judged]
    });
    Ok(text + &markdown(&["rate", "times", "at least", "holds"], 1, &reached.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    /// Without the blanks that align columns.
    pub(super) fn plain(table: Result<String, Failure>) -> String {
        table.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rates_are_compared_by_their_medians_and_a_name_may_have_a_comma() {
        let csharp_rows = "bytes,way,round,messages,seconds,round_cpu_seconds,round_seconds\n\
            8,pipes,0,20,2,1,1\n8,copy,0,200,2,2,1\n8,copy,1,180,2,2,1\n8,copy,2,2,2,2,1\n";
        let python_rows =
            "what,original_us,median_us,fastest_us,limit_us\n\"rival, of 1\",,3,2,\nCmdVel,1.7,0.1,0.09,0.12\n";
        let directory = directory(&[("csharp.csv", csharp_rows), ("python.csv", python_rows)]);
        let (fast, slow) = (plain(csharp(directory.path())), plain(python(directory.path())));
        assert!(fast.contains("| 8 B, copy / pipes | 9.00 | 10 | no: 1.11 times |"), "{fast}");
        assert!(fast.contains("| 8 B, copy / rust copy | - | 0.4 | not measured |"), "{fast}");
        assert!(slow.contains("| rival, of 1 | 3.000 | 2.000 |"), "{slow}");
        assert!(slow.contains("| CmdVel | 0.100 | 0.090 | 1.7 | 0.12 | yes |"), "{slow}");
    }

    #[test]
    fn a_missing_file_names_the_program_that_writes_it() {
        let empty = directory(&[]);
        assert!(of_run(empty.path()).unwrap_err().to_string().contains("benchmarks/languages/run"));
    }
}
