//! `horus report` as a program: what it prints and how it fails.

use std::process::Command;

fn report(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_horus")).arg("report").args(arguments).output().unwrap()
}

#[test]
fn a_broken_file_is_a_clear_error_and_no_screen() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path().join("half.json");
    std::fs::write(&path, "{\"schema\": \"horus-report/1\", \"boot").unwrap();
    let output = report(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("half.json is not a whole report") && said.contains("horus determinism"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_missing_file_is_a_clear_error() {
    let output = report(&["/nowhere/latest.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read the report /nowhere/latest.json"));
}

/// Reports of earlier versions lie on data partitions and in docs/data: they have to stay readable.
#[test]
fn a_committed_report_of_the_first_version_shows_and_its_claim_counts_one_phase() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/first-boot-qemu/report.json");
    let output = report(&[path]);
    assert!(output.status.success(), "{output:?}");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.contains("misses 767/16200 in node-load, longest run 14 => P(miss) < 5.1e-2 (95 %)"), "{screen}");
}

#[test]
fn a_machine_without_a_report_is_told_how_this_boot_stands() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = report(&["--from", directory.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot read the report") && said.contains("this boot"), "{said}");
}

#[test]
fn the_newest_report_of_another_boot_is_never_shown_without_saying_so() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/first-boot-qemu/report.json");
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::copy(committed, directory.path().join("latest.json")).unwrap();
    let from = directory.path().to_str().unwrap();
    let output = report(&["--from", from]);
    assert!(output.status.success(), "{output:?}");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.starts_with("This is the report of an earlier boot ("), "{screen}");
    assert!(screen.lines().next().unwrap().contains("this boot"), "{screen}");
    assert!(screen.lines().nth(2).unwrap().starts_with("HORUS "), "{screen}");

    let output = report(&["--from", from, "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("standard output is the report alone");
    assert!(String::from_utf8_lossy(&output.stderr).contains("of an earlier boot"), "{output:?}");

    // The same report, of this boot.
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().replace('-', "");
    let text = value.to_string().replace(value["boot_id"].as_str().unwrap(), &boot_id);
    std::fs::write(directory.path().join("latest.json"), text).unwrap();
    let screen = String::from_utf8_lossy(&report(&["--from", from]).stdout).into_owned();
    assert!(screen.starts_with("HORUS "), "{screen}");
}

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/first-boot-qemu/report.json");

#[test]
fn each_format_is_alone_on_standard_output_and_only_one_is_printed() {
    for (format, begin, end) in [
        ("--html", "<!doctype html>", "</html>\n"),
        ("--junit", "<?xml version=\"1.0\"", "</testsuites>\n"),
        ("--openmetrics", "# TYPE horus_run info\n", "# EOF\n"),
        ("--json", "{\n", "}\n"),
    ] {
        let output = report(&[COMMITTED, format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with(begin) && text.ends_with(end), "{format}");
    }
    assert_eq!(report(&[COMMITTED, "--html", "--junit"]).status.code(), Some(2));
}

#[test]
fn two_reports_are_compared_by_a_subcommand_and_a_report_without_seconds_says_what_is_missing() {
    let output = report(&["compare", COMMITTED, COMMITTED]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("name folders with several boots"), "{said}");

    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let text = std::fs::read_to_string(COMMITTED).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for boot in 0..5 {
        let text = text.replace(value["boot_id"].as_str().unwrap(), &format!("{boot:032}"));
        std::fs::write(folder.path().join(format!("{boot:032}.json")), text).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    let output = report(&["compare", folder, folder]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.starts_with("No change of the tail is shown: B is above A in 50 %"),
        "{said}"
    );
    assert!(said.contains("node-load response, p99.9 of 5 boots against 5"), "{said}");
}
