//! Programs of nodes that lose messages, beside a monitor where one is needed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use horus::monitor::Monitor;
use horus::prelude::*;
use horus::topic::{Directory, OpenError};
use rustix::process::Signal;

use crate::looks::{line_of_top, tell_of_an_input, tell_of_an_output};
use crate::programs::{Number, Program};
use crate::topics::{publisher, received, send, subscriber};

pub fn topic_is_deleted(scratch: &Path) {
    let program = Program::start("overwritten", scratch);
    program.says("read 0");
    let mut publisher = publisher(scratch, Options::default());
    let mut known = subscriber(scratch, Options::default());
    std::fs::remove_file(scratch.join("topics/t.topic")).unwrap();
    assert!(matches!(publisher.check(), Err(OpenError::Deleted { .. })));
    assert!(matches!(known.check(), Err(OpenError::Deleted { .. })));
    program.says("topic t was removed while this program uses it");
    let mut joins_now = subscriber(scratch, Options::default());
    send(&mut publisher, 0..1);
    assert_eq!((received(&mut known), received(&mut joins_now)), (vec![0], vec![]), "it is in another topic");
}

pub fn output_finds_its_topic_full(scratch: &Path) {
    let mut reads_nothing = subscriber(scratch, Options::reliable(2));
    let program = Program::start("full", scratch);
    program.says("set [Full] lost Lost { full: 1, beyond: 0, discarded: 0, outside: 0, invalid: 0 }");
    tell_of_an_output(&program, "found the topic full");
    program.accounts_for(&["; messages not published: ", " found the topic full"]);
    assert_eq!(received(&mut reads_nothing), [0, 0]);
    // And a large message of a `latest` topic that is held where the next one should stand.
    let options = Options::latest(1).directory(scratch.join("topics"));
    let mut viewer = Subscriber::<crate::programs::Page>::open("pages", options).unwrap();
    let program = Program::start("held", scratch);
    program.until("a page", || viewer.wait(ms(5)));
    let _held = viewer.borrow().unwrap();
    program.says("set Full, lost full: true");
    tell_of_an_output(&program, "found the topic full");
    program.accounts_for(&["; messages not published: ", " found the topic full"]);
}

pub fn step_sets_more_than_the_topic_holds(scratch: &Path) {
    let program = Program::start("beyond", scratch);
    program.says("set [Taken, Taken, Beyond] lost Lost { full: 0, beyond: 1, discarded: 0, outside: 0, invalid: 0 }");
    tell_of_an_output(&program, "beyond what the topic holds in one step");
    program.accounts_for(&["; messages not published: ", " beyond what the topic holds in one step"]);
}

pub fn step_is_discarded(scratch: &Path) {
    let mut commands = Subscriber::<CmdVel>::open("t", Options::default().directory(scratch.join("topics"))).unwrap();
    let mut monitor = Monitor::new(Directory::at(scratch.join("topics")).unwrap());
    let program = Program::start("hangs", scratch);
    program.says("its step does not return");
    let mut told = Vec::new();
    program.until("the monitor takes over", || {
        told.extend(monitor.look(MonotonicTime::now()).unwrap().0);
        told.iter().any(|entry| entry.message().starts_with("node hangs is made safe by the monitor: "))
    });
    program.go_on();
    program.says("lost Lost { full: 0, beyond: 0, discarded: 1, outside: 0, invalid: 0 }");
    tell_of_an_output(&program, "1 of a step that was discarded");
    let line = line_of_top(&program.topics, "hangs/hangs").unwrap();
    assert!(line.contains("  taken over, 1 messages lost"), "the safe state that said so: {line}");
    program.accounts_for(&["; messages not published: 1 of a step that was discarded", "; at its end: "]);
    let came: Vec<_> = std::iter::from_fn(|| commands.try_recv()).map(|received| received.message).collect();
    assert!(came.contains(&CmdVel::STOP) && came.last() == Some(&CmdVel::STOP), "{came:?}");

    let mut numbers =
        Subscriber::<Number>::open("numbers", Options::reliable(8).directory(scratch.join("topics"))).unwrap();
    let (_, said) = Program::start("panics", scratch).ended();
    assert!(said.contains("a wheel came off, Taken") && said.contains("ended with: "), "{said}");
    let journal = "node panics did not publish 1 message on topic numbers: 1 of a step that was discarded";
    assert!(said.contains(journal), "{said}");
    assert!(received(&mut numbers).is_empty());
}

pub fn output_is_set_outside_of_a_step(scratch: &Path) {
    let program = Program::start("threads", scratch);
    program.says("set Outside, lost true");
    tell_of_an_output(&program, "set outside of a step");
    program.accounts_for(&["; messages not published: ", " set outside of a step"]);
    let (status, said) = Program::start("outlives", scratch).ended();
    assert!(status.success(), "{said}");
    assert!(
        said.contains("set Outside lost Lost { full: 0, beyond: 0, discarded: 0, outside: 1, invalid: 0 }"),
        "{said}"
    );
}

pub fn output_is_given_what_is_no_message(scratch: &Path) {
    let program = Program::start("invalid", scratch);
    program.says("set [Taken, Invalid] lost Lost { full: 0, beyond: 0, discarded: 0, outside: 0, invalid: 1 }");
    tell_of_an_output(&program, "no message of the topic");
    program.accounts_for(&["; messages not published: ", " no message of the topic"]);
}

pub fn program_is_killed_in_its_step(scratch: &Path) {
    let mut numbers = subscriber(scratch, Options::reliable(8));
    let mut monitor = Monitor::new(Directory::at(scratch.join("topics")).unwrap());
    let program = Program::start("dies", scratch);
    program.says("set Taken");
    program.until("the monitor knows it", || {
        monitor.look(MonotonicTime::now()).unwrap();
        !monitor.is_idle()
    });
    program.signal(Signal::KILL);
    let (status, _) = program.ended();
    assert_eq!(status.signal(), Some(9), "the service manager sees how it ended");
    assert!(!received(&mut numbers).contains(&1), "its step did not return");
    let mut told = Vec::new();
    crate::topics::until("the monitor tells", || {
        told.extend(monitor.look(MonotonicTime::now()).unwrap().0);
        told.iter().any(|entry| entry.message().starts_with("node dies is made safe by the monitor: "))
    });
}

pub fn input_is_overwritten(scratch: &Path) {
    let program = Program::start("overwritten", scratch);
    program.says("read 0");
    let mut publisher = publisher(scratch, Options::latest(4));
    program.until("top counts before it reads", || {
        send(&mut publisher, 0..100);
        let missed = line_of_top(&program.topics, "t").unwrap();
        missed.split(' ').next_back().unwrap().parse::<u64>().is_ok_and(|missed| missed > 0)
    });
    program.until("missed()", || {
        program.text().lines().any(|line| line.starts_with("read ") && !line.ends_with("missed 0"))
    });
    tell_of_an_input(&program, "t");
    program.accounts_for(&["; messages missed: "]);
}

pub fn several_events_are_one_release(scratch: &Path) {
    let program = Program::start("event", scratch);
    let mut publisher = publisher(scratch, Options::latest(4));
    program.until("the node listens", || publisher.subscribers().unwrap() > 0);
    let mut sent = 0;
    program.until("one release for several", || {
        send(&mut publisher, sent..sent + 2);
        sent += 2;
        std::thread::park_timeout(ms(600)); // longer than from one release to the next, so that none is overwritten
        program.text().lines().any(|line| line.starts_with("read [") && line.contains(','))
    });
    program.says(&format!("{}]", sent - 1));
    let read: Vec<u64> = program
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("read [")?.split(']').next())
        .flat_map(|numbers| numbers.split(", ").filter_map(|number| number.parse().ok()).collect::<Vec<_>>())
        .collect();
    assert!(read.is_sorted_by(|one, next| one < next), "each comes once and in order: {read:?}");
    send(&mut publisher, 1_000..1_100);
    program.until("missed()", || {
        program.text().lines().any(|line| line.starts_with("read ") && !line.ends_with("missed 0"))
    });
    tell_of_an_input(&program, "t");
    program.accounts_for(&["; messages missed: "]);
}

pub fn question_and_answer_are_lost(scratch: &Path) {
    let program = Program::start("question", scratch);
    program.says("set [Taken, Beyond] beyond 1");
    let options = Options::latest(4).directory(scratch.join("topics"));
    let mut answers = Publisher::<Number>::open("answer", options).unwrap();
    send(&mut answers, 0..100);
    program.until("missed()", || {
        program.text().lines().any(|line| line.starts_with("set ") && !line.ends_with("missed 0"))
    });
    tell_of_an_output(&program, "beyond what the topic holds in one step");
    tell_of_an_input(&program, "answer");
    program.accounts_for(&[
        "; messages not published: ",
        " beyond what the topic holds in one step",
        "; messages missed: ",
    ]);
}
