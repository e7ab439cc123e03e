//! Names of report files: `00000041-<boot id>-<run id>.json`. A counter gives the order in which runs began, because the clock of a
//! machine without a battery does not.

use std::fs;
use std::path::Path;

/// Ends the name of a report.
pub const REPORT: &str = ".json";

/// Ends the name of a start marker.
pub const STARTED: &str = ".started";

/// Digits of the counter.
const DIGITS: usize = 8;

/// The name without its ending of the run `run_id` in `directory`: the one that the run has there already, else the next one.
pub fn stem(directory: &Path, boot_id: &str, run_id: &str) -> String {
    let (boot_id, run_id) = (safe(boot_id, "unknown-boot"), safe(run_id, "unknown-run"));
    let end = format!("-{boot_id}-{run_id}");
    let names = || fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let own = names().filter_map(|name| {
        let name = name.to_str()?;
        let stem = name.split('.').next()?;
        (order(name) > 0 && stem.ends_with(&end)).then(|| stem.to_owned())
    });
    let next = || 1 + names().filter_map(|name| name.to_str().map(order)).max().unwrap_or(0);
    own.min().filter(|_| run_id != "unknown-run").unwrap_or_else(|| format!("{:0DIGITS$}{end}", next()))
}

/// The counter in a file's name; 0, before all others, in the names that version 1 gave.
pub fn order(name: &str) -> u64 {
    match name.split_once('-') {
        Some((counter, _)) if counter.len() >= DIGITS => counter.parse().unwrap_or(0),
        _ => 0,
    }
}

/// An identifier comes from a file; whatever it holds, the name stays within the directory.
fn safe(id: &str, otherwise: &str) -> String {
    let safe: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    if safe.is_empty() { otherwise.to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_up_and_a_run_keeps_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(directory.path().join(name), "").unwrap();
        write("65742d8db44d47dcae35f4d386c8d529.json"); // version 1
        write("latest.json");
        assert_eq!(stem(directory.path(), "b0", "r0"), "00000001-b0-r0");
        write("00000001-b0-r0.started");
        assert_eq!(stem(directory.path(), "b0", "r0"), "00000001-b0-r0", "the marker's name is the report's");
        assert_eq!(
            stem(directory.path(), "b0", "r1"),
            "00000002-b0-r1",
            "a second run in a boot has a file of its own"
        );
        write("00000099-b7-r9.json.part");
        assert_eq!(stem(directory.path(), "b0", "r1"), "00000100-b0-r1");
        assert_eq!(["123456789-b-r.json", "12345678901234567890123-b.json"].map(order), [123_456_789, 0]);
    }

    #[test]
    fn a_hostile_identifier_stays_within_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(stem(directory.path(), "../../etc/passwd", ""), "00000001-etcpasswd-unknown-run");
        assert_eq!(stem(directory.path(), "", "r"), "00000001-unknown-boot-r");
    }
}
