//! Every entry has the fields that were promised, and none that does not exist.

use horus_audit::boot::{Boot, Data};

use super::*;
use crate::record::history::History;
use crate::record::schema::Total;
use crate::record::{sample, store};

#[test]
fn the_summary_carries_every_promised_field() {
    let entry = summary(&sample::report("b0"), None, Some(Path::new("/var/lib/horus/reports/b0.json")));
    for (name, value) in [
        ("MESSAGE_ID", id::DETERMINISM_SUMMARY),
        ("HORUS_SCHEMA", "horus-report/2"),
        ("HORUS_VALID", "true"),
        ("HORUS_VERDICT", "pass"),
        ("HORUS_VIRTUAL", "none"),
        ("HORUS_AUDIT_SCORE", "90"),
        ("HORUS_AUDIT_FATAL", "0"),
        ("HORUS_AUDIT_HIGH", "1"),
        ("HORUS_SAMPLES", "18000"),
        ("HORUS_MISSES", "0"),
        ("HORUS_MAX_CONSECUTIVE", "0"),
        ("HORUS_MAX_NS", "31000"),
        ("HORUS_PERIOD_NS", "1000000"),
        ("HORUS_DEADLINE_NS", "800000"),
        ("HORUS_FAILED_UNITS", "0"),
        ("HORUS_REPORT", "/var/lib/horus/reports/b0.json"),
    ] {
        assert_eq!(entry.get(name), Some(value), "{name}");
    }
    let bound: f64 = entry.get("HORUS_MISS_BOUND_95").unwrap().parse().unwrap();
    assert!((bound - 2.9957 / 18_000.0).abs() < 1e-9);
    assert!(entry.message().lines().count() > 10, "the message is the whole screen");
}

#[test]
fn the_summary_tells_what_all_runs_of_this_system_say() {
    let directory = tempfile::tempdir().unwrap();
    let report = sample::report("b0");
    store::store(directory.path(), &report).unwrap();
    let together = History::read(&[directory.path()], "b0").of_report(&report);
    let entry = summary(&report, together.as_ref(), None);
    assert_eq!((entry.get("HORUS_ALL_RUNS"), entry.get("HORUS_ALL_SAMPLES")), (Some("1"), Some("18000")));
    assert!(entry.message().contains(" all boots  0 of 1 boots with a miss => "), "{}", entry.message());
    assert_eq!(entry.get("HORUS_BUILD_ID"), Some("cafe"));
}

#[test]
fn without_a_node_phase_there_is_no_count_of_misses() {
    let mut report = sample::report("b0");
    report.total = Total::default();
    let entry = summary(&report, None, None);
    assert_eq!((entry.get("HORUS_SAMPLES"), entry.get("HORUS_MISSES")), (Some("0"), None));
    assert_eq!(refused("busy").get("HORUS_PHASE"), Some("refused"));
}

#[test]
fn a_figure_that_does_not_exist_is_no_field() {
    let report = sample::report("b0");
    let entry = phase(&report.phases[0]);
    assert_eq!(entry.get("HORUS_PHASE"), Some("node-quiet"));
    assert_eq!(entry.get("HORUS_P999_NS"), Some("20400"));
    assert_eq!(entry.get("HORUS_P9999_NS"), None);
    assert_eq!(entry.get("HORUS_JITTER_MAX_NS"), Some("11300"));
    let absent = phase(&report.phases[2]);
    assert_eq!(absent.get("HORUS_MAX_NS"), None);
    assert_eq!(absent.get("HORUS_REASON"), Some("cyclictest is not installed"));
    assert_eq!(absent.priority(), Priority::Warning);
}

#[test]
fn what_the_boot_left_to_tell_is_in_fields_and_raises_the_priority() {
    let mut report = sample::report("b0");
    assert_eq!(summary(&report, None, None).priority(), Priority::Info);
    assert_eq!(summary(&report, None, None).get("HORUS_DATA_STATE"), None, "not looked at");
    let data = Data { state: "repaired".to_owned(), reason: "a bad superblock".to_owned(), ..Data::default() };
    report.boot = Boot { data: Some(data), cut_boots: vec!["b1".to_owned()], ..Boot::default() };
    let entry = summary(&report, None, None);
    assert_eq!((entry.get("HORUS_DATA_STATE"), entry.get("HORUS_CUT_BOOTS")), (Some("repaired"), Some("1")));
    assert_eq!(entry.get("HORUS_DATA_REASON"), Some("a bad superblock"));
    assert_eq!(entry.priority(), Priority::Warning);
    report.boot = Boot::default();
    report.stored_in_ram = Some("no space".to_owned());
    assert_eq!(summary(&report, None, None).priority(), Priority::Warning);
}

#[test]
fn a_miss_or_a_failed_unit_raises_the_priority() {
    let mut report = sample::report("b0");
    report.phases[0].misses = Some(1);
    assert_eq!(phase(&report.phases[0]).priority(), Priority::Warning);
    report.verdict = Verdict::Fail;
    assert_eq!(summary(&report, None, None).priority(), Priority::Error);
}

/// journald replaces `@FIELD@` only where the name is letters and `_`, and prints the name where the entry lacks
/// the field.
#[test]
fn the_catalog_refers_to_fields_that_every_entry_of_its_kind_has() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../conf/horus/rootfs/usr/lib/systemd/catalog/horus-determinism.catalog"
    );
    let Ok(catalog) = std::fs::read_to_string(path) else { return }; // the crate also builds without the image
    let report = sample::report("b0");
    let summary = summary(&report, None, Some(Path::new("/r.json")));
    for entry in [phase(&report.phases[2]), summary, stored_elsewhere("no space"), refused("busy")] {
        let heading = format!("-- {}\n", entry.get("MESSAGE_ID").unwrap());
        let (_, text) = catalog.split_once(&heading).unwrap_or_else(|| panic!("no text for {heading}"));
        let text = text.split("\n-- ").next().unwrap();
        let fields: Vec<_> = text.split('@').skip(1).step_by(2).collect();
        assert!(!fields.is_empty());
        for field in fields {
            assert!(field.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{field} is not replaced");
            assert!(entry.get(field).is_some(), "{heading} has no field {field}");
        }
    }
}
