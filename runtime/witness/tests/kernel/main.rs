//! The witness against the kernel of the machine that runs the test. Where that has no tracer, or a witness of its own, nothing is
//! tested and the reason is printed.

mod provocations;
mod service;

use std::io::{IoSlice, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use horus::time::MonotonicTime;
use horus::witness::protocol::{Answer, Confidence, Kind, MAX_PACKET, Missed, Request, Thread};
use horus_witness::{Config, Listen, Notice, serve};
use rustix::net::RecvFlags;
use rustix::thread::gettid;

use service::*;

/// Touches pages that are not mapped yet.
fn touch_pages() {
    let mut pages = vec![0_u8; 512 * 4096];
    for page in pages.chunks_mut(4096) {
        page[0] = 1;
    }
    std::hint::black_box(pages);
}

#[test]
fn the_kernel_of_this_machine_names_who_had_the_cpu() {
    if let Some(reason) = obstacle() {
        println!("skipped: {reason}");
        return;
    }
    println!("CPU {} is traced", cpu());
    let service = Service::start();
    bind_to(cpu());
    let socket = service.connect();
    let mut marker = enrol(&socket);

    let (verdict, _) = cycle(&socket, &mut marker, 1, || compute(Duration::from_millis(2)));
    assert_ne!(verdict.confidence, Confidence::None, "{verdict:#?}");
    let own = verdict.shares.iter().find(|share| share.kind == Kind::OwnCode).unwrap();
    assert!(own.ns > 0, "{verdict:#?}");
    let kept = verdict.trace.expect("the trace is kept");
    reported(Path::new(&kept));

    let (verdict, words) = cycle(&socket, &mut marker, 2, || pause(Duration::from_millis(20)));
    let wait = verdict.shares.iter().find(|share| share.kind == Kind::OwnWait).unwrap();
    assert!(wait.ns > 15_000_000, "{words}: {verdict:#?}");

    let over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&over);
    let hog = thread::Builder::new().name("hog".to_owned()).spawn(move || {
        bind_to(cpu());
        while !seen.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    compute(Duration::from_millis(50));
    let (verdict, words) = cycle(&socket, &mut marker, 3, || compute(Duration::from_millis(60)));
    over.store(true, Ordering::Relaxed);
    hog.unwrap().join().unwrap();
    let task = verdict.shares.iter().find(|share| share.kind == Kind::Task && share.name.starts_with("hog/"));
    assert!(task.is_some_and(|task| task.ns > 1_000_000 && task.is_suspect), "{words}: {verdict:#?}");

    let (verdict, words) = cycle(&socket, &mut marker, 4, touch_pages);
    let by_probe = verdict.shares.iter().any(|share| share.kind == Kind::MinorFault && share.ns > 0);
    let by_count = verdict.shares.iter().any(|share| share.detail.as_ref().is_some_and(|text| text.contains("faults")));
    println!("faults are seen by their probes: {by_probe}");
    assert!(by_probe || by_count || cfg!(not(target_arch = "x86_64")), "{words}: {verdict:#?}");

    // Another node of this CPU misses by the same culprit, and ends a little later: it is answered from the same window.
    let release_ns = MonotonicTime::now().as_nanos();
    compute(Duration::from_millis(3));
    let (first, _) = ask(&socket, &mut marker, 50, release_ns, release_ns, Some(1_000));
    let (second, words) = ask(&socket, &mut marker, 51, release_ns, release_ns, Some(1_000));
    let own = |verdict: &horus::witness::protocol::Verdict| {
        verdict.shares.iter().find(|share| share.kind == Kind::OwnCode).map_or(0, |share| share.ns)
    };
    assert!(own(&second) * 10 > own(&first) * 9 && own(&first) > 0, "{words}: {first:#?} {second:#?}");
    assert_eq!(first.trace, second.trace, "one window, one file");

    let begun = Instant::now();
    let storm = (5..205).map(|number| cycle(&socket, &mut marker, number, || ()).0);
    let unread = storm.filter(|verdict| verdict.confidence == Confidence::None).count();
    println!("200 misses were answered in {:?}, {unread} without a look at the trace", begun.elapsed());
    assert!(200 - unread as u64 <= 5 * (begun.elapsed().as_secs() + 2), "a storm is not read");

    // Frozen, and no program asks: after five seconds it goes on.
    marker.write_all(b"x").unwrap();
    pause(Duration::from_secs(8));
    drop(socket);
    let notices = service.end();
    assert!(notices.contains(&Notice::Started { cpus: cpu().to_string().parse().unwrap() }), "{notices:?}");
    assert!(notices.contains(&Notice::Thawed { cpu: cpu() }), "{notices:?}");
    notices.iter().for_each(|notice| println!("{notice}"));

    // The program outlives the witness: its descriptor works with the next one.
    let service = Service::start();
    let socket = service.connect();
    drop(enrol(&socket));
    let (verdict, words) = cycle(&socket, &mut marker, 300, || compute(Duration::from_millis(2)));
    assert_ne!(verdict.confidence, Confidence::None, "{words}: {verdict:#?}");
    drop((marker, socket));
    service.end();
    assert_eq!(obstacle(), None, "nothing of the witness is left");
}

/// Has `trace-cmd` read a kept trace, where there is one.
fn reported(trace: &Path) {
    let Ok(report) = Command::new("trace-cmd").arg("report").arg("-i").arg(trace).output() else {
        println!("skipped: no trace-cmd here");
        return;
    };
    let text = String::from_utf8_lossy(&report.stdout);
    let complaint = String::from_utf8_lossy(&report.stderr);
    assert!(report.status.success(), "{complaint}");
    assert!(text.contains("sched_switch") && text.contains("print:"), "{text}\n{complaint}");
    println!("{}", text.lines().rev().take(8).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_tracer_that_takes_nothing_is_told_and_programs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tracefs = folder.path().join("tracing");
    // As a tracer looks that may be read only: what is read is there, and nothing can be set.
    for part in ["instances", "events"] {
        std::fs::create_dir_all(tracefs.join(part)).unwrap();
    }
    for part in ["events/header_page", "events/header_event"] {
        std::fs::write(tracefs.join(part), "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n").unwrap();
    }
    let service = Service::of(folder, tracefs);
    let socket = service.connect();
    let tid = gettid().as_raw_nonzero().get() as u32;
    say(&socket, &Request::Enrol { program: "x".to_owned(), threads: vec![Thread { tid, cpu: cpu() }] });
    let (Answer::Refused { reason }, descriptors) = hear(&socket) else { panic!("nothing can be set") };
    assert!(!reason.is_empty() && descriptors.is_empty());
    let notices = service.end();
    let told = |notice: &Notice| matches!(notice, Notice::NotTraced { cpu: Some(_), .. });
    assert!(notices.iter().any(told), "{notices:?}");
}

/// A disk of a megabyte, until it is dropped; `None` where this machine mounts none.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path()).output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_trace_that_finds_a_full_disk_leaves_nothing_and_the_next_one_has_room_again() {
    let Some(disk) = SmallDisk::new() else {
        println!("skipped: nothing can be mounted here");
        return;
    };
    let folder = disk.0.path();
    let flight = horus_witness::flight::Flight::new(folder.to_owned(), 1 << 30).unwrap();
    let missed = |cycle| Missed {
        node: "x/y".to_owned(),
        tid: 1,
        cpu: 0,
        cycle,
        release_ns: 0,
        wake_ns: 0,
        completion_ns: 9,
        deadline_ns: 7,
        budget_ns: None,
    };
    let path = flight.keep(&missed(1), &[1; 400_000], Some(b"{}")).unwrap();
    let error = flight.keep(&missed(2), &[1; 800_000], Some(b"{}")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(std::fs::read(&path).unwrap().len(), 400_000);
    assert!(flight.keep(&missed(3), &[1; 400_000], None).unwrap().exists());
}

#[test]
fn a_program_that_does_wrong_loses_its_own_connection_only() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        tracefs: folder.path().join("no-tracer"),
        cpus: vec![0],
        traces: folder.path().join("flight"),
        quota_bytes: 1 << 20,
        listen: Listen::Path(folder.path().join("socket")),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        let mut notices = Vec::new();
        serve(config, &seen, &mut |notice| notices.push(notice)).unwrap();
        notices
    });
    let service = Service { folder, stop, thread: Some(thread) };
    let good = service.connect();
    let closed = |packet: &[u8]| {
        let bad = service.connect();
        rustix::net::sendmsg(&bad, &[IoSlice::new(packet)], &mut Default::default(), rustix::net::SendFlags::empty())
            .unwrap();
        let mut byte = [0];
        assert!(matches!(rustix::net::recv(&bad, &mut byte[..], RecvFlags::empty()), Ok((_, 0)) | Err(_)));
    };
    closed(b"no json");
    closed(&vec![b' '; MAX_PACKET + 1]);
    let foreign = Request::Enrol { program: "x".to_owned(), threads: vec![Thread { tid: 1, cpu: 0 }] };
    closed(&serde_json::to_vec(&foreign).unwrap());
    let tid = gettid().as_raw_nonzero().get() as u32;
    let times = Missed {
        node: "x/y".to_owned(),
        tid,
        cpu: 0,
        cycle: 1,
        release_ns: 5,
        wake_ns: 6,
        completion_ns: 9,
        deadline_ns: 7,
        budget_ns: None,
    };
    closed(&serde_json::to_vec(&Request::Missed(times.clone())).unwrap());

    say(&good, &Request::Enrol { program: "x".to_owned(), threads: vec![Thread { tid, cpu: 0 }] });
    let (Answer::Refused { reason }, descriptors) = hear(&good) else { panic!("there is no tracer") };
    assert!(reason.contains("tracer") && descriptors.is_empty(), "{reason}");
    say(&good, &Request::Missed(times));
    let (Answer::Verdict(verdict), _) = hear(&good) else { panic!("no verdict") };
    assert_eq!(
        (verdict.confidence, verdict.shares[0].kind, verdict.shares[0].ns),
        (Confidence::None, Kind::Unknown, 4)
    );
    drop(good);
    let ended = service.end().into_iter().filter(|notice| matches!(notice, Notice::Ended { .. })).count();
    // The first is told, and of the others as many as came a second after the one before.
    assert!((1..=4).contains(&ended), "{ended}");
}
