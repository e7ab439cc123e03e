//! Topics of several users: who may look, join and clean, and what the others are told.
//!
//! Runs as root only, which alone can become another user.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use horus::messages::CmdVel;
use horus::topic::{OpenError, Options, Publisher, Subscriber};

/// A user and a group that own nothing on any machine.
const NOBODY_ID: u32 = 65_534;
const DIRECTORY: &str = "HORUS_SHM_DIR";

/// A directory of topics that root made, and programs that anybody can start.
struct Scene {
    root: tempfile::TempDir,
}

impl Scene {
    /// `None`, with a word why, where this process cannot become another user.
    fn new(mode: u32, group: u32) -> Option<Self> {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        set_mode(root.path(), 0o755);
        let scene = Self { root };
        std::fs::create_dir(scene.topics()).unwrap();
        if chown(scene.topics(), None, Some(group)).is_err() || !scene.as_nobody("true").status.success() {
            println!("skipped: this process may not become another user");
            return None;
        }
        set_mode(&scene.topics(), mode);
        let test = std::env::current_exe().unwrap();
        for (source, name) in [(Path::new(env!("CARGO_BIN_EXE_horus")), "horus"), (&test, "test")] {
            // By another process: a program that this one writes is busy for as long as a child of another test's thread holds the file.
            let copied = Command::new("cp").arg(source).arg(scene.program(name)).status();
            assert!(copied.unwrap().success());
        }
        Some(scene)
    }

    fn topics(&self) -> PathBuf {
        self.root.path().join("topics")
    }

    fn program(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs a command line as `nobody`.
    fn as_nobody(&self, command: &str) -> Output {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"]);
        setpriv.args(command.split(' ')).env(DIRECTORY, self.topics()).env_remove("HORUS_NAMESPACE");
        setpriv.current_dir(self.root.path()).output().unwrap()
    }

    /// Runs an ignored test of this file as `nobody`.
    fn nobody_does(&self, role: &str) {
        let output = self.as_nobody(&format!("./test --exact {role} --ignored --test-threads=1"));
        let said = text(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}{}", text(&output.stderr));
    }

    fn publish(&self, options: Options) -> Publisher<CmdVel> {
        let mut publisher = Publisher::open("cmd", options.directory(self.topics())).unwrap();
        publisher.try_send(CmdVel { forward: 1.0, turn: 0.0 }).unwrap();
        publisher
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Joins as the user that runs it, with the history of one message.
fn join() -> Result<Subscriber<CmdVel>, OpenError> {
    Subscriber::open("cmd", Options::latest(4).history(1))
}

#[test]
#[ignore = "runs as another user, started by a_private_topic_is_closed_to_others"]
fn others_may_not_join() {
    let error = join().err().unwrap();
    assert!(matches!(error, OpenError::NotPermitted { .. }), "{error}");
    assert!(error.to_string().contains("share it by a group"), "{error}");
    let publisher = Publisher::<CmdVel>::open("cmd", Options::latest(4));
    assert!(publisher.is_err());
    let publisher = Publisher::<CmdVel>::open("other", Options::latest(4));
    assert!(matches!(publisher.err(), Some(OpenError::DirectoryNotPermitted { .. })), "the directory is not theirs");
}

#[test]
fn a_private_topic_is_closed_to_others() {
    let Some(scene) = Scene::new(0o755, 0) else { return };
    let publisher = scene.publish(Options::latest(4));
    scene.nobody_does("others_may_not_join");
    for command in ["list", "clean", "info cmd"] {
        let output = scene.as_nobody(&format!("./horus topic {command}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("not permitted to open"), "{output:?}");
    }
    assert_eq!(publisher.subscribers().unwrap(), 0);
    assert_eq!(std::fs::read_dir(scene.topics()).unwrap().count(), 1);
}

#[test]
#[ignore = "runs as another user, started by a_topic_of_a_group_is_open_to_its_members"]
fn members_join_and_publish() {
    assert_eq!(join().unwrap().try_recv().unwrap().message.forward, 1.0);
    let options = Options::latest(4).publishers(2).group(NOBODY_ID);
    let mut publisher = Publisher::<CmdVel>::open("cmd", &options).unwrap();
    publisher.try_send(CmdVel { forward: 2.0, turn: 0.0 }).unwrap();
}

#[test]
fn a_topic_of_a_group_is_open_to_its_members() {
    let Some(scene) = Scene::new(0o2770, NOBODY_ID) else { return };
    let options = Options::latest(4).publishers(2).group(NOBODY_ID);
    let publisher = scene.publish(options.clone());
    let mut subscriber = Subscriber::<CmdVel>::open("cmd", options.directory(scene.topics())).unwrap();
    scene.nobody_does("members_join_and_publish");
    let received = subscriber.try_recv().unwrap();
    assert_eq!((received.message.forward, received.publisher), (2.0, 1));
    let output = scene.as_nobody("./horus topic list");
    assert!(output.status.success() && text(&output.stdout).contains(" 0660 "), "{output:?}");
    drop(publisher);
}

#[test]
#[ignore = "runs as another user, started by a_directory_of_a_group_shares_its_topics"]
fn members_join_without_naming_the_group() {
    assert_eq!(join().unwrap().try_recv().unwrap().message.forward, 1.0);
}

#[test]
fn a_directory_of_a_group_shares_its_topics() {
    let Some(scene) = Scene::new(0o2770, NOBODY_ID) else { return };
    let _publisher = scene.publish(Options::latest(4));
    scene.nobody_does("members_join_without_naming_the_group");
}

#[test]
#[ignore = "runs as another user, started by a_directory_that_sudo_made_is_explained"]
fn the_directory_is_not_theirs() {
    let error = join().err().unwrap();
    assert!(matches!(error, OpenError::DirectoryNotPermitted { .. }), "{error}");
    for part in ["sudo", "install -d -m 2770", "HORUS_SHM_DIR"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_directory_that_sudo_made_is_explained() {
    let Some(scene) = Scene::new(0o700, 0) else { return };
    scene.nobody_does("the_directory_is_not_theirs");
}

#[test]
fn a_namespace_that_another_user_made_is_refused() {
    let Some(scene) = Scene::new(0o2770, NOBODY_ID) else { return };
    let lab = scene.topics().join("lab");
    std::fs::create_dir(&lab).unwrap();
    chown(&lab, Some(NOBODY_ID - 1), Some(NOBODY_ID)).unwrap();
    set_mode(&lab, 0o2770);
    let list = || scene.as_nobody("./horus topic list --namespace lab");
    let refused = list();
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("let root make it for a"), "{refused:?}");
    chown(&lab, Some(0), None).unwrap();
    assert!(list().status.success());
}
