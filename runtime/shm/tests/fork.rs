//! Processes that fork while they use topics: a child has no part in its parent's topics, and keeps no peer alive.
#![cfg(not(loom))]

mod common;

use common::{MAKING, Message, Scratch, message, received};
use horus_shm::ends::Making;
use horus_shm::error::OpenError;
use horus_shm::peers::clean::clean;
use horus_shm::segment::layout::DeliveryPolicy;

const LATEST: Making = Making { policy: DeliveryPolicy::Latest, capacity: 256, ..MAKING };

/// Runs `work` in a child made by `fork`; returns the status that waitpid(2) tells.
fn in_a_child(work: impl FnOnce()) -> i32 {
    // SAFETY: the child runs `work`, which takes no lock that another thread of the test could have held, and ends by _exit.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no fork");
    if child == 0 {
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure is ours.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) };
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends this process without running its parent's destructors.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    wait_for(child)
}

fn wait_for(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: the status is ours, the child is this process's.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

#[test]
fn child_that_sends_or_receives_ends_at_once_and_its_parent_loses_nothing() {
    let scratch = Scratch::new();
    let mut publisher = scratch.publish_as(&LATEST).unwrap();
    let mut subscriber = scratch.subscribe().unwrap();
    for number in 0..100 {
        publisher.try_send(&message(number), 0).unwrap();
        if number % 25 == 0 {
            let status = in_a_child(|| assert!(publisher.try_send(&message(1 << 60), 0).is_ok()));
            assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "status {status}");
            let status = in_a_child(|| assert!(subscriber.try_recv::<Message>().is_none()));
            assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "status {status}");
        }
    }
    assert_eq!(received(&mut subscriber), (0..100).collect::<Vec<_>>());
}

#[test]
fn child_is_told_that_a_handle_is_its_parents_and_may_drop_it_and_open_its_own() {
    let scratch = Scratch::new();
    let making = Making { publishers: 2, ..LATEST };
    let mut publisher = Some(scratch.publish_as(&making).unwrap());
    let mut subscriber = scratch.subscribe().unwrap();
    let status = in_a_child(|| {
        let handle = publisher.as_mut().unwrap();
        let asked = [subscriber.check(), subscriber.is_published().map(drop)];
        for answer in [handle.check(), handle.subscribers().map(drop)].into_iter().chain(asked) {
            assert!(matches!(answer, Err(OpenError::Forked { .. })));
        }
        assert_eq!(handle.reap(), 0);
        drop(publisher.take());
        let mut own = scratch.publish_as(&making).expect("the other lane is free");
        assert!(own.check().is_ok());
        own.try_send(&message(7), 0).unwrap();
    });
    assert_eq!(status, 0, "the child found nothing wrong");
    assert_eq!(received(&mut subscriber), [7]);
    let mut publisher = publisher.unwrap();
    assert_eq!((publisher.check().is_ok(), publisher.subscribers().unwrap()), (true, 1), "its parent's is as it was");
    publisher.try_send(&message(8), 0).unwrap();
    assert_eq!(received(&mut subscriber), [8]);
}

#[test]
fn inherited_handle_never_writes_into_what_the_child_opened_since() {
    let scratch = Scratch::new();
    let other = Scratch::new();
    let mut inherited = scratch.publish().unwrap();
    let mut theirs = other.publish().unwrap();
    let mut reader = other.subscribe().unwrap();
    let status = in_a_child(|| {
        // As large as what the child has not got, and as many: the kernel would put one of them there.
        let _own: Vec<_> = (0..4).map(|_| other.subscribe().unwrap()).collect();
        assert!(inherited.try_send(&message(666), 0).is_err(), "it was sent");
    });
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "status {status}");
    assert_eq!(received(&mut reader), [] as [u64; 0]);
    theirs.reap();
    theirs.try_send(&message(1), 0).unwrap();
    assert_eq!(received(&mut reader), [1]);
}

#[test]
fn child_that_outlives_its_parent_keeps_no_lane() {
    let scratch = Scratch::new();
    let mut pipe = [0; 2];
    // SAFETY: the array has room for both descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    // The publisher's process makes a child, which lives until the pipe is closed, and ends without a destructor.
    let status = in_a_child(|| {
        let publisher = scratch.publish_as(&LATEST).unwrap();
        // SAFETY: the grandchild makes system calls only.
        if unsafe { libc::fork() } == 0 {
            let mut byte = 0_u8;
            // SAFETY: the descriptors are open, the byte is ours; ends without destructors.
            unsafe {
                libc::close(pipe[1]);
                libc::read(pipe[0], (&raw mut byte).cast(), 1);
                libc::_exit(0);
            }
        }
        std::mem::forget(publisher);
    });
    assert_eq!(status, 0);
    assert_eq!(scratch.files(), 1, "no process removed it");
    let heir = scratch.publish_as(&LATEST).expect("the lane is free at once");
    drop(heir);
    assert_eq!((scratch.files(), clean(&scratch.directory).unwrap().kept.len()), (0, 0));
    // SAFETY: the descriptors are open; closing the writing end lets the grandchild end.
    unsafe {
        libc::close(pipe[1]);
        libc::close(pipe[0]);
    }
}

#[test]
fn daemon_that_opened_its_topics_before_it_forked_ends_at_its_first_message() {
    let scratch = Scratch::new();
    let status = in_a_child(|| {
        let mut publisher = scratch.publish_as(&LATEST).unwrap();
        // As daemon(3): the parent ends, the child goes on. Here the parent waits, to tell of the child's end.
        let child = in_a_child(|| assert!(publisher.try_send(&message(1), 0).is_ok()));
        assert!(libc::WIFSIGNALED(child) && libc::WTERMSIG(child) == libc::SIGSEGV, "status {child}");
    });
    assert_eq!(status, 0);
}
