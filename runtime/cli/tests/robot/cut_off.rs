//! The installation of a robot, killed at every system call: it is the old version or the new one, and whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::killed::killed_at;
use crate::machine::{HORUS, Machine};

const PROGRAM: &[u8] = &[b'x'; 20_000];

/// The archive of a version, in a file.
fn version(machine: &Machine, number: u32) -> std::path::PathBuf {
    let mut archive = tar::Builder::new(Vec::new());
    let robot = format!(
        "version = \"{number}\"\n[programs.arm]\nrun = \"programs/arm/arm\"\n[programs.leg]\nrun = \"programs/leg/leg\"\n"
    );
    let program = [PROGRAM, number.to_string().as_bytes()].concat();
    for (name, bytes) in
        [("robot.toml", robot.as_bytes()), ("programs/arm/arm", &program), ("programs/leg/leg", &program)]
    {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes).unwrap();
    }
    let path = machine.path(&format!("version-{number}.tar"));
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    path
}

fn horus(root: &Path, words: &[&str], input: Option<&Path>) -> Command {
    let mut command = Command::new(HORUS);
    command.args(words).arg("--root").arg(root).stdout(Stdio::null()).stderr(Stdio::null());
    command.stdin(input.map_or_else(Stdio::null, |file| fs::File::open(file).unwrap().into()));
    command
}

fn install(root: &Path, archive: &Path) -> Command {
    horus(root, &["robot", "install", "-"], Some(archive))
}

fn done(mut command: Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// Which version is installed, if it is whole.
fn installed(root: &Path) -> Option<u32> {
    let place = root.join("var/lib/horus/robot/current");
    let text = fs::read_to_string(place.join("robot.toml")).ok()?;
    let number = text.lines().next().unwrap().split('"').nth(1).unwrap().to_owned();
    for name in ["arm", "leg"] {
        let program = fs::read(place.join("programs").join(name).join(name)).expect("each has its program");
        assert!(program.starts_with(PROGRAM) && program.ends_with(number.as_bytes()), "half a program");
    }
    Some(number.parse().unwrap())
}

#[test]
fn killed_anywhere_one_whole_version_is_installed_and_the_next_one_goes_in() {
    let machine = Machine::new();
    let (old, new) = (version(&machine, 1), version(&machine, 2));
    let (mut seen, mut last) = (Vec::new(), 0);
    loop {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        done(install(root.path(), &old));
        let was_killed = killed_at(install(root.path(), &new), last);
        // As after a restart of the machine.
        done(horus(root.path(), &["node", "settle"], None));
        let number = installed(root.path()).expect("one of the versions is installed");
        seen.push(number);
        let place = root.path().join("var/lib/horus/robot");
        assert!(place.join("trial").symlink_metadata().is_err() && !place.join("incoming").exists(), "call {last}");
        let kept = fs::read_dir(place.join("versions")).unwrap().count();
        assert!(kept <= 2, "{kept} versions after call {last}");
        if !was_killed {
            break;
        }
        last += 1;
    }
    let change = seen.iter().position(|number| *number == 2).expect("it was installed in the end");
    assert!(change > 50, "there are calls before the change: {change}");
    assert!(
        seen[..change].iter().all(|number| *number == 1) && seen[change..].iter().all(|number| *number == 2),
        "{seen:?}"
    );
    let root = tempfile::tempdir_in("/dev/shm").unwrap();
    done(install(root.path(), &old));
    done(install(root.path(), &new));
    assert_eq!(installed(root.path()), Some(2));
}

#[test]
fn a_removal_that_is_killed_leaves_all_or_nothing() {
    let machine = Machine::new();
    let only = version(&machine, 1);
    let mut last = 0;
    loop {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        done(install(root.path(), &only));
        let was_killed = killed_at(horus(root.path(), &["robot", "remove"], None), last);
        done(horus(root.path(), &["node", "settle"], None));
        let number = installed(root.path());
        assert!(number.is_none() || number == Some(1));
        if !was_killed {
            assert_eq!(number, None);
            break;
        }
        last += 1;
    }
}
