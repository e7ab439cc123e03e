//! A trial from its first boot to its end, by files.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::install;
use crate::testing::{self, bundle, pair, start};

/// A machine on which 0.1.0 runs and has left these tails, one a boot, and 0.2.0 is installed.
fn installed(tails: &[u64]) -> (TempDir, Machine) {
    let pair = pair();
    let (root, machine) = testing::machine(&pair);
    for (number, tail) in tails.iter().enumerate() {
        report(root.path(), "0.1.0", &format!("old{number}"), Some(*tail), &[]);
    }
    install::receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}).unwrap();
    install::apply(&machine).unwrap();
    (root, machine)
}

/// Leaves the report of a boot: a valid one with this tail, or one that is not.
fn report(root: &Path, version: &str, boot: &str, tail: Option<u64>, failed: &[&str]) {
    let folder = root.join("var/lib/horus/reports");
    fs::create_dir_all(&folder).unwrap();
    let count = 1 + fs::read_dir(&folder).unwrap().count();
    let mut report = horus_evidence::record::sample::report(boot);
    report.cmdline = format!("root=PARTLABEL=horus_{version} quiet");
    report.audit.rules.clear();
    report.valid = tail.is_some();
    report.invalid_reasons = if report.valid { Vec::new() } else { vec!["the machine throttled".to_owned()] };
    let mut value = serde_json::to_value(&report).unwrap();
    value["failed_units"] = failed.iter().map(|unit| json!({"unit": unit, "log": []})).collect();
    for phase in value["phases"].as_array_mut().unwrap() {
        if phase["name"] == "node-quiet" {
            (phase["name"], phase["p999_ns"]) = (json!("node-load"), json!(tail));
        }
    }
    fs::write(folder.join(format!("{count:08}-{boot}-run.json")), value.to_string()).unwrap();
}

/// The machine starts as its boot loader has it, and looks at the trial.
fn boot(root: &TempDir, machine: &Machine, name: &str) -> (String, State) {
    let images = root.path().join("boot/EFI/Linux");
    let first = machine.loader().images().unwrap().remove(0);
    if let Some(tries) = first.tries {
        let found = fs::read_dir(&images).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let name = found.into_iter().find(|name| KernelImage::from_name(name).as_ref() == Some(&first)).unwrap();
        let counted = format!("horus_{}+{}-{}.efi", first.version, tries.left.saturating_sub(1), tries.done + 1);
        fs::rename(images.join(name), images.join(counted)).unwrap();
    }
    start(root.path(), &first.version, name);
    (first.version, check(machine, &[]).unwrap())
}

/// Boots of the version on trial with these tails, until it is decided.
fn tried(root: &TempDir, machine: &Machine, tails: &[u64]) -> State {
    let mut state = State::None;
    for (number, tail) in tails.iter().enumerate() {
        let name = format!("new{number}");
        assert_eq!(boot(root, machine, &name).0, "0.2.0");
        report(root.path(), "0.2.0", &name, Some(*tail), &[]);
        state = check(machine, &[]).unwrap();
    }
    state
}

fn names(machine: &Machine) -> Vec<String> {
    machine.loader().images().unwrap().iter().map(KernelImage::name).collect()
}

#[test]
fn a_version_that_is_as_good_stays_after_three_boots_and_is_not_counted_any_more() {
    let (root, machine) = installed(&[20_000; 20]);
    let state = tried(&root, &machine, &[20_100, 19_900, 20_000]);
    assert!(matches!(&state, State::Over(text) if text.starts_with("version 0.2.0 stays: good")), "{state}");
    assert_eq!(names(&machine), ["horus_0.2.0.efi", "horus_0.1.0.efi"]);
    assert_eq!(check(&machine, &[]).unwrap(), State::None);
    assert!(machine.last().unwrap().contains("stays"));
}

#[test]
fn three_worse_tails_take_it_back_and_two_do_not() {
    let (root, machine) = installed(&[20_000; 20]);
    let state = tried(&root, &machine, &[45_000, 44_000, 46_000]);
    assert!(
        matches!(&state, State::Over(text) if text.contains("0.1.0 starts with the next restart: back: p99.9")),
        "{state}"
    );
    assert_eq!(boot(&root, &machine, "after").0, "0.1.0");

    let (root, machine) = installed(&[20_000; 20]);
    let state = tried(&root, &machine, &[45_000, 20_000, 46_000]);
    assert!(matches!(&state, State::Over(text) if text.contains("stays")), "{state}");
}

#[test]
fn a_failed_unit_takes_it_back_at_once_unless_it_failed_before() {
    let (root, machine) = installed(&[20_000; 3]);
    boot(&root, &machine, "new0");
    let state = check(&machine, &["horus-node@arm.service".to_owned()]).unwrap();
    assert!(state.to_string().contains("node arm failed or did not become ready"), "{state}");
    assert_eq!(names(&machine)[0], "horus_0.1.0.efi");

    let (root, machine) = installed(&[20_000; 3]);
    report(root.path(), "0.1.0", "old9", Some(20_000), &["fan.service"]);
    boot(&root, &machine, "new0");
    let state = check(&machine, &["fan.service".to_owned()]).unwrap();
    assert!(matches!(state, State::Runs { standing: Standing::OnTrial { .. }, .. }), "{state}");
}

#[test]
fn a_report_that_is_not_valid_holds_and_a_later_one_of_the_boot_counts() {
    let (root, machine) = installed(&[20_000; 20]);
    boot(&root, &machine, "new0");
    report(root.path(), "0.2.0", "new0", None, &[]);
    let state = check(&machine, &[]).unwrap();
    assert!(matches!(state, State::Runs { standing: Standing::Hold { .. }, .. }), "{state}");
    for tail in [20_000, 90_000] {
        report(root.path(), "0.2.0", "new0", Some(tail), &[]);
    }
    let state = check(&machine, &[]).unwrap();
    assert!(state.to_string().contains("boot 2 of 3"), "the first valid run counts: {state}");
}

#[test]
fn a_version_that_never_reaches_its_programs_goes_by_the_loaders_count_which_is_told() {
    let (root, machine) = installed(&[]);
    let images = root.path().join("boot/EFI/Linux");
    let found = fs::read_dir(&images).unwrap().map(|entry| entry.unwrap().path());
    let on_trial = found.into_iter().find(|path| path.to_string_lossy().contains("0.2.0")).unwrap();
    fs::rename(on_trial, images.join("horus_0.2.0+0-3.efi")).unwrap();
    let (version, state) = boot(&root, &machine, "after");
    assert_eq!(version, "0.1.0");
    assert!(state.to_string().contains("started it 3 times in a row"), "{state}");
}

/// The machine ends after the boot loader's files have changed, and before anything else has.
#[test]
fn what_was_given_up_stays_so_and_the_reason_is_told_later() {
    let (root, machine) = installed(&[20_000; 3]);
    boot(&root, &machine, "new0");
    machine.loader().give_up("0.2.0").unwrap();
    check(&machine, &[]).unwrap();
    assert_eq!(boot(&root, &machine, "after").0, "0.1.0", "a look does not take it back");
    assert!(machine.last().unwrap().ends_with("went: a user has taken it back"));

    let (root, machine) = installed(&[20_000; 3]);
    boot(&root, &machine, "new0");
    let mut trial = machine.trial().read().unwrap().unwrap();
    trial.fault(Fault { kind: Kind::Node, name: "arm".to_owned(), excuse: None });
    machine.trial().write(&trial).unwrap();
    machine.loader().give_up("0.2.0").unwrap();
    assert_eq!(boot(&root, &machine, "after").0, "0.1.0");
    assert!(machine.last().unwrap().contains("went: back: node arm failed"));
}

#[test]
fn each_boot_that_reaches_its_programs_is_counted_anew() {
    let (root, machine) = installed(&[20_000; 20]);
    for number in 0..7 {
        assert_eq!(boot(&root, &machine, &format!("cut{number}")).0, "0.2.0");
        assert_eq!(names(&machine)[0], "horus_0.2.0+3.efi");
    }
    assert!(check(&machine, &[]).unwrap().to_string().contains("held: 6 boots in a row"));
}

#[test]
fn a_user_confirms_takes_back_or_holds() {
    let (root, machine) = installed(&[]);
    assert!(matches!(confirm(&machine), Err(UpdateError::NotStarted(_))));
    boot(&root, &machine, "new0");
    machine.hold(true).unwrap();
    let state = check(&machine, &["fan.service".to_owned()]).unwrap();
    assert!(state.to_string().contains("held by a user"), "{state}");
    assert_eq!(names(&machine)[0], "horus_0.2.0+3.efi", "nothing is decided");
    machine.hold(false).unwrap();
    let state = check(&machine, &[]).unwrap();
    assert!(state.to_string().contains("boot 1 of 3"), "what was unplugged meanwhile does not count: {state}");
    confirm(&machine).unwrap();
    assert_eq!(names(&machine)[0], "horus_0.2.0.efi");
    assert!(matches!(confirm(&machine), Err(UpdateError::NoTrial)));
    let slot = root.path().join("dev/disk/by-partlabel/horus_0.1.0");
    fs::rename(&slot, slot.with_extension("away")).unwrap();
    assert!(matches!(rollback(&machine), Err(UpdateError::NoSystem { .. })), "nothing would start");
    fs::rename(slot.with_extension("away"), slot).unwrap();
    let state = rollback(&machine).unwrap();
    assert!(state.to_string().contains("0.1.0 starts with the next restart"), "{state}");
    assert_eq!(boot(&root, &machine, "after").0, "0.1.0");
    assert!(matches!(rollback(&machine), Err(UpdateError::Loader(_))), "the only one that starts stays");
}

#[test]
fn a_version_that_waits_is_taken_back_before_it_starts() {
    let (root, machine) = installed(&[]);
    let state = rollback(&machine).unwrap();
    assert!(state.to_string().contains("0.1.0 runs on"), "{state}");
    assert_eq!(boot(&root, &machine, "after"), ("0.1.0".to_owned(), State::None));
}

#[test]
fn an_installation_that_ended_before_its_kernel_image_is_told() {
    let (root, machine) = installed(&[]);
    for entry in fs::read_dir(root.path().join("boot/EFI/Linux")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("0.2.0") {
            fs::remove_file(path).unwrap();
        }
    }
    let (_, state) = boot(&root, &machine, "after");
    assert!(state.to_string().contains("install it again"), "{state}");
    assert!(machine.trial().read().unwrap().is_none());
}
