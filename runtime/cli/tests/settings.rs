//! `horus settings` as a program: what it says of a file on any PC, and what a boot makes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII31cyfnz/Qi4MTQ6s4ES8YmxDx4WtsxL7GAnI4n88/x me@laptop";

fn horus(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_horus")).arg("settings").args(arguments).output().unwrap()
}

fn check(text: &str) -> (Option<i32>, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("horus.toml");
    fs::write(&file, text).unwrap();
    let output = horus(&["check".as_ref(), &file]);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A directory that stands for a machine whose boot partition holds this file.
fn booted(name: &str, text: &str) -> (tempfile::TempDir, Output) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("run/horus/boot")).unwrap();
    fs::write(root.path().join("run/horus/boot").join(name), text).unwrap();
    let output = horus(&["apply".as_ref(), "--root".as_ref(), root.path()]);
    assert!(output.status.success(), "{output:?}");
    (root, output)
}

#[test]
fn check_says_what_would_be_used_and_where_something_would_not() {
    let (status, said, complaints) = check(&format!("hostname = \"arm3\"\nssh_keys = [\"{KEY}\"]\n"));
    assert_eq!((status, complaints.as_str()), (Some(0), ""));
    assert!(said.contains("arm3.local") && said.contains("ssh-ed25519 me@laptop"), "{said}");
    let (status, said, complaints) = check("hostname = \"arm3\"\n[network]\naddress = \"192.168.1.20\"\n");
    assert_eq!(status, Some(1));
    assert!(said.contains("arm3.local") && complaints.contains("horus.toml:3: "), "{said}{complaints}");
    let missing = horus(&["check".as_ref(), "/nowhere/horus.toml".as_ref()]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_boot_writes_what_is_right_and_tells_what_is_wrong() {
    let text = format!("ssh_keys = [\"{KEY}\"]\n[wifi]\nssid = \"lab\"\npassword = \"short\"\n");
    let (root, output) = booted("horus.toml", &text);
    let keys = root.path().join("run/horus/ssh/authorized_keys");
    assert!(fs::read_to_string(&keys).unwrap().contains(KEY));
    assert_eq!(fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!root.path().join("run/horus/wifi").exists());
    let told = fs::read_to_string(root.path().join("run/horus/settings-problems")).unwrap();
    assert!(told.starts_with("horus.toml:4: the password of a Wi-Fi"), "{told}");
    let journal = String::from_utf8(output.stderr).unwrap();
    assert!(journal.starts_with("<4>horus.toml:4: ") && !journal.contains("short"), "{journal}");

    fs::write(root.path().join("run/horus/boot/horus.toml"), "").unwrap();
    horus(&["apply".as_ref(), "--root".as_ref(), root.path()]);
    assert!(!root.path().join("run/horus/settings-problems").exists(), "what was put right is not told");
    assert!(!keys.exists(), "a key that was taken out opens nothing");
}

#[test]
fn a_machine_without_a_file_is_left_as_it_is_and_a_misnamed_file_is_told() {
    let (root, output) = booted("another", "");
    assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
    assert!(!root.path().join("run/systemd").exists());
    let (_, output) = booted("horus.toml.txt", "hostname = \"arm3\"\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("call it horus.toml"));
}
