//! `horus service` as a program, beside a server in another process: this one.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use horus::messages::Vector3;
use horus::service::{Client, Options, Server};
use serde_json::Value;

horus::message! {
    /// Asks for the way to a place.
    pub struct Way = "test/Way" {
        /// The place.
        to: Vector3,
        /// How many of its points.
        points: u64,
    }
}

fn service(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("service").args(arguments).env("HORUS_SHM_DIR", directory).env_remove("HORUS_NAMESPACE");
    command.output().unwrap()
}

fn said(directory: &Path, arguments: &[&str]) -> String {
    let output = service(directory, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(directory: &Path, arguments: &[&str]) -> String {
    let output = service(directory, arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// While `during` runs, ways are answered by as many points as were asked for.
fn while_served(directory: &Path, during: impl FnOnce()) {
    let options = Options::default().directory(directory);
    let mut server = Server::<Way, Vector3>::open("way", options).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&is_over);
    let serving = std::thread::spawn(move || {
        while !until.load(Ordering::Relaxed) {
            server.serve(Duration::from_millis(10), |Way { to, points }, mut answer| {
                if points == 0 {
                    return;
                }
                for point in 1..points {
                    let share = point as f64 / points as f64;
                    answer.part(Vector3 { x: share * to.x, y: share * to.y, z: share * to.z }).unwrap();
                }
                answer.send(to).unwrap();
            });
        }
    });
    during();
    is_over.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

#[test]
fn a_call_prints_each_message_of_the_answer() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    while_served(scratch.path(), || {
        let answer = said(scratch.path(), &["call", "way", "to: {x: 4, y: 2}, points: 2"]);
        assert_eq!(answer, "x: 2.0\ny: 1.0\nz: 0.0\n---\nx: 4.0\ny: 2.0\nz: 0.0\n---\n");
        let answer = said(scratch.path(), &["call", "way", "to: {x: 4}, points: 1", "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["x"], 4.0);
    });
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_list_says_who_serves_and_who_waits() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    assert!(said(scratch.path(), &["list"]).starts_with("no services in "));
    let client = Client::<Way, Vector3>::open("way", Options::default().directory(scratch.path())).unwrap();
    assert!(said(scratch.path(), &["list"]).contains("none"));
    while_served(scratch.path(), || {
        let list: Value = serde_json::from_str(&said(scratch.path(), &["list", "--json"])).unwrap();
        assert_eq!(
            (&list[0]["name"], &list[0]["request"], &list[0]["answer"]),
            (&"way".into(), &"test/Way".into(), &"horus/Vector3".into())
        );
        assert_eq!((&list[0]["server"]["pid"], &list[0]["clients"]), (&std::process::id().into(), &1.into()));
        assert!(said(scratch.path(), &["list"]).contains(&std::process::id().to_string()));
    });
    drop(client);
}

#[test]
fn a_call_that_has_no_answer_says_why() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    assert!(refusal(scratch.path(), &["call", "way", "points: 1"]).contains("no program serves way"));
    while_served(scratch.path(), || {
        assert!(refusal(scratch.path(), &["call", "way", "points: 0"]).contains("gave no answer"));
        assert!(refusal(scratch.path(), &["call", "way", "pionts: 1"]).contains("there is no field pionts"));
    });
    let _server = Server::<Way, Vector3>::open("way", Options::default().directory(scratch.path())).unwrap();
    assert!(
        refusal(scratch.path(), &["call", "way", "points: 1", "--timeout", "20ms"]).contains("did not answer within")
    );
}

fn json(output: &str) -> Value {
    serde_json::from_str(output).unwrap()
}

#[test]
fn a_list_and_the_page_of_top_tell_what_waits_and_what_came_too_late() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(scratch.path());
    let way = |points| Way { to: Vector3::default(), points };
    let mut server = Server::<Way, Vector3>::open("way", &options).unwrap();
    let mut client = Client::<Way, Vector3>::open("way", &options).unwrap();
    let _waits = client.ask(way(1)).unwrap();
    drop(client.ask(way(2)).unwrap()); // given up
    let mut kept = None;
    while server.serve(Duration::ZERO, |Way { to, points }, answer| match points {
        1 => kept = Some(answer.later()),
        _ => answer.send(to).unwrap(),
    }) {}
    let _is_not_taken = client.ask(way(3)).unwrap();
    let list = json(&said(scratch.path(), &["list", "--json", "--interval", "100ms"]));
    let mut top = Command::new(env!("CARGO_BIN_EXE_horus"));
    top.args(["top", "--json", "--interval", "100ms"]).env("HORUS_SHM_DIR", scratch.path());
    let top = json(&String::from_utf8(top.env_remove("HORUS_NAMESPACE").output().unwrap().stdout).unwrap());
    for service in [&list[0], &top["services"][0]] {
        assert_eq!((&service["name"], &service["requests"]), (&"way".into(), &3.into()), "{service}");
        assert_eq!((&service["unanswered"], &service["late"]), (&2.into(), &1.into()), "{service}");
        assert_eq!((&service["calls_per_second"], &service["shared"]), (&0.0.into(), &false.into()), "{service}");
    }
    server.answer(kept.unwrap()).send(Vector3::default()).unwrap();
    drop(server);
    let list = json(&said(scratch.path(), &["list", "--json", "--interval", "100ms"]));
    assert_eq!((&list[0]["server"], &list[0]["unanswered"]), (&Value::Null, &Value::Null), "{list}");
}

#[test]
fn a_shared_service_is_one_with_all_of_its_servers_and_a_call_reaches_one() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(scratch.path()).shared();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut server = Server::<Way, Vector3>::open("way", &options).unwrap();
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    server.serve(Duration::from_millis(10), |Way { to, .. }, answer| answer.send(to).unwrap());
                }
            });
        }
        let mut client = Client::<Way, Vector3>::open("way", &options).unwrap();
        let limit = Duration::from_secs(60);
        let is_over = &is_over;
        let asks = scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                client.call(Way { to: Vector3::default(), points: 1 }, limit).unwrap();
            }
        });
        let answer = service(scratch.path(), &["call", "way", "to: {x: 4}"]);
        // A client that is held up while the command counts has a rate of 0.
        let until = Instant::now() + limit;
        let list = loop {
            let list = service(scratch.path(), &["list", "--json"]);
            let told = serde_json::from_slice::<Value>(&list.stdout).unwrap_or_default();
            if told[0]["calls_per_second"].as_f64() > Some(0.0) || Instant::now() > until {
                break list;
            }
        };
        is_over.store(true, Ordering::Relaxed);
        asks.join().unwrap();
        assert_eq!(String::from_utf8_lossy(&answer.stdout), "x: 4.0\ny: 0.0\nz: 0.0\n---\n", "{answer:?}");
        let list = json(&String::from_utf8_lossy(&list.stdout));
        assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
        assert_eq!((&list[0]["shared"], list[0]["servers"].as_array().unwrap().len()), (&true.into(), 2), "{list}");
        assert_eq!((&list[0]["request"], &list[0]["answer"]), (&"test/Way".into(), &"horus/Vector3".into()), "{list}");
        assert!(list[0]["calls_per_second"].as_f64().unwrap() > 0.0, "{list}");
    });
}
