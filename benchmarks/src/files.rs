//! Result files: `<benchmark>.json`, which is what `--json` prints, and `<benchmark>.hlog`, every cell's histogram in
//! HdrHistogram's log format V2, in the order of the cells that have samples.
//!
//! # What it does not do
//! The histograms hold what was recorded: nanoseconds of a round trip, or of a batch. A tag names the cell and says how many
//! messages a sample covers (`_x2`). HdrHistogram's tools make percentiles, plots and tables of a log.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

use crate::cell::Cell;
use crate::report::Report;
use crate::samples::Samples;
use crate::transport::Failure;

/// Writes all files of a report into `directory`, which is made; `samples` stand in the order of the report's cells.
pub fn write(report: &Report, samples: &[Option<Samples>], directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory)?;
    let file = |extension: &str| directory.join(format!("{}.{extension}", report.benchmark));
    fs::write(file("json"), serde_json::to_string_pretty(report)? + "\n")?;
    let timed = report.cells.iter().zip(samples).filter_map(|(cell, samples)| Some((cell, samples.as_ref()?)));
    Ok(fs::write(file("hlog"), histogram_log(report, timed)?)?)
}

/// The histograms of a log, in their order.
pub fn read_histograms(log: &[u8]) -> Result<Vec<Histogram<u64>>, Failure> {
    let mut histograms = Vec::new();
    for entry in IntervalLogIterator::new(log) {
        if let LogEntry::Interval(interval) = entry.map_err(|error| format!("not a histogram log: {error:?}"))? {
            let bytes = BASE64.decode(interval.encoded_histogram())?;
            let read = Deserializer::new().deserialize(&mut &bytes[..]);
            histograms.push(read.map_err(|error| format!("a broken histogram: {error:?}"))?);
        }
    }
    Ok(histograms)
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
        let name = format!("{}_x{}", tag(cell), samples.divisor);
        let tag = Tag::new(&name).ok_or("a tag with a comma or a space")?;
        let start = Duration::from_secs(number as u64);
        writer
            .write_histogram(samples.meter.histogram(), start, Duration::from_secs(1), Some(tag))
            .map_err(|error| format!("cannot write the histogram of {name}: {error:?}"))?;
    }
    drop(writer);
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_are_there_and_can_be_read_back() {
        let (report, samples) = crate::report::tests::example();
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("new");
        write(&report, &samples, &directory).unwrap();
        let json = fs::read_to_string(directory.join("example.json")).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap().cells.len(), 1);
        let log = fs::read(directory.join("example.hlog")).unwrap();
        assert!(String::from_utf8_lossy(&log).contains("Tag=thread-1-1_horus_304_x2,"));
        assert_eq!(&read_histograms(&log).unwrap()[0], samples[0].as_ref().unwrap().meter.histogram());
        assert!(read_histograms(b"nonsense").is_err());
    }
}
