//! A machine of files, with a program in systemd-sysupdate's place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::check::{State, state};
use crate::testing::{self, bundle, machine, pair};

fn names(machine: &Machine) -> Vec<String> {
    machine.loader().images().unwrap().iter().map(KernelImage::name).collect()
}

#[test]
fn an_installed_version_starts_next_and_is_on_trial() {
    let pair = pair();
    let (_root, machine) = machine(&pair);
    let mut most = 0;
    receive(&machine, &bundle("0.2.0", &pair)[..], &mut |bytes| most = bytes).unwrap();
    assert_eq!(most, 29_000);
    assert_eq!(state(&machine).unwrap(), State::None, "what is only received changes nothing");
    assert_eq!(apply(&machine).unwrap().version, "0.2.0");
    assert_eq!(names(&machine), ["horus_0.2.0+3.efi", "horus_0.1.0.efi"]);
    assert_eq!(state(&machine).unwrap(), State::Waiting("0.2.0".to_owned()));
    assert!(machine.last().unwrap().contains("starts with the next restart"));
    assert!(!machine.staged().exists());
    let again = receive(&machine, &bundle("0.3.0", &pair)[..], &mut |_| {}).unwrap_err();
    assert!(again.to_string().contains("horus update rollback"), "{again}");
}

#[test]
fn a_version_that_was_given_up_is_installed_anew() {
    let pair = pair();
    let (_root, machine) = machine(&pair);
    for _ in 0..2 {
        receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}).unwrap();
        apply(&machine).unwrap();
        assert_eq!(names(&machine), ["horus_0.2.0+3.efi", "horus_0.1.0.efi"]);
        crate::check::rollback(&machine).unwrap();
        assert_eq!(names(&machine), ["horus_0.1.0.efi", "horus_0.2.0+0.efi"]);
    }
}

#[test]
fn a_version_that_was_given_up_and_runs_makes_way_before_another_one_comes() {
    let pair = pair();
    let (root, machine) = machine(&pair);
    receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}).unwrap();
    apply(&machine).unwrap();
    testing::start(root.path(), "0.2.0", "b1");
    crate::check::rollback(&machine).unwrap();
    let error = receive(&machine, &bundle("0.3.0", &pair)[..], &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("0.1.0 starts with the next restart"), "{error}");
    testing::start(root.path(), "0.1.0", "b2");
    receive(&machine, &bundle("0.3.0", &pair)[..], &mut |_| {}).unwrap();
}

#[test]
fn a_refused_update_leaves_nothing() {
    let pair = pair();
    let (_root, machine) = machine(&pair);
    assert!(receive(&machine, &b"no archive"[..], &mut |_| {}).is_err());
    assert!(!machine.staged().exists());
    assert!(apply(&machine).is_err(), "nothing was received");
    assert_eq!(names(&machine), ["horus_0.1.0.efi"]);
    assert_eq!(state(&machine).unwrap(), State::None);
}

#[test]
fn a_writer_that_fails_or_writes_nothing_ends_the_trial_before_it_began() {
    let pair = pair();
    let (root, machine) = machine(&pair);
    let program = root.path().join(SYSUPDATE);
    for (script, told) in [
        ("echo one >&2; echo no space left >&2; exit 1", "one; no space left"),
        ("exit 0", "would start 0.1.0 nevertheless"),
    ] {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}).unwrap();
        let error = apply(&machine).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(state(&machine).unwrap(), State::None);
        assert!(!machine.staged().exists());
    }
}

#[test]
fn two_at_a_time_are_one() {
    let pair = pair();
    let (_root, machine) = machine(&pair);
    let _lock = machine.lock().unwrap();
    assert!(matches!(receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}), Err(UpdateError::Busy)));
    assert!(matches!(apply(&machine), Err(UpdateError::Busy)));
}

#[test]
fn a_machine_without_keys_or_board_takes_nothing_and_says_why() {
    let pair = pair();
    let (root, machine) = machine(&pair);
    let take = || receive(&machine, &bundle("0.2.0", &pair)[..], &mut |_| {}).unwrap_err().to_string();
    let key = root.path().join(crate::key::PLACE).join("ours.pub");
    fs::write(&key, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").unwrap();
    assert!(take().contains("no Ed25519 public key"));
    fs::remove_file(&key).unwrap();
    assert!(take().contains("takes no update"));
    fs::write(root.path().join("usr/lib/os-release"), "IMAGE_VERSION=1\n").unwrap();
    assert!(take().contains("VARIANT_ID"));
    let (root, machine) = testing::machine(&pair);
    fs::remove_file(root.path().join(SYSUPDATE)).unwrap();
    let error = receive(&machine, &b""[..], &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("which writes updates"), "{error}");
}
