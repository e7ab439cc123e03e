//! Every shipped rule can pass, can fail, and is NA when what it reads is missing: a test that cannot fail is a defect.

#[path = "fixtures/support.rs"]
mod support;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Record, TREES, audit, copy_of, records, rule, rules, tree};

/// What each scan reads first: without it, it cannot look. A new scan needs a line here.
const SCANS: [(&str, &str); 11] = [
    ("scan:stray-interrupts", "/proc/interrupts"),
    ("scan:realtime-tasks", "/proc/PID"),
    ("scan:memory-lock-limits", "/proc/PID"),
    ("scan:offloaded-rcu", "/proc/PID"),
    ("scan:busy-siblings", "/sys/devices/system/cpu/cpu{isolated}/topology/thread_siblings_list"),
    ("scan:idle-exit-latency", "/sys/devices/system/cpu/cpuidle/current_driver"),
    ("scan:variable-frequency", "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq"),
    ("scan:swap", "/proc/swaps"),
    ("scan:unknown-parameters", "/dev/kmsg"),
    ("scan:other-disks", "/run/horus/data"),
    ("process:irqbalance", "/proc/PID"),
];

fn audits() -> HashMap<&'static str, Value> {
    TREES.into_iter().map(|name| (name, audit(&tree(name), &rules()).1)).collect()
}

/// A tree where `id` passes.
fn passing(audits: &HashMap<&'static str, Value>, id: &str) -> &'static str {
    let name = TREES.into_iter().find(|name| rule(&audits[name], id)["status"] == "PASS");
    name.unwrap_or_else(|| panic!("{id} passes on no recorded tree: can it pass at all?"))
}

/// The paths below `root` that a reader's path stands for; a missing one without wildcard is in the list too.
fn paths(root: &Path, path: &str) -> Vec<PathBuf> {
    let isolated = fs::read_to_string(root.join("sys/devices/system/cpu/isolated")).unwrap();
    let isolated: Vec<u32> = isolated.trim().parse::<horus::cpus::CpuList>().unwrap().iter().collect();
    let path = path.trim_start_matches('/');
    let mut found = vec![root.to_path_buf()];
    for part in path.split('/') {
        let part = isolated.first().map_or(part.to_owned(), |cpu| part.replace("{isolated}", &cpu.to_string()));
        found = match part.split_once('*') {
            None if part == "PID" => {
                found.iter().flat_map(|path| children(path, "", "")).filter(|path| is_number(path)).collect()
            }
            None => found.iter().map(|path| path.join(&part)).collect(),
            Some((start, end)) => found.iter().flat_map(|path| children(path, start, end)).collect(),
        };
    }
    found
}

fn is_number(path: &Path) -> bool {
    path.file_name().unwrap().to_str().unwrap().parse::<u32>().is_ok()
}

fn children(directory: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(start) && name.ends_with(end)
    };
    let mut children: Vec<PathBuf> = entries.filter(named).collect();
    children.sort();
    children
}

/// The path that a reader needs, `/boot/*` standing for the kernel configuration.
fn needed(record: &Record) -> String {
    let (kind, rest) = record.read.split_once(':').unwrap();
    match kind {
        "file" | "selected" | "cpumask" => rest.to_owned(),
        "field" => rest.split('#').next().unwrap().to_owned(),
        "sysctl" => format!("/proc/sys/{}", rest.replace('.', "/")),
        "cmdline" => "/proc/cmdline".to_owned(),
        "kconfig" => "/boot/*".to_owned(),
        _ => {
            let known = SCANS.iter().find(|(scan, _)| *scan == record.read);
            known.unwrap_or_else(|| panic!("{}: add the file it reads to SCANS", record.read)).1.to_owned()
        }
    }
}

/// Overwrites what `record` reads with something that no rule wants.
fn spoil(root: &Path, record: &Record) {
    let (kind, rest) = record.read.split_once(':').unwrap();
    let text = match kind {
        "selected" => "good [spoilt]".to_owned(),
        "cpumask" => "ffff".to_owned(),
        "field" => match rest.split_once('#').unwrap().1 {
            column if column.parse::<u32>().is_ok() => "spoilt ".repeat(9),
            name => format!("{name}: spoilt"),
        },
        "cmdline" => format!("{rest}=spoilt"),
        "kconfig" => rest.split(',').map(|name| format!("CONFIG_{name}=spoilt\n")).collect(),
        _ => "spoilt".to_owned(),
    };
    let paths = paths(root, &needed(record));
    fs::write(paths.first().expect("a passing rule has read a file"), text).unwrap();
}

#[test]
fn every_rule_fails_on_a_recorded_tree_or_when_what_it_reads_is_spoilt() {
    let audits = audits();
    for record in records() {
        if TREES.iter().any(|name| rule(&audits[name], &record.id)["status"] == "FAIL") {
            continue;
        }
        let copy = copy_of(passing(&audits, &record.id));
        spoil(copy.path(), &record);
        let (_, audit) = audit(copy.path(), &rules());
        let result = rule(&audit, &record.id);
        assert_eq!(result["status"], "FAIL", "{} cannot fail: {result}", record.id);
    }
}

#[test]
fn every_rule_is_not_applicable_with_the_name_of_the_file_when_what_it_reads_is_missing() {
    let audits = audits();
    for record in records() {
        let copy = copy_of(passing(&audits, &record.id));
        let needed = needed(&record);
        for path in paths(copy.path(), &needed) {
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        let (_, audit) = audit(copy.path(), &rules());
        let result = rule(&audit, &record.id);
        assert_eq!(result["status"], "NA", "{}: {result}", record.id);
        let named = needed.rsplit('/').find(|part| !part.contains(['*', '{']) && *part != "PID").unwrap();
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.contains(named), "{} does not name {named}: {reason}", record.id);
    }
}

#[test]
fn every_rule_says_what_it_is_for_and_how_to_fix_it_under_an_identifier_of_its_own() {
    let mut seen = BTreeSet::new();
    let records = records();
    assert!(records.len() >= 32, "only {} rules", records.len());
    for record in records {
        assert!(seen.insert(record.id.clone()), "{} is used twice", record.id);
        for key in ["title", "why", "fix"] {
            assert!(record.table[key].as_str().unwrap().len() > 10, "{}: {key} says nothing", record.id);
        }
    }
}

#[test]
fn no_rule_holds_cpu_numbers() {
    for record in records() {
        let expect = record.table["expect"].to_string();
        assert!(!record.read.contains("cpu0") && !expect.contains("0-"), "{}: {} {expect}", record.id, record.read);
    }
}
