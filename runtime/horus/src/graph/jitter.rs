//! The release jitter of each CPU, as this boot's determinism run measured it: a file in RAM, a line `CPU NANOSECONDS DATE` each.
//!
//! Behind it stands `no-verdict` where the run says nothing about the machine: it was not valid, or the machine is virtual. Such a jitter
//! is told and counted in no prediction.
//!
//! `horus determinism` writes it at the end of a run. Who predicts response times reads it.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The file.
pub const FILE: &str = "/run/horus/release-jitter";

/// No file is longer: a thousand CPUs.
const MAX_BYTES: u64 = 64 << 10;

/// The release jitter of a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuJitter {
    /// The CPU.
    pub cpu: u32,
    /// The longest time from a release to the wake-up of its node, under load.
    pub jitter: Duration,
    /// When it was measured, as it shall be printed: `2026-11-22`.
    pub date: String,
    /// Whether the run that measured it came to a verdict.
    pub has_verdict: bool,
}

/// Behind the date of a run that came to none.
const NO_VERDICT: &str = "no-verdict";

/// What the file at `path` says. Nothing where there is none; a line that makes no sense is left out.
pub fn read(path: &Path) -> Vec<CpuJitter> {
    let mut text = String::new();
    let file = std::fs::File::open(path);
    match file.and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text)) {
        Ok(_) => text.lines().filter_map(parse).collect(),
        Err(_) => Vec::new(),
    }
}

fn parse(line: &str) -> Option<CpuJitter> {
    let mut words = line.split_whitespace();
    let (cpu, nanos, date) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
    let is_date = date.chars().all(|character| character.is_ascii_digit() || character == '-');
    let has_verdict = words.next() != Some(NO_VERDICT);
    is_date.then(|| CpuJitter { cpu, jitter: Duration::from_nanos(nanos), date: date.to_owned(), has_verdict })
}

/// Writes the file at `path` in one step: a reader finds the old lines or the new ones.
///
/// # Errors
/// When its directory is missing or cannot be written.
pub fn write(path: &Path, jitters: &[CpuJitter]) -> io::Result<()> {
    let text = jitters.iter().fold(String::new(), |mut text, CpuJitter { cpu, jitter, date, has_verdict }| {
        let verdict = if *has_verdict { String::new() } else { format!(" {NO_VERDICT}") };
        let _ = writeln!(text, "{cpu} {} {date}{verdict}", jitter.as_nanos());
        text
    });
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new().permissions(readable_by_all()).tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Programs that run as an ordinary user read it.
fn readable_by_all() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_replaces_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        let of = |cpu| CpuJitter {
            cpu,
            jitter: Duration::from_micros(120),
            date: "2026-11-22".to_owned(),
            has_verdict: cpu != 4,
        };
        assert_eq!(read(&path), []);
        write(&path, &[of(2), of(3)]).unwrap();
        write(&path, &[of(3)]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3 120000 2026-11-22\n");
        assert_eq!(read(&path), [of(3)]);
        write(&path, &[of(3), of(4)]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3 120000 2026-11-22\n4 120000 2026-11-22 no-verdict\n");
        assert_eq!(read(&path), [of(3), of(4)]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(write(&directory.path().join("missing/release-jitter"), &[]).is_err());
    }

    #[test]
    fn nonsense_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        std::fs::write(&path, "\n3 many 2026-11-22\n2 5\n1 7 \u{1b}[2J\n0 9 2026-11-22\n").unwrap();
        assert_eq!(read(&path).iter().map(|jitter| jitter.cpu).collect::<Vec<_>>(), [0]);
        std::fs::write(&path, [0xff; 100]).unwrap();
        assert_eq!(read(&path), []);
    }
}
