//! `horus topic` as a program, beside real publishers and subscribers, living and killed.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use horus::messages::{CmdVel, Imu, zeroed};
use horus::topic::{Options, Publisher, Subscriber};
use serde_json::Value;

const DIRECTORY: &str = "HORUS_TEST_DIRECTORY";

fn topic(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("topic").args(arguments).env("HORUS_SHM_DIR", directory).env_remove("HORUS_NAMESPACE");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the command prints when it succeeds.
fn said(directory: &Path, arguments: &[&str]) -> String {
    let output = topic(directory, arguments);
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&said(directory, &[arguments, &["--json"]].concat())).unwrap()
}

fn publish_imu(directory: &Path) -> Publisher<Imu> {
    let options = Options::latest(8).directory(directory);
    Publisher::open("arm.imu", &options).unwrap()
}

/// A process that publishes the topic `victim` until it is killed.
struct Victim(Child);

impl Victim {
    fn start(directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "publish_until_killed", "--ignored", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.map_while(Result::ok).any(|line| line == "ready");
        assert!(ready, "the victim ended early");
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ended_already = self.0.wait();
    }
}

#[test]
#[ignore = "runs in a process of its own, started by the tests that kill it"]
fn publish_until_killed() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let options = Options::reliable(4).directory(directory);
    let mut publisher = Publisher::<CmdVel>::open("victim", &options).unwrap();
    publisher.try_send(CmdVel::default()).unwrap();
    println!("\nready");
    std::thread::park_timeout(std::time::Duration::from_secs(60));
}

#[test]
fn a_listing_says_of_every_topic_what_it_is_and_who_uses_it() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut imu = publish_imu(files.path());
    let options = Options::reliable(16).directory(files.path());
    let _cmd = Publisher::<CmdVel>::open("cmd", &options).unwrap();
    let anything = Options::default().directory(files.path());
    let _subscriber = Subscriber::<Imu>::open("arm.imu", &anything).unwrap();
    (0..3).for_each(|_| imu.try_send(zeroed::<Imu>()).unwrap());

    let list = json(files.path(), &["list"]);
    assert_eq!((&list["schema"], &list["namespace"]), (&"horus-topics/2".into(), &"default".into()));
    let names: Vec<_> = list["topics"].as_array().unwrap().iter().map(|topic| topic["name"].clone()).collect();
    assert_eq!(names, ["arm.imu", "cmd"]);
    let topic = &list["topics"][0];
    assert_eq!((&topic["type"], &topic["bytes"]), (&"horus/Imu".into(), &304.into()));
    assert_eq!(
        (&topic["delivery_policy"], &topic["capacity"], &topic["sent"]),
        (&"latest".into(), &8.into(), &3.into())
    );
    let own = serde_json::json!({"pid": std::process::id(), "elsewhere": false});
    assert_eq!(topic["publishers"][0]["process"], own);
    assert_eq!(topic["subscribers"], serde_json::json!([own]));
    assert_eq!(topic["mode"], "0600");
    let file = files.path().join("arm.imu.topic");
    assert_eq!(topic["segment_bytes"], std::fs::metadata(&file).unwrap().len(), "as many bytes as the file has");
    assert_eq!(topic["file"], file.to_str().unwrap());

    let screen = said(files.path(), &["list"]);
    let line = screen.lines().find(|line| line.starts_with("arm.imu ")).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words[1..8], ["horus/Imu", "304", "8", "latest", "1/1", "1/32", "3"], "{screen}");
    assert!(screen.contains("2 topics, "), "{screen}");
}

#[test]
fn one_topic_is_shown_field_by_field() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let _imu = publish_imu(files.path());
    let screen = said(files.path(), &["info", "arm.imu"]);
    let field = screen.lines().find(|line| line.contains("angular_velocity_covariance")).unwrap();
    assert_eq!(
        field.split_whitespace().collect::<Vec<_>>(),
        ["160", "72", "angular_velocity_covariance", "[f64;", "9]"]
    );
    assert!(screen.contains(&format!("process {}", std::process::id())), "{screen}");
    let fields = json(files.path(), &["info", "arm.imu"])["fields"].clone();
    assert_eq!(
        fields[1],
        serde_json::json!({"name": "orientation", "type": "horus/Quaternion", "offset": 8, "bytes": 32})
    );

    let output = topic(files.path(), &["info", "arm.mui"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(text(&output.stderr).contains("no topic arm.mui"), "{output:?}");
}

#[test]
fn what_a_killed_publisher_left_is_listed_as_unused_and_then_cleaned() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let _imu = publish_imu(files.path());
    Victim::start(files.path()).kill();
    let list = json(files.path(), &["list"]);
    let victim = &list["topics"][1];
    assert_eq!((&victim["name"], &victim["sent"]), (&"victim".into(), &1.into()));
    assert_eq!((&victim["publishers"][0]["process"], &victim["subscribers"]), (&Value::Null, &serde_json::json!([])));
    let screen = said(files.path(), &["list"]);
    assert!(screen.contains("1 used by no living process: `horus topic clean`"), "{screen}");

    let screen = said(files.path(), &["clean"]);
    assert!(screen.starts_with("removed: 1 (victim)\nkept, being used: 1 (arm.imu)\n"), "{screen}");
    let left: Vec<_> = std::fs::read_dir(files.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["arm.imu.topic"]);
    let again = json(files.path(), &["clean"]);
    assert_eq!((&again["removed"], &again["kept"]), (&serde_json::json!([]), &serde_json::json!(["arm.imu"])));
}

#[test]
fn a_latched_topic_without_users_is_kept_until_a_person_says_otherwise() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(4).directory(files.path()).latched();
    let mut publisher = Publisher::<Imu>::open("map", &options).unwrap();
    publisher.try_send(Imu::zeroed()).unwrap();
    assert!(said(files.path(), &["info", "map"]).contains("latched      it stays for who comes later"));
    assert_eq!(json(files.path(), &["clean", "--latched"])["kept"], serde_json::json!(["map"]), "it is in use");
    drop(publisher);
    let screen = said(files.path(), &["list"]);
    assert!(screen.contains("1 kept for who comes later (latched)") && !screen.contains("used by no"), "{screen}");
    let screen = said(files.path(), &["clean"]);
    let kept = "removed: none\nkept, being used: none\nkept for who comes later (latched): 1 (map); ";
    assert!(screen.starts_with(kept), "{screen}");
    assert_eq!(json(files.path(), &["clean"])["latched"], serde_json::json!(["map"]));
    assert_eq!(json(files.path(), &["clean", "--latched"])["removed"], serde_json::json!(["map"]));
}

#[test]
fn a_living_publisher_is_left_alone_and_still_publishes_after_a_clean() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let victim = Victim::start(files.path());
    assert_eq!(json(files.path(), &["clean"])["kept"], serde_json::json!(["victim"]));
    let publisher = &json(files.path(), &["info", "victim"])["publishers"][0];
    assert_eq!(publisher["process"]["pid"], victim.0.id());
    let options = Options::reliable(4).directory(files.path());
    drop(Subscriber::<CmdVel>::open("victim", &options).unwrap());
}

#[test]
fn files_that_are_no_topics_are_named_and_left_alone_and_cost_the_exit_status() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let _imu = publish_imu(files.path());
    std::fs::write(files.path().join("random.topic"), [0x5a; 10_000]).unwrap();
    std::fs::write(files.path().join("other.topic"), "mine").unwrap();
    std::fs::write(files.path().join("no\x1bname.topic"), "mine").unwrap();
    std::fs::write(files.path().join("notes.txt"), "mine").unwrap();
    for command in ["list", "clean"] {
        let output = topic(files.path(), &[command]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stdout).contains("arm.imu"), "what can be judged is: {output:?}");
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("random.topic: starts with") && stderr.contains("other.topic: has 4 bytes"),
            "{stderr}"
        );
        assert!(!stderr.contains('\x1b'), "nothing that a terminal obeys: {stderr:?}");
    }
    assert_eq!(std::fs::read_dir(files.path()).unwrap().count(), 5);
}

#[test]
fn namespaces_do_not_see_each_other() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::create_dir(files.path().join("lab")).unwrap();
    std::fs::set_permissions(files.path().join("lab"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let _lab = publish_imu(&files.path().join("lab"));
    let list = said(files.path(), &["list"]);
    assert!(list.contains("no topics in ") && list.contains("other namespaces: lab"), "{list}");
    let list = json(files.path(), &["list", "--namespace", "lab"]);
    assert_eq!((&list["topics"][0]["name"], &list["other_namespaces"][0]), (&"arm.imu".into(), &"default".into()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(["topic", "info", "arm.imu"]).env("HORUS_SHM_DIR", files.path());
    assert!(command.env("HORUS_NAMESPACE", "lab").output().unwrap().status.success());
    let refused = command.env("HORUS_NAMESPACE", "../lab").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("HORUS_NAMESPACE"), "{refused:?}");
}

#[test]
fn looking_makes_no_directory_and_a_directory_open_to_all_is_refused() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let missing = files.path().join("shm");
    for command in ["list", "clean"] {
        assert!(topic(&missing, &[command]).status.success());
    }
    assert_eq!(topic(&missing, &["info", "imu"]).status.code(), Some(1));
    assert!(!missing.exists());
    std::fs::set_permissions(files.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    for command in ["list", "clean"] {
        let output = topic(files.path(), &[command]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("chmod o-w"), "{output:?}");
    }
}
