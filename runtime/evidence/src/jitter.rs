//! What a run leaves for who predicts response times: the release jitter of the CPU that its node ran on.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use horus::graph::{CpuJitter, jitter};

use crate::record::schema::{Report, Verdict};

/// Characters of a date at the beginning of a time: `2026-11-22`.
const DATE: usize = 10;

/// Writes the jitters of `report` to the file at `path`. On a machine without its directory, no program asks for them.
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

/// The largest one of each CPU whose nodes were measured under a load, whichever: nodes are promised something then, too.
fn jitters(report: &Report) -> Vec<CpuJitter> {
    let measured = report.phases.iter().filter(|phase| phase.measured && phase.is_node() && phase.load.is_some());
    let mut largest: BTreeMap<u32, u64> = BTreeMap::new();
    for (cpu, nanos) in measured.filter_map(|phase| Some((phase.cpu?, phase.release_jitter.as_ref()?.max_ns?))) {
        let kept = largest.entry(cpu).or_default();
        *kept = nanos.max(*kept);
    }
    let date: String = report.time.chars().take(DATE).collect();
    let has_verdict = report.verdict != Verdict::None;
    let of_cpu = |(cpu, nanos)| CpuJitter { cpu, jitter: Duration::from_nanos(nanos), date: date.clone(), has_verdict };
    largest.into_iter().map(of_cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    /// The sample's node phase, as if it had been under two loads.
    fn report() -> Report {
        let mut report = sample::report("b0");
        report.phases[0].load = Some("net".to_owned());
        let mut other = report.phases[0].clone();
        other.release_jitter.as_mut().unwrap().max_ns = Some(9_000);
        report.phases.push(other);
        report
    }

    #[test]
    fn the_largest_jitter_under_load_is_left_with_cpu_and_date() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        leave(&report(), &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3 11300 2026-11-20\n");
        leave(&Report { verdict: Verdict::None, ..report() }, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3 11300 2026-11-20 no-verdict\n");
    }

    #[test]
    fn what_was_not_measured_leaves_the_file_as_it_is_and_a_missing_directory_is_no_failure() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("release-jitter");
        std::fs::write(&path, "before").unwrap();
        let mut report = report();
        report.phases.iter_mut().for_each(|phase| phase.measured = false);
        leave(&report, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        report.phases[0].measured = true;
        leave(&report, &directory.path().join("missing/release-jitter")).unwrap();
        assert!(!directory.path().join("missing").exists());
    }
}
