use super::*;
use crate::boot::{Excuse, Kind};

const OLD: [u64; REPORTS + 1] = [20_000; REPORTS + 1];

fn valid(p999_ns: u64) -> Report {
    Report::Valid { p999_ns }
}

fn fault(excuse: Option<Excuse>) -> Fault {
    Fault { kind: Kind::Node, name: "arm\n".to_owned(), excuse }
}

/// A trial with one of everything.
fn trial() -> Trial {
    let mut trial = Trial::new("0.1.0", "0.2.0", &OLD);
    for (boot, report) in [("b0", Report::Awaited), ("b1", valid(40_000)), ("b2", Report::Awaited)] {
        assert!(trial.begin("0.2.0", boot));
        trial.fault(fault(Some(Excuse::Unplugged)));
        trial.report(report);
    }
    trial.report(Report::Invalid { reason: "throttled\n\"3\" times".to_owned() });
    trial
}

#[test]
fn a_trial_is_read_as_it_was_written_and_is_gone_when_it_is_over() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::at(root.path());
    assert_eq!(store.read().unwrap(), None);
    store.remove().unwrap();
    let mut trial = trial();
    assert!(
        trial
            .standing()
            .to_string()
            .starts_with("held: the report of boot 2 of 3 is not valid (throttled \"3\" times)")
    );
    for report in [Report::Awaited, valid(40_000), valid(1)] {
        trial.report(report);
        store.write(&trial).unwrap();
        assert_eq!(store.read().unwrap().as_ref(), Some(&trial));
    }
    assert!(matches!(trial.standing(), Standing::OnTrial { boot: 3, worse: 2, cut: 1, .. }), "a valid report stays");
    store.remove().unwrap();
    assert_eq!(store.read().unwrap(), None);
}

#[test]
fn a_boot_that_ends_before_its_report_is_counted_and_is_not_bad() {
    let mut trial = Trial::new("0.1.0", "0.2.0", &OLD);
    for boot in 0..1_000 {
        assert!(trial.begin("0.2.0", &format!("b{boot}")) && trial.begin("0.2.0", &format!("b{boot}")));
        let standing = trial.standing();
        match boot {
            0..3 => assert!(matches!(standing, Standing::OnTrial { boot: 1, cut, .. } if cut == boot), "{standing}"),
            _ => assert!(matches!(standing, Standing::Hold { .. }), "{standing}"),
        }
        trial.fault(fault(Some(Excuse::Stopped)));
    }
    assert_eq!(trial.boots.len(), MOST_BOOTS);
    for boot in ["c0", "c1", "c2"] {
        trial.begin("0.2.0", boot);
        trial.report(valid(30_000));
    }
    assert!(trial.standing().to_string().starts_with("back: p99.9 of node-load was 30 us"), "{}", trial.standing());
}

#[test]
fn what_is_decided_outlasts_the_boot_that_decided_it_and_every_later_one() {
    for report in [Report::Awaited, valid(30_000)] {
        let mut trial = Trial::new("0.1.0", "0.2.0", &OLD);
        for boot in ["b0", "b1", "b2"] {
            trial.begin("0.2.0", boot);
            trial.report(if boot == "b2" { report.clone() } else { valid(1) });
        }
        trial.fault(fault(None));
        let decided = trial.clone();
        // A fault takes the version back; one after the last report comes too late.
        assert_eq!(
            matches!(trial.standing(), Standing::Back { .. }),
            report == Report::Awaited,
            "{}",
            trial.standing()
        );
        assert!(trial.begin("0.2.0", "b3"));
        trial.fault(Fault { name: "wheel".to_owned(), ..fault(None) });
        trial.report(valid(1));
        assert_eq!(trial, decided);
    }
}

#[test]
fn a_boot_of_another_version_is_none_of_the_trial() {
    let mut trial = trial();
    let before = trial.clone();
    assert!(!trial.begin("0.1.0", "b3"));
    assert_eq!(trial, before);
}

#[test]
fn no_number_of_excused_faults_hides_one_that_counts() {
    let mut trial = Trial::new("0.1.0", "0.2.0", &OLD);
    trial.begin("0.2.0", "b0");
    for number in 0..10 * MOST_FAULTS {
        trial.fault(Fault { name: number.to_string().repeat(1_000), ..fault(Some(Excuse::Unplugged)) });
    }
    assert_eq!(trial.boots[0].faults.len(), MOST_FAULTS);
    assert!(matches!(trial.standing(), Standing::OnTrial { .. }));
    // A device that is plugged in by now is no excuse any more.
    trial.fault(Fault { name: "0".repeat(1_000), ..fault(None) });
    assert_eq!(trial.boots[0].faults.len(), MOST_FAULTS);
    assert!(trial.standing().to_string().starts_with("back: node 000"), "{}", trial.standing());
}

#[test]
fn the_longest_trial_is_read_again() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::at(root.path());
    let mut trial = Trial::new("0.1.0", "0.2.0", &[u64::MAX; 100]);
    for boot in 0..MOST_BOOTS {
        trial.begin("0.2.0", &format!("{boot:032}"));
        for number in 0..MOST_FAULTS {
            trial.fault(Fault { name: format!("{number}{}", "🤖".repeat(300)), ..fault(Some(Excuse::Unplugged)) });
        }
        trial.report(Report::Invalid { reason: "🤖".repeat(300) });
    }
    store.write(&trial).unwrap();
    assert_eq!(store.read().unwrap(), Some(trial));
}

#[test]
fn a_file_with_any_bit_changed_or_any_end_cut_off_is_an_error_and_no_decision() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::at(root.path());
    store.write(&trial()).unwrap();
    let bytes = fs::read(&store.path).unwrap();
    let refused = |changed: &[u8], what: String| {
        fs::write(&store.path, changed).unwrap();
        let error = store.read().expect_err(&what);
        let is_told = matches!(error, TrialError::Damaged { .. } | TrialError::OtherSchema { .. });
        assert!(is_told && error.to_string().contains("trial.json"), "{what}: {error}");
    };
    for place in 0..bytes.len() {
        refused(&bytes[..place], format!("{place} bytes"));
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << bit;
            refused(&changed, format!("bit {bit} of byte {place}"));
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    for (from, to) in [
        ("\"boots\"", "\"extra\": 1, \"boots\""),
        ("40000", "10000"),
        ("/1", "/2"),
        ("\"cut\"", "{\"valid\": {\"p999_ns\": 1}}"),
    ] {
        refused(text.replacen(from, to, 1).as_bytes(), format!("{to} in place of {from}"));
    }
    refused(&[text.as_bytes(), b"\n"].concat(), "a line more".to_owned());
    refused(&vec![b' '; (MAX_BYTES + 1) as usize], "a long file".to_owned());
}

#[test]
fn what_a_cut_leaves_of_a_new_file_changes_nothing_and_a_disk_that_refuses_leaves_the_old_one() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::at(root.path());
    store.write(&trial()).unwrap();
    let new = store.path.with_extension("json.new");
    fs::write(&new, "{\"schema\": \"horus-tr").unwrap();
    assert_eq!(store.read().unwrap(), Some(trial()));
    store.write(&Trial::new("1", "2", &[])).unwrap();
    assert!(store.read().unwrap() != Some(trial()) && !new.exists());
    // A folder in the place of the new file refuses it.
    fs::create_dir(&new).unwrap();
    let error = store.write(&trial()).unwrap_err();
    assert!(matches!(error, TrialError::Unwritable { .. }) && error.to_string().contains("df -h /var"), "{error}");
    assert_eq!(store.read().unwrap(), Some(Trial::new("1", "2", &[])));
}
