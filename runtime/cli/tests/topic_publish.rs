//! `horus topic pub` as a program, beside subscribers in another process: this one.

mod watching;

use std::time::Duration;

use horus::messages::{CmdVel, Odometry, Vector3};
use horus::topic::{Bytes, Options, Publisher, Subscriber};

use watching::Scratch;

const PATIENCE: Duration = Duration::from_secs(60);

horus::message! {
    /// A message that no other program knows.
    struct Reach = "test/Reach" { to: Vector3, weights: [f32; 4] }
}

#[test]
fn values_reach_a_subscriber_of_a_message_that_only_it_knows() {
    let scratch = Scratch::new();
    let mut subscriber = Subscriber::<Reach>::open("reach", scratch.options(Options::reliable(4))).unwrap();
    let output = scratch.topic(&["pub", "reach", "to: {x: 1.5}, weights: [1, 2]", "--once"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let received = subscriber.recv_timeout(PATIENCE).unwrap();
    assert_eq!((received.message.to.x, received.message.weights), (1.5, [1.0, 2.0, 0.0, 0.0]));
    assert!(received.sent_ns > 0, "stamped");
    assert!(subscriber.try_recv().is_none());
}

#[test]
fn a_topic_of_a_known_message_is_made_and_published_as_often_as_asked_for() {
    let scratch = Scratch::new();
    let mut publishing = scratch.start(&["pub", "odom", "Odometry", "frame_text: odom", "--rate=200", "--count=20"]);
    assert!(publishing.note().contains("no program subscribes to odom at the moment"));
    let mut subscriber =
        Subscriber::<Odometry>::open("odom", scratch.options(Options::latest(16).history(16))).unwrap();
    let numbers = std::iter::from_fn(|| subscriber.recv_timeout(PATIENCE).map(|received| received.sequence));
    let numbers: Vec<_> = numbers.take_while(|number| *number < 19).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    publishing.finish();
    assert!(!subscriber.is_published().unwrap());
}

#[test]
fn a_full_reliable_topic_is_waited_for_until_the_user_has_enough() {
    let scratch = Scratch::new();
    let mut subscriber = Subscriber::<CmdVel>::open("cmd", scratch.options(Options::reliable(2))).unwrap();
    let mut publishing = scratch.start(&["pub", "cmd", "forward: 1", "--rate=10000", "--count=5"]);
    assert!(publishing.note().contains("publishing horus/CmdVel"));
    assert!(publishing.note().contains("cmd is full: waiting"));
    (0..2).for_each(|_| assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().message.forward, 1.0));
    assert!(publishing.note().contains("cmd is full: waiting"));
    publishing.interrupt();
    assert!(publishing.note().starts_with("horus topic: cmd: "));
    assert!(publishing.finish().is_empty());
}

#[test]
fn what_cannot_be_published_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let _taken = Publisher::<CmdVel>::open("base.cmd", scratch.options(Options::latest(8))).unwrap();
    let _log = Publisher::<[u8]>::open_as("log", Bytes::up_to(300), scratch.options(Options::latest(4))).unwrap();
    for (arguments, said) in [
        (&["base.cmd", "forward: 1"][..], "`horus topic info base.cmd` names who has them"),
        (&["base.cmd", "speed: 1"], "there is no field speed; the fields are\n  forward: f64\n  turn: f64"),
        (&["base.cmd", "forward: fast"], "forward: fast is not possible"),
        (&["base.cmd", "horus/Imu", ""], "base.cmd carries horus/CmdVel, not horus/Imu"),
        (&["base.cdm", "forward: 1"], "(did you mean base.cmd?); to make it, say its type: horus/Vector3"),
        (&["new", "CmdVle", "forward: 1"], "did you mean horus/CmdVel?"),
        (&["log", "x: 1"], "log carries bytes"),
        (&["base.cmd", "forward: 1", "--rate", "0"], "a rate of 0 Hz is not possible"),
        (&["new", "CmdVel", "--capacity", "3"], "a capacity of 3 messages is not possible"),
    ] {
        let output = scratch.topic(&[&["pub"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && stderr.contains(said), "{arguments:?}: {stderr}");
    }
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 2, "nothing was made");
}

#[test]
fn what_echo_prints_is_what_was_published() {
    let scratch = Scratch::new();
    let mut echo = scratch.start(&["echo", "cmd", "--once"]);
    assert!(echo.note().contains("waiting"));
    let mut publishing = scratch.start(&["pub", "cmd", "CmdVel", "{\"forward\": 0.5, turn: -.inf}"]);
    assert_eq!(echo.finish(), b"forward: 0.5\nturn: -.inf\n---\n");
    publishing.interrupt();
    assert!(publishing.finish().is_empty());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "the last one out took the topic along");
}
