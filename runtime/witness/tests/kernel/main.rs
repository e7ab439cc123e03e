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

    let begun = Instant::now();
    let storm = (5..205).map(|number| cycle(&socket, &mut marker, number, || ()).0);
    let unread = storm.filter(|verdict| verdict.confidence == Confidence::None).count();
    println!("200 misses were answered in {:?}, {unread} without a look at the trace", begun.elapsed());
    assert!(200 - unread as u64 <= 5 * (begun.elapsed().as_secs() + 2), "a storm is not read");

    // Frozen, and nobody asks: after five seconds it goes on.
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
    assert_eq!(ended, 4);
}
