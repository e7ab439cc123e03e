//! Runs of one system are added up, all of them; others never are.

use std::path::PathBuf;

use super::super::{sample, store};
use super::*;
use crate::record::schema::Report;

/// Keeps a report of `boot` that is like the sample but for `change`.
fn keep(directory: &Path, boot: &str, run: &str, change: impl FnOnce(&mut Report)) -> PathBuf {
    let mut report = Report { run_id: run.to_owned(), ..sample::report(boot) };
    change(&mut report);
    store::store(directory, &report).unwrap()
}

fn merged(directory: &Path) -> Merged {
    let report = sample::report("b0");
    History::read(&[directory], "now").of(&report.identity.unwrap(), report.is_traced)
}

fn misses(report: &mut Report, misses: u64, longest_run: u64) {
    let node = &mut report.phases[0];
    (node.misses, node.max_consecutive) = (Some(misses), Some(longest_run));
}

#[test]
fn every_run_of_this_system_counts_and_a_better_one_replaces_none() {
    let directory = tempfile::tempdir().unwrap();
    keep(directory.path(), "b0", "r0", |report| misses(report, 3, 1));
    keep(directory.path(), "b0", "r1", |_| {});
    keep(directory.path(), "b1", "r2", |report| report.phases[0].latency.max_ns = Some(47_000));
    let merged = merged(directory.path());
    let phase = merged.weakest().unwrap();
    assert_eq!((merged.runs, merged.boots, merged.boots_with_miss), (3, 2, 1));
    assert_eq!((phase.releases.judged, phase.releases.misses, phase.max_ns), (54_000, 3, Some(47_000)));
    assert_eq!(phase.max_misses_in_100, Some(0));
    assert!((merged.boot_bound_95() - 0.9747).abs() < 1e-3, "one of two boots: {}", merged.boot_bound_95());
}

#[test]
fn runs_of_another_build_rules_board_configuration_or_with_tracing_are_never_added() {
    let directory = tempfile::tempdir().unwrap();
    keep(directory.path(), "b0", "r0", |_| {});
    keep(directory.path(), "b1", "r1", |report| report.identity.as_mut().unwrap().build_id = "other".to_owned());
    keep(directory.path(), "b2", "r2", |report| report.identity.as_mut().unwrap().rules_hash = "other".to_owned());
    keep(directory.path(), "b3", "r3", |report| report.identity.as_mut().unwrap().board = "other".to_owned());
    keep(directory.path(), "b4", "r4", |report| report.identity.as_mut().unwrap().configuration.period_ns = 1);
    keep(directory.path(), "b5", "r5", |report| report.is_traced = Some(true));
    keep(directory.path(), "b6", "r6", |report| report.identity = None);
    let merged = merged(directory.path());
    assert_eq!((merged.runs, merged.boots, merged.others), (1, 1, 6));
}

#[test]
fn a_boot_that_crashed_during_its_run_counts_as_one_with_a_miss() {
    let directory = tempfile::tempdir().unwrap();
    keep(directory.path(), "b0", "r0", |_| {});
    let identity = sample::report("b0").identity.unwrap();
    let started = Started {
        boot_id: "b1".to_owned(),
        run_id: "r1".to_owned(),
        identity,
        is_traced: Some(false),
        ..Started::default()
    };
    store::mark(directory.path(), &started).unwrap();
    let found = merged(directory.path());
    assert_eq!((found.runs, found.boots, found.boots_with_miss, found.unfinished), (1, 2, 1, 1));
    // A run that goes on is none yet.
    let going_on = Started { boot_id: "now".to_owned(), run_id: "r2".to_owned(), pid: std::process::id(), ..started };
    store::mark(directory.path(), &going_on).unwrap();
    assert_eq!(merged(directory.path()).unfinished, 1);
}

#[test]
fn a_run_that_is_not_valid_adds_no_releases_and_hides_no_miss() {
    let directory = tempfile::tempdir().unwrap();
    keep(directory.path(), "b0", "r0", |_| {});
    keep(directory.path(), "b1", "r1", |report| report.valid = false);
    keep(directory.path(), "b2", "r2", |report| {
        report.valid = false;
        misses(report, 2, 2);
    });
    let merged = merged(directory.path());
    let phase = merged.weakest().unwrap();
    assert_eq!((phase.releases.judged, phase.releases.misses), (18_000, 2));
    assert_eq!((merged.runs, merged.not_valid, merged.boots, merged.boots_with_miss), (1, 2, 2, 1));
}

#[test]
fn a_corrupt_report_among_good_ones_is_counted_and_the_rest_is_added_up() {
    let directory = tempfile::tempdir().unwrap();
    keep(directory.path(), "b0", "r0", |_| {});
    let torn = keep(directory.path(), "b1", "r1", |_| {});
    let bytes = fs::read(&torn).unwrap();
    fs::write(&torn, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(directory.path().join("00000009-b-r.started"), "{").unwrap();
    let merged = merged(directory.path());
    assert_eq!((merged.runs, merged.unreadable), (1, 2));
    assert_eq!(History::read(&[Path::new("/nowhere")], "b0").runs.len(), 0);
}

#[test]
fn bursts_and_bad_boots_are_clusters_and_single_misses_here_and_there_are_none() {
    let releases = |misses, longest_run| Releases { judged: 1_000_000, misses, longest_run };
    let phase = |releases, chance_of_spread| MergedPhase { releases, chance_of_spread, ..MergedPhase::default() };
    assert!(!phase(releases(0, 0), None).is_clustered());
    assert!(!phase(releases(5, 1), Some(0.4)).is_clustered());
    assert!(phase(releases(40, 40), Some(0.4)).is_clustered());
    assert!(phase(releases(5, 1), Some(0.01)).is_clustered());
    assert!(
        !phase(releases(300_000, 9), Some(0.4)).is_clustered(),
        "where a third is missed, nine in a row are no rarity"
    );
}
