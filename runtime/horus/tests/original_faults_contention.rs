//! P9 of the original HORUS: every send took a lock that the whole process shares, so that two threads on *unrelated*
//! topics slowed each other down by half, and on a real-time path waited for a mutex without priority inheritance.
//!
//! A lock that threads of a process contend for sleeps in the kernel. So the threads here give up every system call but
//! `read`, `write` and `exit` (seccomp's strict mode) before their first message: the kernel ends a thread that makes
//! any other. No time is measured; the test cannot be disturbed by what else the machine does.

mod peers;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use horus::message::Stamp;
use horus::topic::{Options, Publisher, Subscriber};
use peers::{PATIENCE, Peer};
use rustix::thread::{SecureComputingMode, set_secure_computing_mode};

const MESSAGES: u64 = 200_000;

/// What a thread that gave up its system calls has to say.
#[derive(Default)]
struct Confined {
    thread: AtomicU64,
    done: AtomicBool,
}

impl Confined {
    /// Runs `work` without system calls, for ever: the thread could not even end properly.
    fn run(&self, work: impl FnOnce()) {
        self.thread.store(rustix::thread::gettid().as_raw_nonzero().get() as u64, Ordering::Release);
        set_secure_computing_mode(SecureComputingMode::Strict).unwrap();
        work();
        self.done.store(true, Ordering::Release);
        loop {
            std::hint::spin_loop();
        }
    }

    /// Waits for the end of the work; false when the kernel ended the thread.
    fn ended_well(&self) -> bool {
        let started = Instant::now();
        while !self.done.load(Ordering::Acquire) {
            let thread = self.thread.load(Ordering::Acquire);
            if thread != 0 && !std::path::Path::new(&format!("/proc/self/task/{thread}")).exists() {
                return self.done.load(Ordering::Acquire);
            }
            assert!(started.elapsed() < PATIENCE, "neither done nor ended");
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        true
    }
}

/// Ends the process; what is left of its threads spins.
fn leave_with(fine: bool) -> ! {
    std::process::exit(i32::from(!fine))
}

#[test]
#[ignore = "a peer"]
fn peer_uses_two_unrelated_topics_in_two_confined_threads() {
    let options = Options::reliable(16).directory(peers::directory());
    let confined: &[Confined; 2] = Box::leak(Box::default());
    for (thread, topic) in confined.iter().zip(["left", "right"]) {
        let mut publisher = Publisher::<Stamp>::open(topic, &options).unwrap();
        let mut subscriber = Subscriber::<Stamp>::open(topic, &options).unwrap();
        std::thread::spawn(move || {
            thread.run(|| {
                for number in 0..MESSAGES {
                    let stamp = Stamp { sequence: number, sent_ns: 0 };
                    // With a time at hand: on some virtual machines even reading the clock is a system call.
                    let sent = publisher.try_send_stamped(stamp, 0).is_ok();
                    let received = subscriber.try_recv().is_some_and(|received| received.message == stamp);
                    if !(sent && received) {
                        std::process::abort(); // a panic would make system calls too
                    }
                }
            });
        });
    }
    leave_with(confined.iter().all(Confined::ended_well));
}

#[test]
#[ignore = "a peer"]
fn peer_locks_a_mutex_that_another_thread_holds() {
    let confined: &Confined = Box::leak(Box::default());
    let shared: &std::sync::Mutex<u64> = Box::leak(Box::default());
    let held = shared.lock().unwrap();
    std::thread::spawn(|| confined.run(|| *shared.lock().unwrap() += 1));
    let fine = confined.ended_well();
    drop(held);
    leave_with(fine);
}

/// **P9.** There: 19 ns a message became 35 to 54 ns when a second thread used an unrelated topic.
#[test]
fn threads_on_unrelated_topics_make_no_system_call_and_so_wait_for_no_lock() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    Peer::start("peer_uses_two_unrelated_topics_in_two_confined_threads", files.path(), "reliable").finish();
}

#[test]
fn the_confinement_finds_a_thread_that_waits_for_a_lock() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let peer = Peer::start("peer_locks_a_mutex_that_another_thread_holds", files.path(), "reliable");
    assert!(!peer.ended_with_success());
}
