//! `horus node install` and `remove`, killed at every system call: what is installed is the old version or the new one, and whole.

#[path = "fixtures/killed.rs"]
mod killed;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use killed::killed_at;

const PROGRAM: &[u8] = &[b'x'; 100_000];

/// A folder with a version of a node.
fn version(folder: &Path, number: u32) -> std::path::PathBuf {
    let place = folder.join(format!("version-{number}"));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("node.toml"), format!("program = \"arm\"\nversion = \"{number}\"\n")).unwrap();
    fs::write(place.join("arm"), [PROGRAM, number.to_string().as_bytes()].concat()).unwrap();
    place
}

fn horus(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(["node"]).args(arguments).arg("--root").arg(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn install(root: &Path, source: &Path) -> Command {
    horus(root, &["install", source.to_str().unwrap()])
}

fn done(mut command: Command) -> Output {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// Which version is installed, if it is whole.
fn installed(root: &Path) -> Option<u32> {
    let node = root.join("var/lib/horus/nodes/arm");
    let text = fs::read_to_string(node.join("node.toml")).ok()?;
    let number = text.lines().last().unwrap().split('"').nth(1).unwrap().to_owned();
    let program = fs::read(node.join("arm")).expect("a node has a program");
    assert!(program.starts_with(PROGRAM) && program.ends_with(number.as_bytes()), "half a program");
    Some(number.parse().unwrap())
}

#[test]
fn killed_anywhere_one_whole_version_is_installed_and_the_next_one_goes_in() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let (old, new) = (version(folder.path(), 1), version(folder.path(), 2));
    let (mut seen, mut last) = (Vec::new(), 0);
    loop {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        done(install(root.path(), &old));
        let was_killed = killed_at(install(root.path(), &new), last);
        // As after a restart of the machine.
        done(horus(root.path(), &["settle"]));
        let number = installed(root.path()).expect("one of the versions is installed");
        seen.push(number);
        let left = fs::read_dir(root.path().join("var/lib/horus/nodes/.previous")).unwrap().count();
        assert_eq!(left, 0, "a trial is left after call {last}");
        done(install(root.path(), &new));
        assert_eq!(installed(root.path()), Some(2));
        if !was_killed {
            break;
        }
        last += 1;
    }
    // Old until some call, new from there on: there is one moment of change, and the test saw both sides of it.
    let change = seen.iter().position(|number| *number == 2).expect("it was installed in the end");
    assert!(change > 100, "there are calls before the change: {change}");
    assert!(
        seen[..change].iter().all(|number| *number == 1) && seen[change..].iter().all(|number| *number == 2),
        "{seen:?}"
    );
}

#[test]
fn a_first_installation_and_a_removal_that_are_killed_leave_all_or_nothing() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let first = version(folder.path(), 1);
    for removes in [false, true] {
        let mut last = 0;
        loop {
            let root = tempfile::tempdir_in("/dev/shm").unwrap();
            let command = match removes {
                false => install(root.path(), &first),
                true => {
                    done(install(root.path(), &first));
                    horus(root.path(), &["remove", "arm"])
                }
            };
            let was_killed = killed_at(command, last);
            done(horus(root.path(), &["settle"]));
            let number = installed(root.path());
            assert!(number.is_none() || number == Some(1));
            if !was_killed {
                assert_eq!(number, (!removes).then_some(1));
                break;
            }
            last += 1;
        }
    }
}
