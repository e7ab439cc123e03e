//! Who may write to the topics' directory and means harm: the monitor still watches over everybody else's nodes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use horus::figures::State;
use horus::figures::imitation::Imitation;
use horus::graph::{NodeInfo, OutputInfo, ProcessInfo};
use horus::journal::Entry;
use horus::monitor::Monitor;
use horus::prelude::*;
use horus::topic::{Directory, Publisher};

/// A directory of topics, a robot's topic in it, and who listens.
struct Scene {
    directory: Directory,
    monitor: Monitor,
    commands: Subscriber<CmdVel>,
    _drive: Publisher<CmdVel>,
    scratch: tempfile::TempDir,
}

impl Scene {
    fn begin() -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        let options = Options::latest(8).directory(directory.path());
        let drive = Publisher::open("cmd", &options).unwrap();
        let commands = Subscriber::open("cmd", &options).unwrap();
        let monitor = Monitor::new(directory.clone());
        Self { directory, monitor, commands, _drive: drive, scratch }
    }

    /// A program whose node has run.
    fn robot(&self, name: &str) -> Imitation {
        // What is safe is a message of zeros.
        let safe = "00".repeat(size_of::<CmdVel>());
        let node = NodeInfo {
            name: "control".to_owned(),
            period_ns: 60_000_000_000,
            deadline_ns: 60_000_000_000,
            scheduling_policy: "other".to_owned(),
            outputs: vec![OutputInfo { topic: "cmd".to_owned(), safe }],
            ..NodeInfo::default()
        };
        let info = ProcessInfo { name: name.to_owned(), nodes: vec![node], chains: Vec::new() };
        let robot = Imitation::begin(&self.directory, &info).unwrap();
        robot.state(0, State::Running);
        robot.step(0, MonotonicTime::now());
        robot
    }

    /// What the monitor tells in some looks.
    fn look(&mut self, looks: u32) -> Vec<String> {
        let mut told = Vec::new();
        for look in 1..=looks {
            // As if so much time had passed: it searches ten times a second.
            let now = MonotonicTime::now().plus(ms(200) * look);
            told.extend(self.monitor.look(now).unwrap().0);
        }
        told.iter().map(Entry::message).map(str::to_owned).collect()
    }

    fn is_safe(&mut self) -> bool {
        self.commands.try_recv().is_some_and(|received| received.message == CmdVel::STOP)
    }

    /// How many files of the directory this process has open.
    fn open_files(&self) -> usize {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let its = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        its.filter(|path| path.starts_with(self.scratch.path())).count()
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.scratch.path().join(name)
    }
}

/// The file of a board that another user may change.
fn cut_off(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(8).unwrap();
}

#[test]
fn a_board_that_is_cut_off_ends_nobody_and_its_node_is_made_safe_when_its_process_ends() {
    let mut scene = Scene::begin();
    let (robot, other) = (scene.robot("robot"), scene.robot("other"));
    assert_eq!(scene.look(2), [""; 0]);
    cut_off(&scene.file("robot.node"));
    let told = scene.look(3);
    assert!(matches!(&told[..], [one] if one.contains("the figures of the program robot were cut off")), "{told:?}");
    assert!(!scene.is_safe());
    drop(robot);
    let told = scene.look(1);
    assert!(told.iter().any(|text| text.contains("made safe by the monitor: its process is gone")), "{told:?}");
    assert!(scene.is_safe());
    drop(other);
}

#[test]
fn many_names_many_boards_and_nonsense_hide_no_robot() {
    let mut scene = Scene::begin();
    let crowd: Vec<_> = (0..20).map(|number| scene.robot(&format!("a{number}"))).collect();
    for number in 0..300 {
        std::fs::hard_link(scene.file("a0.node"), scene.file(&format!("b{number}.node"))).unwrap();
    }
    for number in 0..300 {
        let mut board = b"HORUSBRD".to_vec();
        board.resize(4096, 0xff);
        std::fs::write(scene.file(&format!("c{number}.node")), board).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", scene.file("d.node")).unwrap();
    let robot = scene.robot("robot");
    scene.look(20);
    let before = scene.open_files();
    scene.look(20);
    assert_eq!(scene.open_files(), before, "nothing is opened again and again");
    while scene.is_safe() {}
    drop(robot);
    let told = scene.look(2);
    assert!(scene.is_safe(), "{told:?}");
    drop(crowd);
}

#[test]
fn names_that_are_none_and_topics_with_holes_are_left_alone() {
    let mut scene = Scene::begin();
    let robot = |name: &str, topic: &str| {
        let output = OutputInfo { topic: topic.to_owned(), safe: "00".repeat(16) };
        let node = NodeInfo {
            name: name.to_owned(),
            period_ns: 1_000_000_000,
            deadline_ns: 1_000_000_000,
            outputs: vec![output],
            ..NodeInfo::default()
        };
        ProcessInfo { name: "evil".to_owned(), nodes: vec![node], chains: Vec::new() }
    };
    let evil = Imitation::begin(&scene.directory, &robot("a\nhorus: all is well", "cmd")).unwrap();
    assert_eq!(scene.look(2), [""; 0], "it is no program's node");
    drop(evil);
    let holes = File::create(scene.directory.file(&"holes".parse().unwrap())).unwrap();
    holes.set_len(1 << 40).unwrap();
    let evil = Imitation::begin(&scene.directory, &robot("a", "holes")).unwrap();
    let told = scene.look(4);
    assert!(matches!(&told[..], [one] if one.contains("topic holes has holes")), "{told:?}");
    drop(evil);
}

/// Not hostile, but as much in need of a clear word.
#[test]
fn a_node_in_another_time_namespace_is_told_not_stopped_while_it_runs_and_made_safe_when_it_is_gone() {
    // No clock is behind the start of the machine, which may have been a moment ago.
    let behind = MonotonicTime::now().as_nanos().cast_signed() / 2;
    for ahead in [100_000_000_000_000, -behind] {
        let mut scene = Scene::begin();
        let robot = scene.robot("robot");
        // What its process would have found: the sixth word, behind the one that makes it a board.
        let file = File::options().write(true).open(scene.file("robot.node")).unwrap();
        file.write_all_at(&ahead.to_le_bytes(), 6 * 8).unwrap();
        let release = MonotonicTime::now().as_nanos().saturating_add_signed(ahead);
        robot.step(0, MonotonicTime::from_nanos(release));
        let told = scene.look(20);
        assert!(matches!(&told[..], [one] if one.contains("has a clock of its own")), "{told:?}");
        assert!(!scene.is_safe(), "it is made safe while it runs");
        drop(robot);
        let told = scene.look(1);
        assert!(scene.is_safe(), "{told:?}");
    }
}
