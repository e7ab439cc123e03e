//! Topics come and go: who may join, what is left when they leave, and what happens without room.
#![cfg(not(loom))]

use std::process::Command;
use std::time::Duration;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::endpoint::{Joining, Kind, Making, Reader, Writer};
use horus_shm::error::OpenError;
use horus_shm::layout::{MAX_SUBSCRIBERS, Policy};
use horus_shm::map::Access;
use horus_shm::ring::Full;
use horus_shm::sweep::sweep;
use horus_shm::wait::Waiting;

type Message = [u64; 2];
const KIND: Kind<'static> = Kind { type_name: "test/Message", layout_hash: 7, description: "" };
const MAKING: Making =
    Making { capacity: 4, policy: Policy::Reliable, access: Access { mode: 0o600, group: None }, publishers: 1 };

fn scratch() -> (tempfile::TempDir, Directory) {
    let files = tempfile::tempdir().unwrap();
    let directory = Directory::at(files.path()).unwrap();
    (files, directory)
}

fn name() -> TopicName {
    "topic".parse().unwrap()
}

fn publish(directory: &Directory) -> Result<Writer<Message>, OpenError> {
    Writer::create_or_open(directory, &name(), KIND, &MAKING)
}

fn subscribe(directory: &Directory, wait: Duration) -> Result<Reader<Message>, OpenError> {
    Reader::open(directory, &name(), KIND, Joining { wait, history: 0, waiting: Waiting::Spin })
}

fn files_in(directory: &Directory) -> usize {
    std::fs::read_dir(directory.path()).unwrap().count()
}

/// How often the lane has had a new publisher: the word behind its owner's identity.
fn epoch(publisher: &Writer<Message>) -> u64 {
    let word = publisher.segment().header().shape.lane(0) + 24;
    let bytes = std::fs::read(publisher.segment().path()).unwrap();
    u64::from_ne_bytes(bytes[word..word + 8].try_into().unwrap())
}

#[test]
fn last_one_out_removes_the_file_in_any_order() {
    let (_files, directory) = scratch();
    for publisher_first in [true, false] {
        let publisher = publish(&directory).unwrap();
        let subscriber = subscribe(&directory, Duration::ZERO).unwrap();
        assert_eq!(files_in(&directory), 1);
        if publisher_first {
            drop(publisher);
            assert_eq!((files_in(&directory), subscriber.is_published().unwrap()), (1, false));
            drop(subscriber);
        } else {
            drop(subscriber);
            assert_eq!((files_in(&directory), publisher.subscribers().unwrap()), (1, 0));
            drop(publisher);
        }
        assert_eq!(files_in(&directory), 0);
    }
}

#[test]
fn second_publisher_is_refused_while_the_first_lives() {
    let (_files, directory) = scratch();
    let first = publish(&directory).unwrap();
    let Err(OpenError::PublishersFull { pid, .. }) = publish(&directory) else { panic!("two publishers") };
    assert_eq!(pid, std::process::id());
    drop(first);
    drop(publish(&directory).unwrap());
}

#[test]
fn replaced_publisher_goes_on_with_the_next_number() {
    let (_files, directory) = scratch();
    let mut first = publish(&directory).unwrap();
    let mut subscriber = subscribe(&directory, Duration::ZERO).unwrap();
    assert_eq!(first.try_send([0; 2], 0), Ok(0));
    drop(first);
    let mut second = publish(&directory).unwrap();
    assert_eq!((epoch(&second), second.try_send([1; 2], 0)), (2, Ok(1)));
    let received: Vec<_> = std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.sequence).collect();
    assert_eq!(received, [0, 1]);
}

#[test]
fn subscriber_waits_for_its_publisher_and_gives_up_with_an_error_that_says_so() {
    let (_files, directory) = scratch();
    let error = subscribe(&directory, Duration::from_millis(5)).err().unwrap();
    assert!(matches!(&error, OpenError::NotFound { waited, .. } if *waited >= Duration::from_millis(5)), "{error}");
    assert!(error.to_string().contains("start the publisher"), "{error}");
    let elsewhere = directory.clone();
    let waiting = std::thread::spawn(move || subscribe(&elsewhere, Duration::from_secs(60)));
    let mut publisher = publish(&directory).unwrap();
    let mut subscriber = waiting.join().unwrap().unwrap();
    publisher.try_send([5; 2], 9).unwrap();
    assert_eq!(subscriber.recv_timeout(Duration::from_secs(60)).unwrap().message, [5; 2]);
}

#[test]
fn as_many_subscribers_as_there_are_places_and_no_more() {
    let (_files, directory) = scratch();
    let mut publisher = publish(&directory).unwrap();
    let mut subscribers: Vec<_> =
        (0..MAX_SUBSCRIBERS).map(|_| subscribe(&directory, Duration::ZERO).unwrap()).collect();
    let error = subscribe(&directory, Duration::ZERO).err().unwrap();
    assert!(matches!(error, OpenError::SubscribersFull { subscribers: MAX_SUBSCRIBERS, .. }), "{error}");
    publisher.try_send([1; 2], 0).unwrap();
    assert!(subscribers.iter_mut().all(|subscriber| subscriber.try_recv().is_some_and(|got| got.message == [1; 2])));
    subscribers.pop();
    drop(subscribe(&directory, Duration::ZERO).unwrap());
}

#[test]
fn send_waits_its_limit_and_gives_the_value_back() {
    let (_files, directory) = scratch();
    let mut publisher = publish(&directory).unwrap();
    let mut subscriber = subscribe(&directory, Duration::ZERO).unwrap();
    (0..4).for_each(|i| assert_eq!(publisher.send([i; 2], 0, Duration::ZERO, Waiting::Spin), Ok(i)));
    assert_eq!(publisher.send([4; 2], 0, Duration::from_millis(3), Waiting::Spin), Err(Full([4; 2])));
    let reader = std::thread::spawn(move || subscriber.recv_timeout(Duration::from_secs(60)).unwrap().sequence);
    assert_eq!(publisher.send([4; 2], 0, Duration::from_secs(60), Waiting::Spin), Ok(4));
    assert_eq!(reader.join().unwrap(), 0);
}

#[test]
fn sweep_leaves_topics_in_use_and_foreign_files_alone() {
    let (_files, directory) = scratch();
    let publisher = publish(&directory).unwrap();
    std::fs::write(directory.path().join("notes.txt"), "mine").unwrap();
    let swept = sweep(&directory).unwrap();
    assert_eq!((swept.removed.len(), swept.kept.len(), swept.unjudged.len()), (0, 1, 0));
    assert_eq!(publisher.segment().path(), swept.kept[0]);
    assert_eq!(files_in(&directory), 2);
}

#[test]
fn file_of_a_dead_process_is_swept_or_replaced() {
    let (_files, directory) = scratch();
    let saved = directory.path().join("saved");
    for open_again in [false, true] {
        // The bytes of a topic whose publisher, in its record, started before this process did.
        let publisher = publish(&directory).unwrap();
        let path = publisher.segment().path().to_owned();
        let shape = publisher.segment().header().shape;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[shape.lane(0) + 8] ^= 1;
        drop(publisher);
        std::fs::write(&saved, &bytes).unwrap();
        std::fs::rename(&saved, &path).unwrap();
        if open_again {
            let fresh = publish(&directory).unwrap();
            assert_eq!((epoch(&fresh), fresh.position()), (1, 0), "nothing of the dead is taken over");
        } else {
            assert!(matches!(subscribe(&directory, Duration::ZERO), Err(OpenError::NotFound { .. })));
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(sweep(&directory).unwrap().removed, [path]);
        }
        assert_eq!(files_in(&directory), 0);
    }
}

#[test]
fn segment_locked_by_a_stopped_process_is_an_error_and_not_a_hang() {
    let (_files, directory) = scratch();
    let publisher = publish(&directory).unwrap();
    let file = std::fs::File::open(publisher.segment().path()).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(matches!(subscribe(&directory, Duration::ZERO), Err(OpenError::Busy { .. })));
    rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).unwrap();
    drop(subscribe(&directory, Duration::ZERO).unwrap());
}

#[test]
fn handles_dropped_while_somebody_holds_the_lock_leave_no_member_behind() {
    let (_files, directory) = scratch();
    let mut publisher = publish(&directory).unwrap();
    let subscriber = subscribe(&directory, Duration::ZERO).unwrap();
    (0..4).for_each(|i| assert_eq!(publisher.try_send([i; 2], 0), Ok(i)));
    assert!(publisher.try_send([4; 2], 0).is_err(), "the subscriber holds the lane");
    let file = std::fs::File::open(publisher.segment().path()).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    drop(subscriber);
    assert_eq!(publisher.try_send([4; 2], 0), Ok(4), "it holds the lane no longer, although this process lives");
    drop(publisher);
    rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).unwrap();
    let fresh = publish(&directory).unwrap();
    assert_eq!((epoch(&fresh), fresh.position()), (1, 0), "nobody was left in the old segment");
    drop(fresh);
    assert_eq!(files_in(&directory), 0);
}

#[test]
fn publisher_dropped_while_somebody_holds_the_lock_gives_up_its_lane() {
    let (_files, directory) = scratch();
    let mut publisher = publish(&directory).unwrap();
    let mut subscriber = subscribe(&directory, Duration::ZERO).unwrap();
    publisher.try_send([0; 2], 0).unwrap();
    let file = std::fs::File::open(publisher.segment().path()).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    drop(publisher);
    rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).unwrap();
    assert!(!subscriber.is_published().unwrap());
    assert_eq!(publish(&directory).unwrap().try_send([1; 2], 0), Ok(1));
    assert_eq!(std::iter::from_fn(|| subscriber.try_recv()).count(), 2);
}

/// Runs in a process of its own, with a file system of 64 KiB.
#[test]
#[ignore = "started by full_file_system_is_an_error_before_anything_is_mapped"]
fn in_a_small_file_system() {
    let directory = Directory::at(std::env::var_os("SMALL_FILE_SYSTEM").unwrap()).unwrap();
    let making = Making { capacity: 1 << 14, ..MAKING };
    let error = Writer::<Message>::create_or_open(&directory, &name(), KIND, &making).err().unwrap();
    assert!(matches!(error, OpenError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("smaller capacity"), "{error}");
    assert_eq!(files_in(&directory), 0);
    drop(publish(&directory).unwrap());
}

#[test]
fn full_file_system_is_an_error_before_anything_is_mapped() {
    let (files, _directory) = scratch();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-ec", script]).env("SMALL_FILE_SYSTEM", files.path());
        command.env("TEST", std::env::current_exe().unwrap());
        command.output()
    };
    let mount = r#"mount -t tmpfs -o size=64k,mode=0700 none "$SMALL_FILE_SYSTEM""#;
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        println!("skipped: this machine permits no mount in a namespace (unprivileged container)");
        return;
    }
    let run = format!(r#"{mount}; "$TEST" --exact in_a_small_file_system --ignored"#);
    let output = unshare(&run).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
