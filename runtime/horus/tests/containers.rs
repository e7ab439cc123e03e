//! Peers in other namespaces, as containers make them: who lives is seen from everywhere, and who dies leaves nothing.

mod peers;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use horus::message::Stamp;
use horus::service::{Client, Server};
use horus::time::MonotonicTime;
use horus::topic::{Directory, OpenError, Publisher, Subscriber, WaitStrategy};
use horus_shm::ends::observe::{Observation, Start};
use horus_shm::peers::clean::clean;
use peers::{CAPACITY, Home, PATIENCE, Peer, await_no_file, files_in, options_for};

const NAME: &str = "shared";
const BACK: &str = "back";
const LARGE: &str = "large";

fn publish(policy: &str, directory: &Path) -> Result<Publisher<Stamp>, OpenError> {
    Publisher::open(NAME, options_for(policy, directory))
}

/// Publishes one topic and subscribes to another, as nodes do, until it is killed.
#[test]
#[ignore = "a peer"]
fn peer_is_a_node() {
    let options = peers::options();
    let mut publisher = Publisher::<Stamp>::open(NAME, &options).unwrap();
    let _subscriber = Subscriber::<Stamp>::open(BACK, &options).unwrap();
    publisher.try_send(Stamp::default()).unwrap();
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

/// The other node: publishes what the first one hears, and the other way round.
#[test]
#[ignore = "a peer"]
fn peer_is_another_node() {
    let options = peers::options();
    let _publisher = Publisher::<Stamp>::open(BACK, &options).unwrap();
    let _subscriber = Subscriber::<Stamp>::open(NAME, &options).unwrap();
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

/// How often a message goes there and back.
const ROUNDS: u64 = 20;

/// Sends back what comes, with the age that it has by the clock here: received by copy and in place, sent from a variable and in place.
#[test]
#[ignore = "a peer"]
fn peer_tells_ages() {
    let options = peers::options();
    let mut publisher = Publisher::<Stamp>::open(BACK, options.clone().stamped()).unwrap();
    let mut subscriber = Subscriber::<Stamp>::open(NAME, &options).unwrap();
    let mut large = Subscriber::<Picture>::open(LARGE, &options).unwrap();
    peers::ready();
    for round in 0..ROUNDS {
        let sent_ns = if round % 2 == 0 {
            subscriber.recv_timeout(PATIENCE).unwrap().sent_ns
        } else {
            assert!(large.wait(PATIENCE));
            large.borrow().unwrap().sent_ns()
        };
        let age = MonotonicTime::now().as_nanos().checked_sub(sent_ns).expect("it was sent before it came");
        let answer = Stamp { sequence: round, sent_ns: age };
        if round % 3 == 0 {
            let mut loan = publisher.loan().unwrap();
            *loan = answer;
            loan.publish();
        } else {
            publisher.try_send(answer).unwrap();
        }
    }
}

#[test]
fn ages_of_messages_are_right_across_time_namespaces() {
    if !Home::Time.is_possible() {
        return;
    }
    let elsewhere = [(Home::Here, Home::Time), (Home::Time, Home::Here)];
    for ((asks, tells), policy) in
        elsewhere.into_iter().flat_map(|homes| ["reliable", "latest"].map(|policy| (homes, policy)))
    {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut peer = Peer::start_in(tells, "peer_tells_ages", files.path(), policy, None);
        peer.wait_until_ready();
        Peer::start_in(asks, "peer_asks_for_ages", files.path(), policy, None).finish();
        peer.finish();
    }
}

/// Answers two requests.
#[test]
#[ignore = "a peer"]
fn peer_answers() {
    let mut server = Server::<Stamp, Stamp>::open("ask", service()).unwrap();
    peers::ready();
    for _ in 0..2 {
        assert!(server.serve(PATIENCE, |request, answer| answer.send(request).unwrap()));
    }
}

/// Asks twice, and is told by a server that stops.
#[test]
#[ignore = "a peer"]
fn peer_asks() {
    let mut client = Client::<Stamp, Stamp>::open("ask", service()).unwrap();
    for sequence in 0..2 {
        let request = Stamp { sequence, ..Stamp::default() };
        assert_eq!(client.call(request, PATIENCE).unwrap().sequence, sequence);
    }
}

fn service() -> horus::service::Options {
    horus::service::Options::default().directory(peers::directory())
}

#[test]
fn services_answer_across_time_namespaces() {
    if !Home::Time.is_possible() {
        return;
    }
    for (asks, answers) in [(Home::Here, Home::Time), (Home::Time, Home::Here)] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut peer = Peer::start_in(answers, "peer_answers", files.path(), "reliable", None);
        peer.wait_until_ready();
        Peer::start_in(asks, "peer_asks", files.path(), "reliable", None).finish();
        peer.finish();
    }
}

/// The other side of it. Who observes the answers sees them at the same times.
#[test]
#[ignore = "a peer"]
fn peer_asks_for_ages() {
    let options = peers::options();
    let mut publisher = Publisher::<Stamp>::open(NAME, &options).unwrap();
    let mut large = Publisher::<Picture>::open(LARGE, &options).unwrap();
    let mut subscriber = Subscriber::<Stamp>::open(BACK, &options).unwrap();
    let file = Directory::at(peers::directory()).unwrap().file(&BACK.parse().unwrap());
    let mut observer = Observation::open(&file, Start::First).unwrap().unwrap();
    for round in 0..ROUNDS {
        let before = MonotonicTime::now().as_nanos();
        if round % 2 == 0 {
            publisher.try_send_stamped(Stamp::default(), before).unwrap();
        } else {
            large.try_send_stamped(Picture { words: [round; 1024] }, before).unwrap();
        }
        let back = subscriber.recv_timeout(PATIENCE).unwrap();
        let after = MonotonicTime::now().as_nanos();
        let age = back.message.sent_ns;
        assert!(age <= after - before, "a message of {age} ns, {} ns after it was sent", after - before);
        assert!((before + age..=after).contains(&back.sent_ns), "{} is not from {before} to {after}", back.sent_ns);
        let seen = observer.try_take(&mut [0; size_of::<Stamp>()]).unwrap();
        assert_eq!(seen.sent_ns, back.sent_ns);
    }
    // No time stays no time.
    drop(subscriber);
    let mut own = Subscriber::<Stamp>::open(NAME, &options).unwrap();
    publisher.try_send(Stamp::default()).unwrap();
    assert_eq!(own.recv_timeout(PATIENCE).unwrap().sent_ns, 0);
}

#[test]
fn nodes_killed_in_a_container_are_replaced_outside_at_once_and_leave_no_file() {
    for home in Home::ELSEWHERE.into_iter().filter(|home| home.is_possible()) {
        for policy in ["reliable", "latest"] {
            let files = tempfile::tempdir_in("/dev/shm").unwrap();
            let mut nodes = ["peer_is_a_node", "peer_is_another_node"].map(|role| {
                let mut node = Peer::start_in(home, role, files.path(), policy, None);
                node.wait_until_ready();
                node
            });
            nodes.iter_mut().for_each(Peer::kill);
            let options = options_for(policy, files.path());
            let publishers = [NAME, BACK].map(|name| Publisher::<Stamp>::open(name, &options).unwrap());
            let subscribers = [NAME, BACK].map(|name| Subscriber::<Stamp>::open(name, &options).unwrap());
            assert_eq!(publishers[0].subscribers().unwrap(), 1, "{home:?}: only the living count");
            drop((publishers, subscribers));
            await_no_file(files.path());
        }
    }
}

#[test]
fn topics_of_nodes_killed_in_a_container_are_cleaned_away() {
    for home in Home::ELSEWHERE.into_iter().filter(|home| home.is_possible()) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut node = Peer::start_in(home, "peer_is_a_node", files.path(), "latest", None);
        node.wait_until_ready();
        node.kill();
        assert_eq!(files_in(files.path()), 2, "no peer was left to remove them");
        assert_eq!(clean(&Directory::at(files.path()).unwrap()).unwrap().removed.len(), 2, "{home:?}");
        assert_eq!(files_in(files.path()), 0);
    }
}

#[test]
fn node_that_lives_in_a_container_is_never_declared_dead() {
    for home in Home::ELSEWHERE.into_iter().filter(|home| home.is_possible()) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut node = Peer::start_in(home, "peer_is_a_node", files.path(), "latest", None);
        node.wait_until_ready();
        let error = publish("latest", files.path()).err().expect("its only publisher lives");
        assert!(matches!(error, OpenError::PublishersFull { .. }), "{home:?}: {error}");
        if matches!(home, Home::Pids | Home::Users) {
            assert!(error.to_string().contains("another PID namespace"), "{error}");
        }
        let kept = clean(&Directory::at(files.path()).unwrap()).unwrap();
        assert_eq!((kept.removed.len(), kept.kept.len()), (0, 2), "{home:?}");
        let mut publisher = Publisher::<Stamp>::open(BACK, options_for("latest", files.path())).unwrap();
        assert_eq!((publisher.reap_dead_subscribers(), publisher.subscribers().unwrap()), (0, 1), "{home:?}");
        drop(publisher);
        node.kill();
    }
}

#[test]
fn subscriber_killed_in_a_container_holds_a_reliable_publisher_outside_no_longer() {
    for home in Home::ELSEWHERE.into_iter().filter(|home| home.is_possible()) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut node = Peer::start_in(home, "peer_is_a_node", files.path(), "reliable", None);
        node.wait_until_ready();
        let mut publisher = Publisher::<Stamp>::open(BACK, options_for("reliable", files.path())).unwrap();
        (0..CAPACITY).for_each(|_| publisher.try_send(Stamp::default()).unwrap());
        assert!(publisher.send_timeout(Stamp::default(), Duration::from_millis(5)).is_err(), "the living one holds it");
        node.kill();
        assert!(publisher.send_timeout(Stamp::default(), PATIENCE).is_ok(), "{home:?}");
    }
}

/// Opens the topic, then becomes another program that opens it again.
#[test]
#[ignore = "a peer"]
fn peer_executes_itself_anew() {
    let _publisher = publish(&peers::policy(), &peers::directory()).unwrap();
    let arguments = ["--exact", "peer_is_a_node", "--ignored", "--nocapture", "--test-threads=1"];
    panic!("{}", std::process::Command::new(std::env::current_exe().unwrap()).args(arguments).exec());
}

#[test]
fn program_that_executes_itself_anew_gets_its_own_topics_again() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut node = Peer::start("peer_executes_itself_anew", files.path(), "latest");
    node.wait_until_ready();
    node.kill();
}

/// Holds a picture in its place until it is killed.
#[test]
#[ignore = "a peer"]
fn peer_views_a_picture_for_ever() {
    let mut viewer = Subscriber::<Picture>::open(NAME, peers::options().history(1)).unwrap();
    let picture = viewer.borrow().unwrap();
    peers::ready();
    std::thread::park_timeout(PATIENCE);
    drop(picture);
}

horus::message! {
    /// Large enough to be held in place.
    struct Picture = "test/Picture" { words: [u64; 1024] }
}

#[test]
fn viewer_that_is_stopped_or_killed_while_it_holds_a_picture_never_stops_the_camera() {
    use rustix::process::Signal;
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options_for("latest", files.path()).wait_strategy(WaitStrategy::Spin);
    let mut camera = Publisher::<Picture>::open(NAME, &options).unwrap();
    let mut other = Subscriber::<Picture>::open(NAME, &options).unwrap();
    let mut take = |camera: &mut Publisher<Picture>| {
        for shot in 1..=1000 {
            let mut loan = camera.loan().expect("a viewer never stops a camera");
            loan.words.fill(shot);
            loan.publish();
            assert_eq!(other.recv_timeout(PATIENCE).unwrap().message.words, [shot; 1024]);
        }
        other.missed()
    };
    take(&mut camera);
    let mut viewer = Peer::start("peer_views_a_picture_for_ever", files.path(), "latest");
    viewer.wait_until_ready();
    let missed = take(&mut camera);
    viewer.signal(Signal::STOP);
    take(&mut camera);
    viewer.kill();
    let last = take(&mut camera);
    assert!(last > missed && missed > 0, "the numbers of the slot that is held are counted");
    assert_eq!(camera.reap_dead_subscribers(), 1);
    let reaped = take(&mut camera);
    assert!(reaped < last + CAPACITY as u64, "a slot that no subscriber holds is used again");
}
