//! A member of the topics' group truncates a segment that others use: they go on without it, and can ask why.
#![cfg(not(loom))]

mod common;

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use common::{MAKING, Message, Scratch, message};
use horus_shm::board::{self, Board};
use horus_shm::ends::Making;
use horus_shm::error::OpenError;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::sync::Ordering;

/// Runs a test of this file in a process of its own, which may end by a signal.
fn alone(test: &str) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let done = command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).output().unwrap();
    print!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    done.status
}

fn truncate(path: &std::path::Path, bytes: u64) {
    File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn a_truncated_topic_ends_none_of_its_users() {
    assert!(alone("a_process_uses_a_topic_that_is_truncated").success());
}

#[test]
#[ignore = "a process of its own, which the test above starts"]
fn a_process_uses_a_topic_that_is_truncated() {
    for policy in [DeliveryPolicy::Latest, DeliveryPolicy::Reliable] {
        let scratch = Scratch::new();
        let mut publisher = scratch.publish_as(&Making { policy, capacity: 256, ..MAKING }).unwrap();
        let mut subscriber = scratch.subscribe().unwrap();
        publisher.try_send(&message(1), 0).unwrap();
        assert!(subscriber.try_recv::<Message>().is_some());
        assert!(publisher.check().is_ok() && subscriber.check().is_ok());
        truncate(&scratch.file(), 0);
        for number in 2..1_000 {
            let _ = publisher.try_send(&message(number), 0);
            let _ = subscriber.try_recv::<Message>();
        }
        for answer in [publisher.check(), subscriber.check()] {
            assert!(matches!(answer, Err(OpenError::CutOff { .. })), "{answer:?}");
        }
        // A process that comes next is told, or makes it anew; no segment of this process is in the way of another.
        let _ = scratch.subscribe();
        drop((publisher, subscriber));
    }
    let scratch = Scratch::new();
    let board = Board::make(&scratch.directory, &scratch.name, 10_000).unwrap().unwrap();
    truncate(&board::list(&scratch.directory).unwrap()[0], 8);
    board.words().iter().for_each(|word| word.store(1, Ordering::Relaxed));
    assert_eq!(board.words()[9_999].load(Ordering::Relaxed), 1, "its owner's own");
}

#[test]
fn a_fault_elsewhere_ends_the_process_as_ever() {
    let status = alone("a_process_touches_another_file_that_is_truncated");
    assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
}

/// A process whose segments are guarded, and that leaves no core.
fn guarded() -> Scratch {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) };
    let scratch = Scratch::new();
    drop(scratch.publish().unwrap());
    scratch
}

#[test]
#[ignore = "a process of its own, which the test above starts"]
fn a_process_touches_another_file_that_is_truncated() {
    let scratch = guarded();
    let path = scratch.files.path().join("other");
    let file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    file.set_len(4096).unwrap();
    let map = memmap2::MmapOptions::new().len(4096).map_raw(&file).unwrap();
    truncate(&path, 0);
    // SAFETY: one byte of a mapping; its page is gone, which is what ends this process.
    let byte = unsafe { map.as_ptr().read_volatile() };
    unreachable!("it read {byte}");
}

/// Sends the signal to this thread, whose handler returns.
fn be_sent_the_signal() {
    // SAFETY: a number of a signal; what the handler does is the guard's affair.
    assert_eq!(unsafe { libc::raise(libc::SIGBUS) }, 0);
}

#[test]
fn a_signal_that_was_sent_takes_the_guard_from_nobody() {
    assert!(alone("a_process_is_sent_the_signal_and_then_its_topic_is_truncated").success());
    // As without the guard: the handler of Rust's runtime goes at the first signal, and the second one ends the process.
    assert_eq!(alone("a_process_is_sent_the_signal_twice").signal(), Some(libc::SIGBUS));
}

#[test]
#[ignore = "a process of its own, which the test above starts"]
fn a_process_is_sent_the_signal_and_then_its_topic_is_truncated() {
    let scratch = guarded();
    let mut publisher = scratch.publish().unwrap();
    be_sent_the_signal();
    truncate(&scratch.file(), 0);
    let _ = publisher.try_send(&message(1), 0);
    assert!(matches!(publisher.check(), Err(OpenError::CutOff { .. })));
}

#[test]
#[ignore = "a process of its own, which the test above starts"]
fn a_process_is_sent_the_signal_twice() {
    let _scratch = guarded();
    be_sent_the_signal();
    be_sent_the_signal();
}
