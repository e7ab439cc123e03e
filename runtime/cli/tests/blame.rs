//! `horus blame` beside a journal, as `journalctl` tells of it, and programs that run: what it cannot know it does not say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use horus::deadline::CycleRecord;
use horus::figures::imitation::Imitation;
use horus::graph::{NodeInfo, ProcessInfo};
use horus::journal::id;
use horus::time::MonotonicTime;
use horus::topic::Directory;

/// A journal's files, and a `journalctl` that tells what a test wants.
struct Scene {
    scratch: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { scratch: tempfile::tempdir_in("/dev/shm").unwrap() };
        for folder in ["bin", "log/machine", "topics"] {
            fs::create_dir_all(scene.path(folder)).unwrap();
        }
        fs::write(scene.path("log/machine/system.journal"), "").unwrap();
        // Another process writes it: see `topic_access.rs`.
        let script =
            "#!/bin/sh\nfor word; do case $word in MESSAGE_ID=*) exec cat \"${0%/bin/*}/${word#*=}\";; esac; done\n";
        let write = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let written = Command::new("sh").args(["-c", write, "sh", script]).arg(scene.path("bin/journalctl")).status();
        assert!(written.unwrap().success());
        scene.tells(id::DEADLINE_MISS, &[]);
        scene.tells(id::NODE_START, &["control"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Has the journal have an entry of a kind for each of these nodes.
    fn tells(&self, kind: &str, nodes: &[&str]) {
        let entry = |node: &&str| {
            format!("{{\"HORUS_NODE\":\"{node}\",\"HORUS_MISSES\":\"2\",\"__REALTIME_TIMESTAMP\":\"1\"}}\n")
        };
        fs::write(self.path(kind), nodes.iter().map(entry).collect::<String>()).unwrap();
    }

    fn blame(&self, arguments: &[&str]) -> Output {
        self.run(Command::new(env!("CARGO_BIN_EXE_horus")), arguments)
    }

    fn run(&self, mut command: Command, arguments: &[&str]) -> Output {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.args(["blame", "--logs"]).arg(self.path("log")).args(arguments).stdin(Stdio::null());
        command
            .env("PATH", path)
            .env("HORUS_SHM_DIR", self.path("topics"))
            .env_remove("HORUS_NAMESPACE")
            .output()
            .unwrap()
    }

    /// What it says, in one line.
    fn said(&self, arguments: &[&str]) -> String {
        one_line(&self.blame(arguments))
    }
}

fn one_line(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

const NONE: &str = "no deadline was missed since boot";
const NOT_SAID: &str = "the journal has no missed deadline since boot, which does not say that there was none:";

#[test]
fn no_deadline_was_missed_is_said_only_where_nodes_started_and_the_journal_was_read() {
    let scene = Scene::new();
    assert_eq!(scene.said(&[]), NONE);
    scene.tells(id::NODE_START, &[]);
    let said = scene.said(&[]);
    assert!(said.starts_with(NOT_SAID) && said.contains("no node's start is in it"), "{said}");
    assert!(said.contains("HORUS_JOURNAL=print") && said.contains("read its standard error"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&scene.blame(&["--json"]).stdout).unwrap();
    assert!(json["unknown"][0].as_str().unwrap().starts_with("no node's start"), "{json}");
    assert!(scene.said(&["--boot", "-1"]).contains("no missed deadline in that boot, which does not say"));

    fs::remove_dir_all(scene.path("log/machine")).unwrap();
    let said = scene.said(&[]);
    assert!(said.starts_with(NOT_SAID) && said.contains("this machine keeps no journal"), "{said}");
}

#[test]
fn a_user_who_may_not_read_the_journal_is_told_so() {
    let scene = Scene::new();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can become another user");
        return;
    }
    set_mode(scene.scratch.path(), 0o755);
    set_mode(&scene.path("log/machine/system.journal"), 0o640);
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_horus")).arg(scene.path("horus")).status();
    assert!(copied.unwrap().success());
    let mut as_nobody = Command::new("setpriv");
    as_nobody
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"])
        .arg(scene.path("horus"));
    let said = one_line(&scene.run(as_nobody, &[]));
    assert!(said.starts_with(NOT_SAID) && said.contains("may not read the system's journal"), "{said}");
    assert!(said.contains("run it as root, or as a member of the group systemd-journal"), "{said}");
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn misses_that_a_living_program_counts_and_the_journal_has_not_are_told_in_every_namespace() {
    let scene = Scene::new();
    let node = |name: &str| NodeInfo {
        name: name.to_owned(),
        period_ns: 1_000_000,
        deadline_ns: 800_000,
        ..NodeInfo::default()
    };
    let begin = |folder: &str, name: &str| {
        let info = ProcessInfo { name: "balance".to_owned(), nodes: vec![node(name)], chains: Vec::new() };
        Imitation::begin(&Directory::at(scene.path(folder)).unwrap(), &info).unwrap()
    };
    let (mut here, there) = (begin("topics", "control"), begin("topics/lab", "vision"));
    let said = scene.said(&[]);
    assert!(said.starts_with(NOT_SAID) && said.contains("does not tell of all that run: balance/vision."), "{said}");
    drop(there);
    assert_eq!(scene.said(&[]), NONE, "it started, and has no miss");

    let at = MonotonicTime::from_nanos;
    let late = CycleRecord {
        number: 0,
        release: at(0),
        wake: at(0),
        completion: at(5_000_000),
        wake_cpu: 0,
        completion_cpu: 0,
        skipped: 4,
    };
    here.cycle(0, &late);
    let said = scene.said(&[]);
    assert!(said.starts_with(NOT_SAID) && said.contains("all that run: balance/control (5 misses)."), "{said}");
    assert_eq!(scene.said(&["--boot", "-1"]), NONE.replace("since boot", "in that boot"), "what lives is of this boot");
    scene.tells(id::DEADLINE_MISS, &["control"]);
    let said = scene.said(&[]);
    assert!(said.starts_with("2 misses in 1 episode") && !said.contains("there may be more"), "{said}");
    scene.tells(id::DEADLINE_MISS, &["other"]);
    let said = scene.said(&[]);
    assert!(
        said.contains("there may be more than that: - it does not tell of all that run: balance/control"),
        "{said}"
    );
}
