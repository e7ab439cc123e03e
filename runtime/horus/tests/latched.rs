//! Latched topics: who comes late gets the newest message of every publisher, living, ended or killed; and what removes such a topic.

mod peers;

use std::time::Duration;

use horus::message::Stamp;
use horus::messages::CmdVel;
use horus::time::{ms, pause};
use horus::topic::{Directory, Options, Publisher, Subscriber};
use horus_shm::peers::clean::{Latched, clean, clean_with};
use peers::{PATIENCE, Peer, files_in, options_for};
use tempfile::TempDir;

const NAME: &str = "map";
const NUMBER: &str = "HORUS_TEST_NUMBER";

fn latched(policy: &str, files: &TempDir) -> Options {
    options_for(policy, files.path()).publishers(3).latched()
}

fn stamp(sequence: u64) -> Stamp {
    Stamp { sequence, sent_ns: 0 }
}

/// Sends `number`, `number + 1` and `number + 2`, and lives until it is killed if the number is odd.
#[test]
#[ignore = "a peer"]
fn peer_sends_three() {
    let number: u64 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let mut publisher = Publisher::<Stamp>::open(NAME, peers::options().publishers(3).latched()).unwrap();
    (number..number + 3).for_each(|number| publisher.try_send(stamp(number)).unwrap());
    peers::ready();
    if number % 2 == 1 {
        pause(PATIENCE);
    }
}

/// Receives what is there at once, and compares it with `number`.
#[test]
#[ignore = "a peer"]
fn peer_receives_one() {
    let number: u64 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let mut subscriber = Subscriber::<Stamp>::open(NAME, peers::options().publishers(3).latched()).unwrap();
    let received = subscriber.recv_timeout(Duration::from_secs(10)).map(|received| received.message.sequence);
    assert_eq!((received, subscriber.try_recv().is_none()), (Some(number), true));
}

fn start(role: &str, files: &TempDir, policy: &str, number: u64) -> Peer {
    Peer::start_with(role, files.path(), policy, Some((NUMBER, number.to_string())))
}

/// A publisher that ends by itself, or is killed.
fn publish(files: &TempDir, policy: &str, number: u64) {
    let mut peer = start("peer_sends_three", files, policy, number);
    peer.wait_until_ready();
    if number % 2 == 1 {
        peer.kill();
    } else {
        peer.finish();
    }
}

#[test]
fn who_comes_late_gets_the_newest_message_of_a_publisher_that_ended_or_was_killed() {
    for policy in ["latest", "reliable"] {
        for number in [10, 11] {
            let files = tempfile::tempdir_in("/dev/shm").unwrap();
            publish(&files, policy, number);
            // No process lives: neither who comes late twice, nor a sweep in between, loses the message.
            start("peer_receives_one", &files, policy, number + 2).finish();
            let found = clean(&Directory::at(files.path()).unwrap()).unwrap();
            assert_eq!((found.latched.len(), found.removed.len(), found.kept.len()), (1, 0, 0), "{policy}");
            start("peer_receives_one", &files, policy, number + 2).finish();
            // A publisher that starts again takes the place of itself.
            publish(&files, policy, 30);
            start("peer_receives_one", &files, policy, 32).finish();
        }
    }
}

#[test]
fn the_newest_of_every_publisher_comes_living_or_gone() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut first = start("peer_sends_three", &files, "latest", 11);
    first.wait_until_ready();
    let mut second = Publisher::<Stamp>::open(NAME, latched("latest", &files)).unwrap();
    second.try_send(stamp(20)).unwrap();
    publish(&files, "latest", 40);
    first.kill();
    for _ in 0..2 {
        let mut late = Subscriber::<Stamp>::open(NAME, latched("latest", &files)).unwrap();
        let received: Vec<_> =
            std::iter::from_fn(|| late.try_recv()).map(|received| received.message.sequence).collect();
        assert_eq!(received, [13, 20, 42]);
        assert_eq!(late.missed(), 0);
        second.try_send(stamp(21)).unwrap();
        assert_eq!(late.try_recv().map(|received| received.message.sequence), Some(21));
        second.try_send(stamp(20)).unwrap();
    }
    // Who does not ask for it gets what is sent from then on.
    let mut plain = Subscriber::<Stamp>::open(NAME, options_for("latest", files.path())).unwrap();
    assert!(plain.try_recv().is_none());
}

#[test]
fn a_topic_that_is_not_latched_goes_with_its_last_user_and_so_does_one_that_was_never_published() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut publisher = Publisher::<Stamp>::open(NAME, options_for("latest", files.path())).unwrap();
    publisher.try_send(stamp(1)).unwrap();
    let refused = Publisher::<Stamp>::open(NAME, options_for("latest", files.path()).latched()).map(drop).unwrap_err();
    assert!(refused.to_string().contains("is not latched, and this program publishes it latched"), "{refused}");
    drop(publisher);
    assert_eq!(files_in(files.path()), 0);
    drop(Subscriber::<Stamp>::open(NAME, latched("latest", &files)).unwrap());
    assert_eq!(files_in(files.path()), 0);
    // A subscriber that was first makes the topic latched for a publisher that does not say so.
    let subscriber = Subscriber::<Stamp>::open(NAME, latched("latest", &files)).unwrap();
    let mut publisher = Publisher::<Stamp>::open(NAME, options_for("latest", files.path())).unwrap();
    publisher.try_send(stamp(2)).unwrap();
    drop((subscriber, publisher));
    assert_eq!(files_in(files.path()), 1);
}

#[test]
fn a_latched_topic_is_removed_by_who_says_so_and_by_a_publisher_of_something_else() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = Directory::at(files.path()).unwrap();
    publish(&files, "latest", 10);
    let refused = Subscriber::<CmdVel>::open(NAME, latched("latest", &files)).map(drop).unwrap_err();
    assert!(refused.to_string().contains("horus/Stamp"), "{refused}");
    start("peer_receives_one", &files, "latest", 12).finish();
    // A living one is in use, whatever is said.
    let publisher = Publisher::<Stamp>::open(NAME, latched("latest", &files)).unwrap();
    assert_eq!(clean_with(&directory, Latched::Go).unwrap().kept.len(), 1);
    assert!(Publisher::<CmdVel>::open(NAME, latched("latest", &files)).is_err());
    drop(publisher);

    let mut other = Publisher::<CmdVel>::open(NAME, latched("latest", &files)).unwrap();
    other.try_send(CmdVel::STOP).unwrap();
    drop(other);
    let mut late = Subscriber::<CmdVel>::open(NAME, latched("latest", &files)).unwrap();
    assert_eq!(late.recv_timeout(ms(100)).map(|received| received.message), Some(CmdVel::STOP));
    drop(late);
    assert_eq!(clean_with(&directory, Latched::Go).unwrap().removed.len(), 1);
    assert_eq!(files_in(files.path()), 0);
}

#[test]
fn a_latched_topic_has_room_for_the_message_before_the_one_that_is_written_and_for_two_that_are_read() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(1).directory(files.path()).latched();
    assert_eq!(Publisher::<Stamp>::open(NAME, options).unwrap().capacity(), 4);
}
