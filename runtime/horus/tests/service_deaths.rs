//! A node's client hears of a server that is killed by itself: a thread beside the loop looks, and the step is told when it looks for its answer.

mod peers;

use std::path::Path;
use std::time::{Duration, Instant};

use horus::message::Stamp;
use horus::prelude::*;
use horus::service::{CallError, Options, Part, Pending, Server};
use horus_shm::directory::Scope;

use peers::{PATIENCE, Peer, await_no_file};

const SERVICE: &str = "next";

fn options(files: &Path) -> Options {
    Options::default().directory(files)
}

/// Answers the first request by a part, and keeps all others.
#[test]
#[ignore = "a peer"]
fn peer_answers_a_part_and_keeps_the_rest() {
    let mut server = Server::<Stamp, Stamp>::open(SERVICE, options(&peers::directory())).unwrap();
    let mut kept = Vec::new();
    peers::ready();
    loop {
        server.serve(PATIENCE, |request, mut answer| {
            if kept.is_empty() {
                answer.part(request).unwrap();
            }
            kept.push(answer.later());
        });
    }
}

/// Runs a program whose node asks until `ends` says so of what it heard; `during` runs beside it.
fn run(
    files: &Path,
    during: impl FnOnce() + Send,
    mut ends: impl FnMut(Result<Part<Stamp>, CallError>) -> bool + Send + 'static,
) {
    let declare = move || {
        let mut app = App::new("asker")?;
        let mut client = app.client::<Stamp, Stamp>(SERVICE)?;
        let mut asked = None::<Pending>;
        let started = Instant::now();
        let step = move |_: &Cycle| {
            assert!(started.elapsed() < PATIENCE, "a hang");
            let Some(pending) = &mut asked else {
                asked = client.ask(Stamp::default()).ok();
                return;
            };
            let heard = pending.try_part(&mut client);
            if heard.is_err() {
                asked = None;
            }
            assert!(!ends(heard), "that is all");
        };
        app.node("asker", step).period(ms(5));
        app.run().map(|_accounts| ())
    };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let _here = Scope::enter(files);
            declare()
        });
        during();
        let ended = running.join().unwrap().unwrap_err().to_string();
        assert!(ended.contains("that is all"), "{ended}");
    });
}

#[test]
fn a_client_in_a_node_is_told_that_its_server_was_killed_and_keeps_what_came_before() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut peer = Peer::start("peer_answers_a_part_and_keeps_the_rest", files.path(), "");
    peer.wait_until_ready();
    let (part, came) = std::sync::mpsc::channel();
    let (killed, death) = std::sync::mpsc::channel();
    let mut parts = 0;
    run(
        files.path(),
        move || {
            came.recv_timeout(PATIENCE).expect("a part came");
            peer.kill();
            killed.send(Instant::now()).unwrap();
        },
        move |heard| match heard {
            Ok(Part::Next(_)) => {
                parts += 1;
                part.send(()).unwrap();
                false
            }
            Ok(Part::Nothing) => false,
            Err(CallError::Died { .. }) => {
                assert_eq!(parts, 1);
                // Its death is told a moment after it is sure.
                println!("told {:?} after the kill", death.recv_timeout(PATIENCE).unwrap().elapsed());
                true
            }
            other => panic!("{other:?}"),
        },
    );
    await_no_file(files.path());
}

#[test]
fn a_client_in_a_node_is_told_that_there_is_no_server_and_is_answered_by_the_one_that_comes() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = files.path().to_owned();
    let (unserved, wants_one) = std::sync::mpsc::channel();
    let mut has_said = false;
    run(
        files.path(),
        move || {
            wants_one.recv_timeout(PATIENCE).expect("there is no server");
            let mut server = Server::<Stamp, Stamp>::open(SERVICE, options(&path)).unwrap();
            let started = Instant::now();
            // What was sent before it started it has not got.
            while !server.serve(Duration::from_millis(10), |request, answer| answer.send(request).unwrap()) {
                assert!(started.elapsed() < PATIENCE);
            }
        },
        move |heard| match heard {
            Ok(Part::Next(_)) => {
                assert!(has_said);
                true
            }
            Ok(_) => false,
            Err(CallError::NotServed { .. }) => {
                has_said = true;
                let _ = unserved.send(());
                false
            }
            // One that was on its way when the server started.
            Err(CallError::Died { .. }) if has_said => false,
            other => panic!("{other:?}"),
        },
    );
}

#[test]
fn a_client_in_a_node_is_told_once_that_its_server_stopped() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut server = Server::<Stamp, Stamp>::open(SERVICE, options(files.path())).unwrap();
    let mut heard_stop = 0;
    run(
        files.path(),
        move || {
            assert!(server.serve(PATIENCE, |_, answer| drop(answer.later())));
            drop(server);
        },
        move |heard| match heard {
            Ok(_) => false,
            Err(CallError::Stopped { .. }) => {
                heard_stop += 1;
                false
            }
            // What it asks after that no server gets, and none died.
            Err(CallError::NotServed { .. }) => {
                assert_eq!(heard_stop, 1);
                true
            }
            other => panic!("{other:?}"),
        },
    );
}
