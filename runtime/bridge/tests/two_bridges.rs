//! What bridges of one machine know of each other, and what a bridge says that does not bridge: programs, over Zenoh on this machine.
#![cfg(feature = "zenoh")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use horus::message::layout::Layout;
use horus_shm::directory::{Directory, Namespace};
use horus_shm::ends::{Kind, Making, Publication};
use horus_shm::segment::layout::DeliveryPolicy;
use horus_sys::clock::monotonic_ns;

/// No machine is so slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A bridge whose lines are read as they come.
struct Bridge {
    process: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Bridge {
    fn start(topics: &std::path::Path, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus-bridge"));
        command.args(words).env("HORUS_SHM_DIR", topics).env("HORUS_JOURNAL", "print").env_remove("HORUS_NAMESPACE");
        command.env("NOTIFY_SOCKET", topics.join("notify"));
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let read = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        std::thread::spawn(move || read.into_iter().try_for_each(|line| sender.send(line)));
        Self { process, lines, said: Vec::new() }
    }

    /// Waits for a line with these words.
    fn expect(&mut self, words: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.said.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
        panic!("it did not say `{words}`: {:#?}", self.said);
    }

    /// Ends it, and gives its last words that have these in them.
    fn end(mut self, words: &str) -> String {
        Command::new("kill").arg(self.process.id().to_string()).status().unwrap();
        assert!(self.process.wait().unwrap().success());
        let found = self.lines.iter().filter(|line| line.contains(words)).last();
        found.unwrap_or_else(|| panic!("it did not say `{words}` at its end"))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A topic with room for two publishers.
fn topic(topics: &std::path::Path, name: &str, layout: &str) -> Publication {
    let layout: Layout = layout.parse().unwrap();
    let directory = Directory::at(topics).unwrap().in_namespace(&Namespace::default()).unwrap();
    let description = layout.description();
    let kind = Kind { type_name: layout.type_name(), layout_hash: layout.hash(), description: &description };
    let access = directory.access().unwrap();
    let making = Making {
        capacity: 64,
        least: 1,
        policy: DeliveryPolicy::Latest,
        access,
        publishers: 2,
        wakes: true,
        is_latched: false,
    };
    Publication::open(&directory, &name.parse().unwrap(), kind, layout.payload(), &making).unwrap()
}

#[test]
fn what_another_bridge_of_this_machine_sends_of_the_same_topic_does_not_come_back() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path();
    let _notify = UnixDatagram::bind(topics.join("notify")).unwrap();
    let mut publication = topic(topics, "round", "message horus/Vector3\n x f64\n y f64\n z f64");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = format!("tcp/{free}");
    let mut there = Bridge::start(topics, &["ros2", "--zenoh", "--listen", &place, "--to-ros", "round=/round"]);
    there.expect("round: goes to /round");
    let back = ["ros2", "--zenoh", "--connect", &place, "--node", "second", "--from-ros", "/round=round"];
    let mut back = Bridge::start(topics, &back);
    back.expect("round: comes from /round");
    let end = Instant::now() + PATIENCE;
    // Until the second bridge got one of them; what it published would be carried again.
    let mut sent = 0_u64;
    while !back.lines.try_iter().any(|line| line.contains("come back for ever")) {
        assert!(Instant::now() < end, "the second bridge got nothing, or took what it got");
        let mut loan = publication.loan().unwrap();
        loan.fill(0);
        loan.publish(monotonic_ns());
        sent += 1;
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let account = back.end("messages carried");
    assert!(account.contains(" 0 messages carried") && !account.contains(" 0 refused"), "{account}");
    let account = there.end("messages carried");
    let carried = account.split(" messages carried").next().and_then(|front| front.rsplit(' ').next()?.parse().ok());
    assert!(carried.is_some_and(|carried: u64| carried <= sent), "of {sent}: {account}");
}

#[test]
fn a_second_bridge_of_one_name_is_refused_and_one_that_was_killed_is_none() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path();
    // No program listens on the discard port: it waits.
    let words = ["ros2", "--zenoh", "--connect", "tcp/127.0.0.1:9", "--to-ros", "imu=/imu"];
    let mut first = Bridge::start(topics, &words);
    first.expect("waits for");
    let second = Command::new(env!("CARGO_BIN_EXE_horus-bridge")).args(words).env("HORUS_SHM_DIR", topics).output();
    let second = second.unwrap();
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.code() == Some(1) && told.contains("--node NAME"), "{told}");
    drop(first);
    let mut again = Bridge::start(topics, &words);
    again.expect("waits for");
    let mut other = Bridge::start(topics, &[&words[..], &["--node", "other"]].concat());
    other.expect("waits for");
}

#[test]
fn a_topic_with_the_name_of_a_message_of_ros_and_other_fields_is_refused_in_journal_and_status() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path();
    let notify = UnixDatagram::bind(topics.join("notify")).unwrap();
    notify.set_read_timeout(Some(PATIENCE)).unwrap();
    let _gps = topic(topics, "gps", "message sensor_msgs/NavSatFix\n latitude f64\n longitude f64\n altitude f64");
    let words = ["ros2", "--zenoh", "--listen", "tcp/127.0.0.1:0", "--to-ros", "gps=/gps"];
    let mut bridge = Bridge::start(topics, &words);
    bridge.expect("gps: sensor_msgs/msg/NavSatFix is a message of ROS 2, and the topic's is another one");
    let mut bytes = [0; 4096];
    loop {
        let length = notify.recv(&mut bytes).expect("the service manager is told");
        if String::from_utf8_lossy(&bytes[..length]).contains("not bridged, the journal says why: gps") {
            break;
        }
    }
}
