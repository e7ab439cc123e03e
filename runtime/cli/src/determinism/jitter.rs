//! What a run leaves for who predicts response times: the release jitter of the CPU that its node ran on.

use std::io;
use std::path::Path;
use std::time::Duration;

use horus::graph::{CpuJitter, jitter};

use super::evidence::schema::Report;

/// The phase whose jitter counts: nodes are promised something under load too.
const PHASE: &str = "node-load";

/// Characters of a date at the beginning of a time: `2026-11-22`.
const DATE: usize = 10;

/// Writes the jitters of `report` to the file at `path`. A machine without its directory has nobody who asks for them.
///
/// # Errors
/// When the directory is there and the file cannot be written.
pub fn leave(report: &Report, path: &Path) -> io::Result<()> {
    let jitters = jitters(report);
    if jitters.is_empty() {
        return Ok(());
    }
    match jitter::write(path, &jitters) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

/// The largest one of each CPU whose node was measured under load.
fn jitters(report: &Report) -> Vec<CpuJitter> {
    let measured = report.phases.iter().filter(|phase| phase.measured && phase.name == PHASE);
    let jitter = |nanos| Duration::from_nanos(nanos);
    measured
        .filter_map(|phase| Some((phase.cpu?, phase.release_jitter.as_ref()?.max_ns?)))
        .map(|(cpu, nanos)| CpuJitter { cpu, jitter: jitter(nanos), date: report.time.chars().take(DATE).collect() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::determinism::evidence::sample;

    /// The sample's node phase, as if it had been the one under load.
    fn report() -> Report {
        let mut report = sample::report("b0");
        report.phases[0].name = PHASE.to_owned();
        report
    }

    #[test]
    fn the_largest_jitter_under_load_is_left_with_cpu_and_date() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        leave(&report(), &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3 11300 2026-11-20\n");
    }

    #[test]
    fn what_was_not_measured_leaves_the_file_as_it_is_and_a_missing_directory_is_no_failure() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        std::fs::write(&path, "before").unwrap();
        let mut report = report();
        report.phases[0].measured = false;
        leave(&report, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        report.phases[0].measured = true;
        leave(&report, &directory.path().join("missing/release-jitter")).unwrap();
        assert!(!directory.path().join("missing").exists());
    }
}
