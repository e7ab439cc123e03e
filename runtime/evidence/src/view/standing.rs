//! What the watch has found in all boots of one system: a line of `horus report`, a key of its JSON, and what OpenMetrics shows.

use std::path::{Path, PathBuf};

use horus_measure::units::count;
use serde_json::{Value, json};

use super::text::{bound_sentence, microseconds, rounded_up};
use crate::record::history::{self, History, Merged};
use crate::record::schema::Report;

use crate::watch::{SCHEMA, files, identity_beside};

/// Where the records are that belong to the reports in `reports`.
pub fn directory(reports: &Path) -> PathBuf {
    reports.with_file_name("watch")
}

/// All records of the system of `report`; `None` where the watch has found nothing of it.
pub fn of_report(report: &Report, directory: &Path) -> Option<Merged> {
    let runs = files(directory).iter().filter_map(|path| history::read_as(path, &[SCHEMA])).collect();
    let identity = identity_beside(report.identity.as_ref()?);
    let merged = History { runs, ..History::default() }.of(&identity, report.is_traced);
    merged.weakest().is_some().then_some(merged)
}

/// `0 misses in 3.1e7 releases over 41 boots, max 17.9 us => P(miss) < 9.7e-8 (95 %) …`.
pub fn sentence(merged: &Merged) -> String {
    let Some(phase) = merged.weakest() else { return "nothing was found".to_owned() };
    let releases = phase.releases;
    let counted = format!(
        "{} misses in {} releases over {} boot(s), max {} us",
        releases.misses,
        count(releases.judged),
        merged.boots,
        microseconds(phase.max_ns)
    );
    // It waits for them, and does not see whether that was it.
    let counted = if releases.misses > 0 {
        counted + " (nodes on its CPU that compute for longer make it miss)"
    } else {
        counted
    };
    if merged.runs == 0 {
        return format!("{counted}; no record is valid, so nothing is claimed");
    }
    let of_release = if phase.is_clustered() {
        "they cluster, so no bound a release holds".to_owned()
    } else {
        format!("{} if misses are independent", bound_sentence(releases.bound_95()))
    };
    match merged.boot_bound_95() {
        1.0.. => format!("{counted} => {of_release}"),
        bound => format!("{counted} => {of_release}; P(boot with a miss) < {}", rounded_up(bound)),
    }
}

/// The figures under the names of a report.
pub fn json(merged: &Merged) -> Value {
    let phase = merged.weakest();
    let releases = phase.map(|phase| phase.releases).unwrap_or_default();
    let bound = phase.filter(|phase| merged.runs > 0 && !phase.is_clustered()).map(|phase| phase.releases.bound_95());
    json!({
        "records": merged.runs,
        "records_not_valid": merged.not_valid,
        "records_of_others": merged.others,
        "boots": merged.boots,
        "boots_with_miss": merged.boots_with_miss,
        "samples": releases.judged,
        "misses": releases.misses,
        "max_consecutive": releases.longest_run,
        "max_ns": phase.and_then(|phase| phase.max_ns),
        "miss_bound_95": bound,
        "boot_bound_95": merged.boot_bound_95(),
    })
}

#[cfg(test)]
mod tests {
    use horus_measure::merge::Releases;

    use crate::record::history::MergedPhase;
    use crate::record::sample;

    use super::*;

    fn merged(misses: u64, longest_run: u64) -> Merged {
        let phase = MergedPhase {
            name: "watch".to_owned(),
            releases: Releases { judged: 31_000_000, misses, longest_run },
            max_ns: Some(17_900),
            ..MergedPhase::default()
        };
        Merged { runs: 41, boots: 41, boots_with_miss: misses.min(1), phases: vec![phase], ..Merged::default() }
    }

    #[test]
    fn the_line_of_a_machine_that_never_missed() {
        assert_eq!(
            sentence(&merged(0, 0)),
            "0 misses in 3.1e7 releases over 41 boot(s), max 17.9 us => P(miss) < 9.7e-8 (95 %) if misses are independent; \
             P(boot with a miss) < 7.1e-2"
        );
    }

    #[test]
    fn misses_in_a_burst_have_no_bound_and_records_that_are_not_valid_no_claim() {
        let burst = merged(40, 40);
        assert!(sentence(&burst).contains("they cluster") && json(&burst)["miss_bound_95"].is_null());
        assert!(sentence(&Merged { runs: 0, not_valid: 1, ..merged(1, 1) }).ends_with("so nothing is claimed"));
    }

    #[test]
    fn only_records_of_the_reports_own_system_count_and_what_is_no_record_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let report = sample::report("b0");
        let write = |name: &str, value: &Value| std::fs::write(directory.path().join(name), value.to_string()).unwrap();
        let of = |identity: &Value, samples: u64| {
            json!({"schema": SCHEMA, "boot_id": "b0", "time": "", "identity": identity, "is_traced": false, "valid": true,
                   "phases": [{"name": "watch", "measured": true, "samples": samples, "misses": 0}]})
        };
        let mut own = serde_json::to_value(identity_beside(report.identity.as_ref().unwrap())).unwrap();
        write("00000001-b0-a.json", &of(&own, 1_000));
        write("00000002-b1-b.json", &json!("torn"));
        own["board"] = "another".into();
        write("00000003-b2-c.json", &of(&own, 500));
        let merged = of_report(&report, directory.path()).unwrap();
        assert_eq!((merged.weakest().unwrap().releases.judged, merged.others), (1_000, 1));
        assert!(of_report(&report, &directory.path().join("nowhere")).is_none());
    }
}
