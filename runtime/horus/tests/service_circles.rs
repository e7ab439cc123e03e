//! Nodes that ask each other in a circle are told before they start, with each call of it; under a real-time policy they are refused.

use std::path::Path;

use horus::figures::imitation::Imitation;
use horus::graph::{NodeInfo, ProcessInfo};
use horus::message::Stamp;
use horus::prelude::*;
use horus::topic::Directory;
use horus_shm::directory::Scope;

/// Adds a node that serves what it is named, and asks another one.
fn node(app: &mut App, name: &str, asks: &str, policy: Option<&str>) -> horus::Result {
    let mut client = app.client::<Stamp, Stamp>(asks)?;
    let mut server = app.server::<Stamp, Stamp>(name)?;
    let mut pending = None;
    let step = move |_: &Cycle| {
        while server.serve(|request, answer| _ = answer.send(request)) {}
        if pending
            .as_mut()
            .is_none_or(|pending: &mut horus::service::Pending| !matches!(pending.try_answer(&mut client), Ok(None)))
        {
            pending = client.ask(Stamp::default()).ok();
        }
    };
    let node = app.node(name, step).period(ms(5));
    if let Some(policy) = policy {
        node.scheduling_policy(policy.parse()?);
    }
    Ok(())
}

/// Declares a program on the topics of `files`, and runs it for some cycles.
fn run(files: &Path, declare: impl FnOnce(&mut App) -> horus::Result) -> horus::Result {
    let _here = Scope::enter(files);
    let mut app = App::new("robot")?;
    app.releases(5);
    declare(&mut app)?;
    app.run().map(|_accounts| ())
}

#[test]
fn a_circle_with_a_real_time_node_is_refused_and_named() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let refused = run(files.path(), |app| {
        node(app, "plan", "map", None)?;
        node(app, "map", "drive", None)?;
        node(app, "drive", "plan", Some("fifo:10"))
    });
    let refused = refused.unwrap_err().to_string();
    let expected = "refused: drive asks plan (plan), plan asks map (map), map asks drive (drive): a circle with a real-time node (drive, fifo:10), so \
                    an answer may wait for itself, without a bound: let another node serve or ask one of them";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn a_circle_without_a_real_time_node_runs_and_is_not_a_hang() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    run(files.path(), |app| {
        node(app, "plan", "map", None)?;
        node(app, "map", "plan", None)
    })
    .unwrap();
}

#[test]
fn a_chain_of_real_time_nodes_that_ask_is_no_circle() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    run(files.path(), |app| {
        node(app, "plan", "map", Some("fifo:10"))?;
        node(app, "map", "drive", Some("fifo:10"))
    })
    .unwrap();
}

#[test]
fn a_circle_through_another_program_is_refused_as_well() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let other = |namespace: &str| {
        let map = NodeInfo {
            name: "map".to_owned(),
            period_ns: 5_000_000,
            deadline_ns: 5_000_000,
            cpu: "any".to_owned(),
            scheduling_policy: "other".to_owned(),
            asks: vec!["plan".to_owned()],
            serves: vec!["map".to_owned()],
            ..NodeInfo::default()
        };
        let info = ProcessInfo { name: "mapping".to_owned(), nodes: vec![map], ..ProcessInfo::default() };
        Imitation::begin(&Directory::at(files.path().join(namespace)).unwrap(), &info).unwrap()
    };
    let plans = |app: &mut App| node(app, "plan", "map", Some("fifo:10"));
    // Services of another namespace are others.
    let elsewhere = other("lab");
    run(files.path(), plans).unwrap();
    drop(elsewhere);
    let _here = other("");
    let refused = run(files.path(), plans).unwrap_err().to_string();
    assert!(
        refused.contains(
            "refused: robot/plan asks mapping/map (map), mapping/map asks robot/plan (plan): a circle with a"
        ),
        "{refused}"
    );
}
