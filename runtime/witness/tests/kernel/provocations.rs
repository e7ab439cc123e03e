//! Provocations with real-time priorities, which take a CPU away from all others: for a virtual machine of its own, as root, by
//! `--ignored --test-threads=1`. They end when the whole image's tests provoke the same.

use std::process::{Command, Stdio};
use std::thread;

use horus::time::MonotonicTime;
use horus::witness::protocol::{Confidence, Kind};
use rustix::thread::gettid;
use rustix::time::{ClockId, Timespec};

use super::service::*;

const MS: u64 = 1_000_000;

/// Makes this thread a FIFO one.
fn fifo(priority: u32) {
    let tid = gettid().as_raw_nonzero().get().to_string();
    let status = Command::new("chrt").args(["-f", "-p", &priority.to_string(), &tid]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success(), "chrt cannot set FIFO {priority}: run this as root");
}

fn sleep_until(ns: u64) {
    let at = Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &at).unwrap();
}

fn spin_until(ns: u64) {
    while MonotonicTime::now().as_nanos() < ns {
        std::hint::spin_loop();
    }
}

#[test]
#[ignore = "takes a CPU with real-time priority: for a virtual machine of its own"]
fn a_more_urgent_thread_that_computes_at_the_release_is_named() {
    if let Some(reason) = obstacle() {
        println!("skipped: {reason}");
        return;
    }
    let service = Service::start();
    bind_to(cpu());
    let socket = service.connect();
    let mut marker = enrol(&socket);
    fifo(80);
    for round in 0..3 {
        let release = MonotonicTime::now().as_nanos() + 1_000 * MS;
        let hog = thread::Builder::new().name("hog".to_owned()).spawn(move || {
            bind_to(cpu());
            fifo(90);
            sleep_until(release - MS);
            spin_until(release + 5 * MS);
        });
        sleep_until(release);
        let wake = MonotonicTime::now().as_nanos();
        let (verdict, words) = ask(&socket, &mut marker, round, release, wake, None);
        let first = &verdict.shares[0];
        assert!(
            first.kind == Kind::Task && first.name.starts_with("hog/") && first.ns > 4 * MS,
            "{words}: {verdict:#?}"
        );
        assert_eq!(first.detail.as_deref(), Some("FIFO 90"));
        assert_eq!(verdict.confidence, Confidence::High, "{verdict:#?}");
        hog.unwrap().join().unwrap();

        let release = MonotonicTime::now().as_nanos() + 1_000 * MS;
        sleep_until(release);
        let wake = MonotonicTime::now().as_nanos();
        spin_until(wake + 3 * MS);
        let (verdict, words) = ask(&socket, &mut marker, 100 + round, release, wake, Some(MS));
        let own = verdict.shares.iter().find(|share| share.kind == Kind::OwnCode && share.is_suspect).unwrap();
        assert!(own.ns > 2 * MS, "{words}: {verdict:#?}");
    }
    drop(marker);
    service.end();
}
