//! `horus update` as a user runs it, and killed at its system calls: one whole version starts, and the next update goes in.

#[path = "../../update/tests/fixture/mod.rs"]
mod fixture;
#[path = "fixtures/killed.rs"]
mod killed;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use killed::killed_at;

fn horus(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("update").args(arguments).arg("--root").arg(root).env("HORUS_JOURNAL", "print");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn output(root: &Path, arguments: &[&str]) -> Output {
    horus(root, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
}

/// What a command that has to succeed prints.
fn said(root: &Path, arguments: &[&str]) -> String {
    let output = output(root, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The kernel images of the boot partition, without the boot loader's count.
fn versions(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("boot/EFI/Linux")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// No program of a command that was killed is left that writes below `root`.
fn settled(root: &Path) {
    let place = root.to_str().unwrap().as_bytes();
    let is_of = |process: fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.windows(place.len()).any(|part| part == place) && process.file_name() != *std::process::id().to_string()
    };
    // A process that is becoming another program has no command line for a moment.
    let mut quiet = 0;
    while quiet < 4 {
        let is_there = fs::read_dir("/proc").unwrap().flatten().any(is_of);
        quiet = if is_there { 0 } else { quiet + 1 };
        std::thread::park_timeout(Duration::from_millis(3));
    }
}

/// A machine that runs 0.1.0, and a file with an update to 0.2.0 for it.
fn machine() -> (tempfile::TempDir, String) {
    let pair = fixture::pair();
    let root = fixture::root(&pair);
    let file = root.path().join("new.update");
    fs::write(&file, fixture::bundle("0.2.0", &pair)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (root, file)
}

#[test]
fn an_update_from_a_file_or_from_standard_input_is_installed_and_its_standing_is_told() {
    for is_file in [true, false] {
        let (root, file) = machine();
        assert_eq!(said(root.path(), &["status"]), "version 0.1.0 runs; no update is on trial\n");
        let told = if is_file {
            said(root.path(), &["install", &file])
        } else {
            let mut child =
                horus(root.path(), &["install", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(&fs::read(&file).unwrap()).unwrap();
            String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
        };
        assert!(told.contains("version 0.2.0 is installed beside 0.1.0, signed by ours"), "{told}");
        let status = said(root.path(), &["status"]);
        assert_eq!(
            status,
            "version 0.1.0 runs; version 0.2.0 is installed and starts with the next restart, on trial\n"
        );
        let json: serde_json::Value = serde_json::from_str(&said(root.path(), &["status", "--json"])).unwrap();
        assert_eq!((&json["running"], &json["on_trial"]), (&"0.1.0".into(), &"0.2.0".into()));
        fixture::start(root.path(), "0.2.0", "b1");
        said(root.path(), &["check"]);
        assert!(said(root.path(), &["status"]).contains("on trial: boot 1 of 3 is not measured yet"));
        assert!(said(root.path(), &["hold"]).contains("held by a user"));
        assert!(!said(root.path(), &["hold", "--off"]).contains("held"));
        assert!(said(root.path(), &["confirm"]).contains("version 0.2.0 stays"));
    }
}

#[test]
fn what_is_refused_says_why_and_has_changed_nothing() {
    let (root, file) = machine();
    fs::write(&file, "no update").unwrap();
    let nowhere = root.path().join("nowhere").to_str().unwrap().to_owned();
    for (arguments, why) in [
        (["install", &file].as_slice(), "scripts/update-bundle"),
        (&["install", &nowhere], "cannot read"),
        (&["confirm"], "no version is on trial"),
        (&["rollback"], "the only one that starts"),
        (&["status", "--host=-x"], "is no host"),
    ] {
        let output = output(root.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.contains(why)), (Some(2), true), "{said}");
    }
    assert_eq!(versions(root.path()), ["horus_0.1.0.efi"]);
    assert_eq!(said(root.path(), &["status"]), "version 0.1.0 runs; no update is on trial\n");
}

/// Kills a command at one system call after the other, every so many, until one lives; `look` sees what each left.
fn killed_everywhere(
    step: usize,
    prepare: impl Fn() -> (tempfile::TempDir, Command),
    mut look: impl FnMut(&Path),
) -> u64 {
    for last in (0..).step_by(step) {
        let (root, command) = prepare();
        let was_killed = killed_at(command, last);
        settled(root.path());
        if !was_killed {
            return last;
        }
        look(root.path());
    }
    unreachable!("a command has no end of system calls")
}

#[test]
fn killed_anywhere_while_it_installs_the_old_version_starts_or_the_new_one_is_on_trial() {
    let (mut waiting, mut none) = (0, 0);
    let prepare = || {
        let (root, file) = machine();
        let command = horus(root.path(), &["install", &file]);
        (root, command)
    };
    let calls = killed_everywhere(5, prepare, |root| {
        // What status says in the same boot is so, too.
        let told = said(root, &["status"]);
        let is_there = versions(root).len() == 2;
        assert_eq!(told.contains("starts with the next restart"), is_there, "{told}");
        // The boot goes on, or the machine restarts: the unit looks in either case.
        said(root, &["check"]);
        let status = said(root, &["status"]);
        match versions(root)[..] {
            [ref old] => {
                assert_eq!(old, "horus_0.1.0.efi");
                assert!(status.contains("no update is on trial"), "{status}");
                // What was cut off hinders no other.
                let file = root.join("new.update");
                assert!(said(root, &["install", file.to_str().unwrap()]).contains("is installed"));
                none += 1;
            }
            [_, ref new] => {
                assert!(new.starts_with("horus_0.2.0+3"), "{new}");
                assert!(status.contains("0.2.0 is installed and starts with the next restart"), "{status}");
                waiting += 1;
            }
            ref other => panic!("{other:?}"),
        }
    });
    assert!(waiting > 0 && none > 5, "{waiting} {none} of {calls}");
}

#[test]
fn killed_anywhere_in_what_ends_a_trial_the_next_look_ends_it_the_same() {
    for (verb, expected) in [("confirm", "horus_0.2.0.efi"), ("rollback", "horus_0.2.0+0")] {
        let prepare = || {
            let (root, file) = machine();
            said(root.path(), &["install", &file]);
            fixture::start(root.path(), "0.2.0", "b1");
            let command = horus(root.path(), &[verb]);
            (root, command)
        };
        let calls = killed_everywhere(3, prepare, |root| {
            assert_eq!(versions(root).len(), 2);
            said(root, &["check"]);
            // A user does it again, where it is not done.
            if !said(root, &["status"]).contains("no update is on trial") {
                said(root, &[verb]);
            }
            let versions = versions(root);
            assert!(versions[1].starts_with(expected) && versions[0] == "horus_0.1.0.efi", "{verb}: {versions:?}");
        });
        assert!(calls > 30, "{calls}");
    }
}

/// Serves `content`, of which the first connection gets a part; each says what part it has.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (count, line) in listener.incoming().enumerate() {
            let mut line = line.unwrap();
            let asked = BufReader::new(line.try_clone().unwrap()).lines().map(Result::unwrap);
            let asked: Vec<_> = asked.take_while(|word| !word.is_empty()).collect();
            let from =
                asked.iter().find_map(|word| word.strip_prefix("range: bytes=")?.trim_end_matches('-').parse().ok());
            let rest = &content[from.unwrap_or(0)..];
            let status = from.map_or("200 OK".to_owned(), |from| {
                format!("206 Partial\r\nContent-Range: bytes {from}-{}/{}", content.len() - 1, content.len())
            });
            let head = format!(
                "HTTP/1.1 {status}\r\nETag: \"1\"\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                rest.len()
            );
            line.write_all(head.as_bytes()).unwrap();
            // The client may be gone.
            let _ = line.write_all(if count == 0 { &rest[..rest.len() / 2] } else { rest });
        }
    });
    format!("http://{address}/horus.update")
}

#[test]
fn an_update_comes_from_a_server_whose_line_is_cut_also_by_way_of_another_machine() {
    for is_elsewhere in [false, true] {
        let (root, file) = machine();
        let url = serve(fs::read(file).unwrap());
        // In the place of ssh: what it would run on the other machine, on this one.
        let ssh = root.path().join("ssh");
        let command = format!(
            "#!/bin/sh\nwhile [ \"$1\" != horus ]; do shift; done; shift\nexec {} \"$@\" --root {}\n",
            env!("CARGO_BIN_EXE_horus"),
            root.path().display()
        );
        fs::write(&ssh, command).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        let told = match is_elsewhere {
            false => said(root.path(), &["install", &url]),
            true => said(root.path(), &["install", &url, "--host", "robot", "--ssh", ssh.to_str().unwrap()]),
        };
        for part in
            ["the line was cut behind 0 MB", "the line is there again", "version 0.2.0 is installed beside 0.1.0"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(versions(root.path()), ["horus_0.1.0.efi", "horus_0.2.0+3-0.efi"]);
    }
    let refused = output(machine().0.path(), &["install", "http://127.0.0.1:1/none"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("http://127.0.0.1:1/none: "), "{refused:?}");
}
