//! Every tuning knob in `conf` has a rule that proves it, and every rule proves a knob that exists.

#[path = "fixtures/support.rs"]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::{records, repository};

/// Parameters that name a device of the board, how it comes up, or where a kernel that ends leaves its last words, and tune nothing.
const NO_TUNING: [&str; 3] = ["cmdline:console", "cmdline:memmap", "cmdline:rootwait"];

/// The files in `directory` whose name ends in `suffix`; none where the directory is missing.
fn files(directory: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_str().unwrap().ends_with(suffix)).collect()
}

/// The lines of `file` without comments.
fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().map(|line| line.split(" #").next().unwrap().trim().to_owned());
    lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).collect()
}

/// Every knob in `conf`, spelled as in `proves`.
fn knobs() -> BTreeSet<String> {
    let conf = repository().join("conf");
    let lib = conf.join("rt/rootfs/usr/lib");
    let mut knobs = BTreeSet::new();
    let machines = fs::read_dir(conf.join("machine")).into_iter().flatten().map(|entry| entry.unwrap().path());
    for file in machines.map(|machine| machine.join("cmdline")).chain([conf.join("rt/kernel/cmdline")]) {
        knobs.extend(lines(&file).iter().map(|line| format!("cmdline:{}", line.split('=').next().unwrap())));
    }
    for file in files(&lib.join("sysctl.d"), ".conf") {
        let keys =
            lines(&file).iter().map(|line| line.split('=').next().unwrap().trim().to_owned()).collect::<Vec<_>>();
        knobs.extend(keys.iter().map(|key| format!("sysctl:{key}")));
    }
    for file in files(&lib.join("tmpfiles.d"), ".conf") {
        for line in lines(&file) {
            let mut words = line.split_whitespace();
            if words.next().unwrap().starts_with('w') {
                knobs.insert(format!("tmpfiles:{}", words.next().unwrap()));
            }
        }
    }
    for file in files(&lib.join("systemd/system"), ".service") {
        knobs.insert(format!("service:{}", file.file_name().unwrap().to_str().unwrap()));
    }
    for file in files(&lib.join("systemd/system-preset"), ".preset") {
        knobs.extend(lines(&file).iter().filter_map(|line| Some(format!("preset:{}", line.strip_prefix("disable ")?))));
    }
    for line in lines(&conf.join("rt/kernel/rt.cfg")) {
        knobs.extend(
            line.strip_prefix("CONFIG_").map(|option| format!("kconfig:{}", option.split('=').next().unwrap())),
        );
    }
    knobs.retain(|knob| !NO_TUNING.contains(&knob.as_str()));
    knobs
}

#[test]
fn every_knob_has_a_rule_that_proves_it() {
    let proven: BTreeSet<String> = records().into_iter().flat_map(|record| record.proves).collect();
    let unproven: Vec<String> = knobs().difference(&proven).cloned().collect();
    assert!(unproven.is_empty(), "name each in 'proves' of a rule in conf/rt/audit: {unproven:#?}");
}

#[test]
fn every_rule_proves_knobs_that_exist() {
    let knobs = knobs();
    let has_config = repository().join("conf/rt/kernel/rt.cfg").exists();
    for record in records() {
        for knob in record.proves.iter().filter(|knob| has_config || !knob.starts_with("kconfig:")) {
            assert!(knobs.contains(knob), "{} proves {knob}, which is nowhere in conf", record.id);
        }
    }
}

#[test]
fn what_a_fix_writes_is_what_the_image_starts_with() {
    let lib = repository().join("conf/rt/rootfs/usr/lib");
    let sysctls: Vec<String> = files(&lib.join("sysctl.d"), ".conf").iter().flat_map(|file| lines(file)).collect();
    let mut compared = 0;
    for record in records() {
        let Some(set) = record.table.get("set") else { continue };
        for knob in record.proves.iter().filter_map(|knob| knob.strip_prefix("sysctl:")) {
            let line = format!("{knob} = {}", set.as_str().unwrap());
            assert!(sysctls.contains(&line), "{}: set is not what sysctl.d says: {line}", record.id);
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared} values were compared");
}
