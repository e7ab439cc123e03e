//! Archives that want more than a robot is given: nothing of them is installed, and no word of them reaches a unit.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::machine::{HORUS, Machine, said};

const ROBOT: &str = "[programs.nav]\nrun = \"programs/nav/nav\"\n";

/// A file of an archive, with the type that its header says.
struct File<'a>(&'a str, &'a [u8], tar::EntryType);

fn file<'a>(name: &'a str, bytes: &'a [u8]) -> File<'a> {
    File(name, bytes, tar::EntryType::Regular)
}

fn archive(files: &[File]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for File(name, bytes, kind) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_entry_type(*kind);
        // As it stands there, whatever it is.
        let gnu = header.as_gnu_mut().unwrap();
        gnu.name[..name.len()].copy_from_slice(name.as_bytes());
        if *kind != tar::EntryType::Regular {
            gnu.linkname[..11].copy_from_slice(b"/etc/passwd");
        }
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn install(machine: &Machine, archive: &[u8]) -> (i32, String) {
    let mut command = Command::new(HORUS);
    command.args(["robot", "install", "-", "--root"]).arg(machine.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who refuses reads no further.
    let _ = child.stdin.take().unwrap().write_all(archive);
    said(&child.wait_with_output().unwrap())
}

fn is_untouched(machine: &Machine) -> bool {
    let place = machine.root().join("var/lib/horus/robot");
    !place.join("current").exists() && !place.join("incoming").exists() && !place.join("versions").exists()
}

#[test]
fn what_does_not_belong_into_an_archive_is_refused_by_name() {
    let settings = b"program = \"nav\"\n";
    let (robot, x) = (file("robot.toml", ROBOT.as_bytes()), &b"x"[..]);
    let whole = |more: File<'static>| vec![file("robot.toml", ROBOT.as_bytes()), file("programs/nav/nav", b"x"), more];
    let link = |name: &'static str, kind| File(name, b"", kind);
    for (files, words) in [
        (vec![file("../../etc/passwd", x)], "does not belong"),
        (vec![file("/etc/passwd", x)], "does not belong"),
        (vec![file("programs/../robot.toml", x)], "does not belong"),
        (vec![file("programs/nav/lib/nav", x)], "does not belong"),
        (vec![file("programs/nav/%n", x)], "does not belong"),
        (vec![file("programs/.nav/nav", x)], "does not belong"),
        (vec![file("current", x)], "does not belong"),
        (vec![link("programs/nav/nav", tar::EntryType::Symlink)], "is no file"),
        (vec![link("robot.toml", tar::EntryType::Link)], "is no file"),
        (vec![link("programs/nav/nav", tar::EntryType::Fifo)], "is no file"),
        (vec![link("programs/nav/nav", tar::EntryType::Directory)], "is no file"),
        (whole(file("programs/nav/nav", b"y")), "is in the archive twice"),
        (whole(file("programs/nav/other", b"y")), "the archive ends before its program"),
        (whole(file("programs/sim/sim", b"y")), "robot.toml has no program sim"),
        (
            whole(file("programs/nav/node.toml", settings)),
            "`run` leads to 'programs/nav/nav', and its program is programs/nav",
        ),
        (
            whole(file("programs/nav/node.toml", b"program = \"sim\"\n")),
            "its node.toml names the program 'sim', and nav was sent",
        ),
        (whole(file("programs/nav/node.toml", b"program = \"nav\"\ndevices = [\"/dev/vda\"]\n")), "is a disk"),
        (whole(file("programs/nav/node.toml", b"program = \"nav\"\nversion = \"1\\nUser=root\"\n")), "is no name"),
        (vec![robot], "the archive ends before its program"),
        (vec![], "has no robot.toml"),
        (
            vec![file("robot.toml", b"[programs.nav]\nrun = \"/bin/sh\"\n"), file("programs/nav/nav", x)],
            "`run` leads to '/bin/sh'",
        ),
        (
            vec![
                file("robot.toml", b"[programs.nav]\nrun = \"programs/nav/../nav/nav\"\n"),
                file("programs/nav/nav", x),
            ],
            "`run` leads to",
        ),
    ] {
        let machine = Machine::new();
        let (status, said) = install(&machine, &archive(&files));
        assert_eq!(status, 2, "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(is_untouched(&machine), "{words}");
    }
}

#[test]
fn words_of_a_robots_file_that_would_be_lines_of_a_unit_are_refused() {
    for (keys, words) in [
        ("args = [\"a\\nUser=root\"]", "which no unit can hold"),
        ("env = { A = \"b\\nUser=root\" }", "to a value that no unit can hold"),
        ("env = { \"A\\nUser=root\" = \"b\" }", "names no variable"),
        ("env = { LD_PRELOAD = \"a\", NOTIFY_SOCKET = \"/run/x\" }", "`env` cannot set NOTIFY_SOCKET"),
        ("namespace = \"../lab\"", "cannot stand in the namespace"),
        ("rename = { a = \"b,c\" }", "cannot stand in the topic name"),
        ("group = \"x\\nUser=root\"", "cannot be the name of a unit"),
        ("[groups]\n\"%n\" = [\"nav\"]", "cannot be the name of a unit"),
        ("[programs.\"a\\nb\"]\nrun = \"x\"", "is no name"),
    ] {
        let machine = Machine::new();
        let text = format!("{ROBOT}{keys}\n");
        let files = [file("robot.toml", text.as_bytes()), file("programs/nav/nav", b"x")];
        let (status, said) = install(&machine, &archive(&files));
        assert!(status == 2 && said.contains(words), "{keys}: {said}");
        assert!(is_untouched(&machine), "{keys}");
        // It came another way.
        let place = machine.current();
        fs::create_dir_all(place.parent().unwrap().join("versions/1/programs/nav")).unwrap();
        std::os::unix::fs::symlink("versions/1", &place).unwrap();
        fs::write(place.join("robot.toml"), text).unwrap();
        machine.program("root/var/lib/horus/robot/versions/1/programs/nav/nav", "x");
        let (root, units) = (machine.root(), machine.path("none"));
        let done = ["node", "generate", units.to_str().unwrap(), "--root", root.to_str().unwrap()];
        assert_eq!(machine.run(&done, &[]).0, 0);
        assert!(!units.exists(), "{keys}");
    }
}

#[test]
fn an_archive_that_breaks_off_or_is_too_large_is_refused() {
    let machine = Machine::new();
    let whole = archive(&[file("robot.toml", ROBOT.as_bytes()), file("programs/nav/nav", &[7; 3_000])]);
    let last = whole.len() - 1024 - (512 - 3_000 % 512);
    for length in (0..last).step_by(211).chain([last - 1]) {
        let (status, said) = install(&machine, &whole[..length]);
        assert_eq!(status, 2, "{length} bytes of {last} are not all: {said}");
        assert!(is_untouched(&machine));
    }
    let mut header = tar::Header::new_gnu();
    header.set_path("programs/nav/nav").unwrap();
    header.set_size(1 << 40);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    let (status, said) = install(&machine, header.as_bytes());
    assert!(status == 2 && said.contains("which is the most that is taken"), "{said}");
    let names: Vec<_> = (0..300).map(|number| format!("programs/a{number}/a")).collect();
    let many: Vec<_> = names.iter().map(|name| file(name, b"")).collect();
    let (status, said) = install(&machine, &archive(&many));
    assert!(status == 2 && said.contains("more files than 100 programs have"), "{said}");
    assert!(is_untouched(&machine));
    assert_eq!(install(&machine, &whole).0, 0);
    assert!(Path::new(&machine.current()).join("programs/nav/nav").is_file());
}
