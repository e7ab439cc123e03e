//! `horus gateway`, `horus tap` and `horus bench gateway` as programs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use horus::messages::CmdVel;
use horus::topic::{Options, Subscriber};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A gateway with topics, a log and a socket of its own.
struct Gateway {
    child: Child,
    files: TempDir,
    topics: TempDir,
}

impl Gateway {
    fn start() -> Self {
        let (files, topics) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let mut gateway = Self { child: Self::run(&files, &topics), files, topics };
        gateway.wait_until_ready();
        gateway
    }

    fn run(files: &TempDir, topics: &TempDir) -> Child {
        let place = files.path().display();
        let settings = format!(
            "listen = [{{ unix = \"{place}/made/socket\" }}]\nlog_directory = \"{place}/log\"\n\
             [topics.speed]\ndirection = \"both\"\nlog = {{ durability = \"each\" }}\n"
        );
        std::fs::write(files.path().join("gateway.toml"), settings).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.args(["gateway", "--config"]).arg(files.path().join("gateway.toml"));
        command.env("HORUS_SHM_DIR", topics.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn wait_until_ready(&mut self) {
        let mut lines = BufReader::new(self.child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), self.address());
    }

    fn address(&self) -> String {
        format!("unix:{}/made/socket", self.files.path().display())
    }

    /// Runs `horus` beside it.
    fn horus(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.args(arguments).env("HORUS_SHM_DIR", self.topics.path()).output().unwrap()
    }

    fn tap(&self, arguments: &[&str]) -> Output {
        self.horus(&[&["tap", "speed", "--connect", &self.address()], arguments].concat())
    }

    /// Kills it, and starts it anew on the same files.
    fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = Self::run(&self.files, &self.topics);
        self.wait_until_ready();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill(); // of one that is at its end, nothing
        let _ = self.child.wait();
    }
}

#[test]
fn what_was_published_is_tapped_from_the_log_also_after_the_gateway_was_killed() {
    let mut gateway = Gateway::start();
    // Who makes the topic gives it room for all of them: a gateway that looks late finds each.
    let options = Options::latest(64).directory(gateway.topics.path());
    let mut room = Some(Subscriber::<CmdVel>::open("speed", options).unwrap());
    let published =
        gateway.horus(&["topic", "pub", "speed", "CmdVel", "forward: 2.5", "--rate", "200", "--count", "40"]);
    assert!(published.status.success(), "{published:?}");
    for killed in [false, true] {
        if killed {
            drop(room.take()); // and with it the topic: what is told from here on is the log's
            gateway.kill_and_start();
        }
        let tapped = gateway.tap(&["--from", "1", "--count", "40", "--duration", "20s", "--json"]);
        let lines: Vec<Value> =
            String::from_utf8(tapped.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(tapped.status.success() && lines.len() == 40, "{}", String::from_utf8_lossy(&tapped.stderr));
        for (number, line) in (1..).zip(&lines) {
            assert_eq!(line["sequence"], json!(number), "nothing is missing");
        }
        let last = &lines[lines.len() - 1];
        if !killed {
            assert_eq!(last["message"], json!({ "forward": 2.5, "turn": 0.0 }));
        }
    }
    let text = gateway.tap(&["--from", "3", "--count", "2"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("# 3, 16 bytes") && text.matches("---").count() == 2, "{text}");
}

#[test]
fn a_tap_tells_rate_latency_and_gaps_at_its_end() {
    let gateway = Gateway::start();
    let arguments = ["tap", "speed", "--connect", &gateway.address(), "--count", "40", "--duration", "20s", "--quiet"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    let mut tap = command.args(arguments).stderr(Stdio::piped()).spawn().unwrap();
    // For as long as it needs to begin.
    while tap.try_wait().unwrap().is_none() {
        gateway.horus(&["topic", "pub", "speed", "CmdVel", "forward: 2.5", "--rate", "500", "--count", "50"]);
    }
    let mut told = String::new();
    tap.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(told.contains("speed: 40 messages, 640 bytes"), "{told}");
    assert!(told.contains(" /s from the first to the last") && told.contains(" gap"), "{told}");
    assert!(told.contains("from the send stamp to here: p50 ") && told.contains("of 40 messages"), "{told}");
}

#[test]
fn what_cannot_be_is_said_in_words() {
    let gateway = Gateway::start();
    let said = |output: Output| {
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let refused = said(gateway.horus(&["tap", "secret", "--connect", &gateway.address()]));
    assert!(refused.contains("\"secret\" is not served"), "{refused}");
    assert!(said(gateway.horus(&["tap", "speed", "--connect", "unix:/nowhere"])).contains("does `horus gateway` run?"));
    // Who takes connections and says nothing is no gateway: found out within the time that there is.
    let mute = gateway.files.path().join("mute");
    let _mute = std::os::unix::net::UnixListener::bind(&mute).unwrap();
    let place = format!("unix:{}", mute.display());
    let silent = said(gateway.horus(&["tap", "speed", "--connect", &place, "--duration", "50ms"]));
    assert!(silent.contains("no answer within ") && silent.contains("ms: is that a gateway?"), "{silent}");
    let settings = gateway.files.path().join("open.toml");
    let start = |text: &str| {
        std::fs::write(&settings, text).unwrap();
        said(gateway.horus(&["gateway", "--config", settings.to_str().unwrap()]))
    };
    assert!(start("listen = [{ tcp = \"0.0.0.0:7447\" }]").contains("reached from other machines"));
    assert!(start("listen = [{ unix = \"/x\", mode = \"0666\" }]").contains("never open to everybody"));
    assert!(start("").contains("listens nowhere"));
    let limited = "exec prlimit --nofile=300:300 \"$0\" gateway --config \"$1\"";
    std::fs::write(&settings, "listen = [{ unix = \"/x\" }]\nlimits = { clients = 45 }").unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_horus")]).arg(&settings);
    assert!(said(command.output().unwrap()).contains("needs 301 open files, and 300 are allowed"));
    assert!(start("lisen = 1").contains("line 1"));
    let said = start("listen = [{ unix = \"/proc/none/socket\" }]");
    let words = "cannot listen on unix:/proc/none/socket: cannot make the folder /proc/none";
    assert!(said.contains(words) && said.contains("such as unix = \"gateway.socket\""), "{said}");
    let said = start("topics.a = { direction = \"out\", log = { keep_bytes = 16777216 } }");
    assert!(said.contains("keep_bytes is 33554432 at least, or segment_bytes smaller"), "{said}");
}

#[test]
fn a_gateway_that_is_asked_to_end_takes_its_socket_along() {
    let mut gateway = Gateway::start();
    kill(Pid::from_raw(gateway.child.id() as i32), Signal::SIGTERM).unwrap();
    assert!(gateway.child.wait().unwrap().success());
    assert!(!gateway.files.path().join("made/socket").exists());
}

#[test]
fn the_benchmark_accounts_for_every_message_both_ways() {
    let gateway = Gateway::start();
    for arguments in [&["--rate", "2000"][..], &["--rate", "0", "--batch", "10", "--log"]] {
        let output = gateway.horus(&[&["bench", "gateway", "--count", "400", "--json"], arguments].concat());
        let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        for way in ["gateway", "relay"] {
            let figures = &result[way];
            let account =
                ["sent", "received", "lost", "twice", "out_of_order", "wrong"].map(|name| figures[name].as_u64());
            assert_eq!(account, [400, 400, 0, 0, 0, 0].map(Some), "{way} {arguments:?}");
            assert_eq!(figures["latency_ns"].as_array().unwrap().is_empty(), arguments.contains(&"0"));
        }
        assert!(output.status.success());
    }
}
