//! The message path of docs/message-path.md: a message goes from one process to another and comes back.

mod peers;

use horus::message::Stamp;
use horus::topic::{Options, Publisher, Received, Subscriber, TopicName};
use horus_sys::clock::monotonic_ns;

use peers::{PATIENCE, Peer};

const ROUNDS: u64 = 300;

fn name(name: &str) -> TopicName {
    name.parse().unwrap()
}

/// The other process: answers every message of `ping` on `pong`, until `ping` is no longer published.
#[test]
#[ignore = "started by message_crosses_to_another_process_and_back"]
fn answering_peer() {
    let options = Options::reliable(16).directory(peers::directory()).stamped();
    let mut pong = Publisher::<Stamp>::open(name("pong"), &options).unwrap();
    let mut ping = Subscriber::<Stamp>::open(name("ping"), &options).unwrap();
    peers::ready();
    for _ in 0..ROUNDS {
        let question = ping.recv_timeout(PATIENCE).unwrap();
        pong.send_timeout(question.message, PATIENCE).unwrap();
    }
}

#[test]
fn message_crosses_to_another_process_and_back() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(16).directory(files.path());
    let mut ping = Publisher::<Stamp>::open(name("ping"), &options).unwrap();
    let mut peer = Peer::start("answering_peer", files.path(), "reliable");
    let mut pong = Subscriber::<Stamp>::open(name("pong"), &options).unwrap();
    peer.wait_until_ready();
    for number in 0..ROUNDS {
        let asked = Stamp { sequence: number, sent_ns: monotonic_ns() };
        ping.try_send(asked).unwrap();
        let Received { message, sequence, sent_ns, publisher: _ } = pong.recv_timeout(PATIENCE).unwrap();
        assert_eq!((message, sequence), (asked, number));
        assert!(asked.sent_ns <= sent_ns && sent_ns <= monotonic_ns(), "the answer was stamped after the question");
    }
    assert_eq!(pong.missed(), 0);
    peer.finish();
    assert!(!pong.is_published().unwrap());
    drop((ping, pong));
    assert_eq!(peers::files_in(files.path()), 0);
}
