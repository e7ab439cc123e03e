//! Result files: JSON, CSV, HdrHistogram's own formats.
//!
//! `<benchmark>.json` is what `--json` prints, `<benchmark>.csv` the same cells a line each, `<benchmark>.hlog` every
//! cell's histogram in HdrHistogram's log format V2 (a tag names the cell), and `<benchmark>/<cell>.hgrm` its
//! percentiles in the text format that HdrHistogram's plotter reads.
//!
//! # What it does not do
//! The histograms hold what was recorded: nanoseconds of a round trip (or of a batch); the `.hgrm` files divide by the
//! number of messages that a sample covers, the log cannot.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use serde_json::Value;

use crate::cell::Cell;
use crate::report::Report;
use crate::samples::Samples;
use crate::transport::Failure;

/// Writes all files of a report into `directory`, which is made; `samples` stand in the order of the report's cells.
pub fn write(report: &Report, samples: &[Option<Samples>], directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory)?;
    let file = |extension: &str| directory.join(format!("{}.{extension}", report.benchmark));
    fs::write(file("json"), serde_json::to_string_pretty(report)? + "\n")?;
    fs::write(file("csv"), csv(report)?)?;
    let timed = || report.cells.iter().zip(samples).filter_map(|(cell, samples)| Some((cell, samples.as_ref()?)));
    fs::write(file("hlog"), histogram_log(report, timed())?)?;
    let percentiles = directory.join(&report.benchmark);
    fs::create_dir_all(&percentiles)?;
    for (cell, samples) in timed() {
        fs::write(percentiles.join(format!("{}.hgrm", tag(cell))), percentile_text(samples))?;
    }
    Ok(())
}

/// Names a cell with letters, digits, `-`, `.` and `_` only.
fn tag(cell: &Cell) -> String {
    let heading = &cell.heading;
    let mut name = format!("{}_{}_{}", heading.path.name(), heading.system, heading.bytes);
    for part in heading.message.iter().chain(Some(&heading.unit).filter(|unit| *unit != "one way")) {
        let _ = write!(name, "_{part}");
    }
    if heading.publishers + heading.subscribers > 2 {
        let _ = write!(name, "_{}p{}s", heading.publishers, heading.subscribers);
    }
    name.replace(|letter: char| !letter.is_ascii_alphanumeric() && !"-._".contains(letter), "-")
}

fn csv(report: &Report) -> Result<String, Failure> {
    const COLUMNS: [&str; 28] = [
        "path",
        "system",
        "message",
        "bytes",
        "publishers",
        "subscribers",
        "unit",
        "wait",
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
        "repeated",
        "per_second",
        "samples",
        "attempts",
        "steady",
        "note",
        "host",
        "commit",
    ];
    let mut text = COLUMNS.join(",") + "\n";
    for cell in &report.cells {
        let mut fields = serde_json::to_value(cell)?;
        fields["host"] = report.host.host.clone().into();
        fields["commit"] = report.host.commit.clone().into();
        let field = |name: &&str| match &fields[*name] {
            Value::Null => String::new(),
            Value::String(text) => format!("\"{}\"", text.replace('"', "\"\"")),
            other => other.to_string(),
        };
        text += &COLUMNS.iter().map(field).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    Ok(text)
}

fn histogram_log<'a>(
    report: &Report,
    cells: impl Iterator<Item = (&'a Cell, &'a Samples)>,
) -> Result<Vec<u8>, Failure> {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let comment =
        format!("{} {}; values in ns for as many messages as the tag says", report.benchmark, report.host.commit);
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment(&comment)
        .with_start_time(SystemTime::now())
        .with_max_value_divisor(1.0)
        .begin_log_with(&mut log, &mut serializer)?;
    for (number, (cell, samples)) in cells.enumerate() {
        let name = format!("{}_x{}", tag(cell), samples.divisor());
        let tag = Tag::new(&name).ok_or("a tag with a comma or a space")?;
        let start = Duration::from_secs(number as u64);
        writer
            .write_histogram(samples.histogram(), start, Duration::from_secs(1), Some(tag))
            .map_err(|error| format!("cannot write the histogram of {name}: {error:?}"))?;
    }
    drop(writer);
    Ok(log)
}

/// The table that `HistogramLogProcessor` and the other HdrHistogram ports print.
fn percentile_text(samples: &Samples) -> String {
    let histogram = samples.histogram();
    let divisor = f64::from(samples.divisor());
    let mut text = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut seen = 0;
    for step in histogram.iter_quantiles(5) {
        seen += step.count_since_last_iteration();
        let (value, quantile) = (step.value_iterated_to() as f64 / divisor, step.quantile());
        let _ = write!(text, "{value:12.3} {quantile:14.12} {seen:10}");
        let _ = if quantile < 1.0 { writeln!(text, " {:14.2}", 1.0 / (1.0 - quantile)) } else { writeln!(text) };
    }
    let (mean, deviation) = (histogram.mean() / divisor, histogram.stdev() / divisor);
    let max = samples.max().unwrap_or_default();
    let _ = writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]");
    let _ = writeln!(text, "#[Max     = {max:12.3}, Total count    = {:12}]", histogram.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn all_files_are_there_and_can_be_read_back() {
        let (report, samples) = crate::report::tests::example();
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("new");
        write(&report, &samples, &directory).unwrap();

        let json = fs::read_to_string(directory.join("example.json")).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap().cells.len(), 1);

        let csv = fs::read_to_string(directory.join("example.csv")).unwrap();
        let lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!((lines.len(), lines[0].len(), lines[1].len()), (2, 28, 28), "{csv}");

        let percentiles = fs::read_to_string(directory.join("example/thread-1-1_horus_304.hgrm")).unwrap();
        assert!(percentiles.contains("Total count    =         2000"), "{percentiles}");

        let log = fs::read(directory.join("example.hlog")).unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&log).collect::<Result<_, _>>().unwrap();
        let [LogEntry::StartTime(_), .., LogEntry::Interval(interval)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!(interval.tag().unwrap().as_str(), "thread-1-1_horus_304_x2");
        let bytes = base64(interval.encoded_histogram());
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(&histogram, samples[0].as_ref().unwrap().histogram());
    }

    /// Decodes base64, for which the harness itself has no use.
    fn base64(text: &str) -> Vec<u8> {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
        for digit in text.bytes().filter_map(|byte| digits.iter().position(|digit| *digit == byte)) {
            (bits, held) = (bits << 6 | digit as u32, held + 6);
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
            }
        }
        bytes
    }
}
