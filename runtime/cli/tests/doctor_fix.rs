//! `horus doctor --fix` on recorded machines: it writes what a rule that fails needs, nothing else, and tells what came of it.

#[path = "fixtures/support.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{audit, copy_of, doctor, records, rule, rules, tree, with_status};

/// Runs `horus doctor --fix` there; its exit status and what it says as JSON.
fn fix(root: &Path, more: &[&str]) -> (i32, Value) {
    let output = doctor_fix(root, &[&["--json"], more].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (output.status.code().unwrap(), json)
}

fn doctor_fix(root: &Path, more: &[&str]) -> std::process::Output {
    let (root, rules) = (root.to_str().unwrap().to_owned(), rules().to_str().unwrap().to_owned());
    let mut arguments = vec!["--fix", "--root", &root, "--rules", &rules];
    arguments.extend(more);
    doctor(&arguments)
}

fn fixes(fixed: &Value) -> BTreeMap<&str, &Value> {
    fixed["fixes"].as_array().unwrap().iter().map(|fix| (fix["id"].as_str().unwrap(), fix)).collect()
}

/// Every file below `root`.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.insert(Path::new("/").join(path.strip_prefix(root).unwrap()), fs::read(&path).unwrap());
        }
    }
    found
}

/// Rules that this tree cannot show as fixed: its files do not answer as the kernel does, with a word in brackets or further columns.
const ANSWERED_BY_A_KERNEL: [&str; 2] = ["K10-thp", "C15"];

#[test]
fn every_rule_that_can_be_written_passes_afterwards_and_no_other_file_changes() {
    let root = copy_of("untuned-desktop");
    let before = files(root.path());
    let first = audit(root.path(), &rules()).1;
    let (status, fixed) = fix(root.path(), &[]);
    assert_eq!(status, 1, "C1 still fails");
    let fixes = fixes(&fixed);
    assert_eq!(fixes.keys().copied().collect::<BTreeSet<_>>(), with_status(&first, "FAIL").into_iter().collect());
    let mut written = BTreeSet::new();
    let mut set = 0;
    for (id, fix) in &fixes {
        written
            .extend(fix["writes"].as_array().unwrap().iter().map(|write| write["path"].as_str().unwrap().to_owned()));
        let now = rule(&fixed["audit"], id);
        match fix["done"].as_str().unwrap() {
            "set" => {
                set += 1;
                assert_eq!((now["status"].as_str(), &now["observed"]), (Some("PASS"), &fix["after"]), "{id}");
                assert_eq!(fix["before"], rule(&first, id)["observed"], "{id}");
            }
            "refused" | "would-set" => panic!("{id}: {fix}"),
            "not-yet" => assert!(ANSWERED_BY_A_KERNEL.contains(id), "{id}: {fix}"),
            _ => {
                assert_eq!((now["status"].as_str(), fix["writes"].as_array().unwrap().len()), (Some("FAIL"), 0), "{id}")
            }
        }
    }
    assert!(set > 15, "{set} rules were set");
    let after = files(root.path());
    let changed: BTreeSet<String> = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(changed, written);
    assert_eq!(fs::read_to_string(root.path().join("proc/sys/kernel/sched_rt_runtime_us")).unwrap().trim(), "-1");
}

#[test]
fn what_needs_a_restart_a_kernel_or_a_person_says_so_with_its_name() {
    let root = copy_of("untuned-desktop");
    let text = String::from_utf8(doctor_fix(root.path(), &[]).stdout).unwrap();
    for part in [
        "SET   S1 (high) Real-time tasks are not throttled: 950000 → -1",
        "/proc/sys/kernel/sched_rt_runtime_us: 950000 → -1",
        "RESTART  C1 (high)",
        "needs kernel parameter isolcpus and a restart:",
        "KERNEL  K4 (high)",
        "BY HAND  I1 (high)",
        "needs you: systemctl disable --now irqbalance.service",
        "What was set holds until the next start.",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn a_dry_run_and_a_tuned_machine_change_nothing() {
    let root = copy_of("untuned-desktop");
    let before = files(root.path());
    let (status, planned) = fix(root.path(), &["--dry-run"]);
    assert_eq!((status, planned["dry_run"].as_bool()), (1, Some(true)));
    assert_eq!(fixes(&planned)["S1"]["done"], "would-set");
    assert_eq!(fixes(&planned)["S1"]["writes"][0]["before"], "950000");
    assert_eq!(files(root.path()), before);
    let tuned = copy_of("tuned-x86");
    let before = files(tuned.path());
    assert_eq!(fix(tuned.path(), &[]).0, 0);
    assert_eq!(files(tuned.path()), before);
}

#[test]
fn interrupts_and_masks_get_the_housekeeping_cpus_and_idle_states_go_from_the_deepest_on() {
    let root = copy_of("leaky-isolation");
    let deep = "/sys/devices/system/cpu/cpu2/cpuidle/state1";
    let state = |name: &str| root.path().join(format!("{deep}/{name}").trim_start_matches('/'));
    fs::write(state("latency"), "50").unwrap(); // and state2, of another latency, which the recording has
    let (_, fixed) = fix(root.path(), &[]);
    let fixes = fixes(&fixed);
    let writes = |id: &str| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let writes = fixes[id]["writes"].as_array().unwrap().iter();
        writes.map(|write| (text(&write["path"]), text(&write["wanted"]))).collect()
    };
    let pair = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    assert_eq!(writes("C4"), [pair("/proc/irq/default_smp_affinity", "3")]);
    assert_eq!(fixes["C4"]["done"], "set");
    let interrupts = [36, 37].map(|number| pair(&format!("/proc/irq/{number}/smp_affinity_list"), "0-1"));
    assert_eq!(writes("C4-effective"), interrupts);
    // A recorded interrupt never fires again, so its effective CPU stays.
    assert_eq!(fixes["C4-effective"]["done"], "not-yet");
    let states: Vec<(String, String)> = writes("C8").into_iter().filter(|(path, _)| path.contains("cpu2/")).collect();
    assert_eq!(
        states,
        [pair(&format!("{}2/disable", &deep[..deep.len() - 1]), "1"), pair(&format!("{deep}/disable"), "1")]
    );
    assert_eq!((&fixes["C8"]["done"], fs::read_to_string(state("disable")).unwrap().trim()), (&"set".into(), "1"));
}

/// What a user who is not root gets: from a copy of the program, because where this one lies no other user may read.
fn as_nobody(arguments: &[&str]) -> std::process::Output {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("horus");
    fs::copy(env!("CARGO_BIN_EXE_horus"), &program).unwrap();
    let copied = rules();
    support::copy(&copied, place.path());
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    command.args(["doctor", "--fix", "--rules"]).arg(place.path()).args(arguments);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    command.output().unwrap()
}

#[test]
fn what_is_refused_is_told_with_its_reason_and_changes_nothing() {
    let root = copy_of("untuned-desktop");
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(root.path().join("proc/sys/vm/swappiness"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = files(root.path());
    let output = as_nobody(&["--json", "--root", root.path().to_str().unwrap()]);
    let fixed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let swappiness = fixes(&fixed)["S3-swappiness"];
    assert_eq!(
        (&swappiness["done"], &swappiness["before"], &swappiness["after"]),
        (&"refused".into(), &"60".into(), &"60".into())
    );
    let reason = swappiness["writes"][0]["error"].as_str().unwrap();
    assert!(reason.contains("Permission denied"), "{reason}");
    if rustix::process::geteuid().is_root() {
        assert_eq!(files(root.path()), before, "the files are root's");
    }
}

#[test]
fn a_recording_and_a_user_who_is_not_root_are_refused_with_a_remedy() {
    let output = doctor_fix(&tree("untuned-desktop"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--dry-run"), "{output:?}");
    let output = as_nobody(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("run it as root, with sudo"), "{output:?}");
}

#[test]
fn junit_has_a_test_case_for_every_rule() {
    let (root, rules) = (tree("untuned-desktop"), rules());
    let output =
        doctor(&["--junit".as_ref(), "--root".as_ref(), root.as_os_str(), "--rules".as_ref(), rules.as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text.matches("<testcase ").count(), records().len());
    assert!(
        text.contains("classname=\"horus.audit.S1\"")
            && text.contains("<failure message=\"high: observed 950000, expected -1\">")
    );
}
