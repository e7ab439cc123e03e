//! The witness against the kernel of the machine that runs the test. Where that has no tracer, or a witness of its own, nothing is
//! tested and the reason is printed.

use std::io::{IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use horus::time::MonotonicTime;
use horus::witness::protocol::{Answer, Confidence, Kind, MAX_PACKET, Missed, Request, Thread, Verdict};
use horus::witness::words;
use horus_witness::{Config, Listen, Notice, TRACEFS, serve};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

/// The CPU that is traced: the last one. The first answer counts, since it is about the thread that asks.
fn cpu() -> u32 {
    static LAST: OnceLock<u32> = OnceLock::new();
    *LAST.get_or_init(|| thread::available_parallelism().map_or(0, |count| count.get() as u32 - 1))
}

/// Why this machine's tracer is not to be used here, if so.
fn obstacle() -> Option<&'static str> {
    let instances = Path::new(TRACEFS).join("instances");
    let Ok(entries) = std::fs::read_dir(instances) else {
        return Some("no tracer at /sys/kernel/tracing, or no right to use it");
    };
    let is_ours = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("horus-cpu");
    entries.flatten().any(is_ours).then_some("a witness runs here already")
}

fn bind_to(cpu: u32) {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).unwrap();
}

/// A witness in a thread of its own.
struct Service {
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Notice>>>,
}

impl Service {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let config = Config {
            tracefs: PathBuf::from(TRACEFS),
            cpus: vec![cpu()],
            traces: folder.path().join("flight"),
            quota_bytes: 8 << 20,
            listen: Listen::Path(folder.path().join("socket")),
        };
        let seen = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut notices = Vec::new();
            serve(config, &seen, &mut |notice| notices.push(notice)).unwrap();
            notices
        });
        Self { folder, stop, thread: Some(thread) }
    }

    fn connect(&self) -> OwnedFd {
        let address = SocketAddrUnix::new(self.folder.path().join("socket")).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let socket =
                rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                    .unwrap();
            match rustix::net::connect(&socket, &address) {
                Ok(()) => return socket,
                Err(error) => assert!(Instant::now() < until, "the witness does not listen: {error}"),
            }
            thread::yield_now();
        }
    }

    fn end(mut self) -> Vec<Notice> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

fn say(socket: &OwnedFd, request: &Request) {
    rustix::io::write(socket, &serde_json::to_vec(request).unwrap()).unwrap();
}

fn hear(socket: &OwnedFd) -> (Answer, Vec<OwnedFd>) {
    let mut packet = vec![0; MAX_PACKET];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got =
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut packet)], &mut control, RecvFlags::empty()).unwrap();
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    (serde_json::from_slice(&packet[..got.bytes]).unwrap(), descriptors)
}

fn enrol(socket: &OwnedFd) -> std::fs::File {
    let tid = gettid().as_raw_nonzero().get() as u32;
    say(socket, &Request::Enrol { program: "test".to_owned(), threads: vec![Thread { tid, cpu: cpu() }] });
    let (answer, mut descriptors) = hear(socket);
    assert_eq!(answer, Answer::Enrolled { cpus: vec![cpu()] });
    assert_eq!(descriptors.len(), 1);
    descriptors.remove(0).into()
}

/// Runs `step` as a cycle that misses, freezes the trace and asks.
fn cycle(socket: &OwnedFd, marker: &mut std::fs::File, number: u64, step: impl FnOnce()) -> (Verdict, String) {
    let release_ns = MonotonicTime::now().as_nanos();
    step();
    let completion_ns = MonotonicTime::now().as_nanos();
    marker.write_all(b"x").unwrap();
    let missed = Missed {
        node: "test/node".to_owned(),
        tid: gettid().as_raw_nonzero().get() as u32,
        cpu: cpu(),
        cycle: number,
        release_ns,
        wake_ns: release_ns,
        completion_ns,
        deadline_ns: release_ns + 1_000,
        budget_ns: Some(1_000),
    };
    say(socket, &Request::Missed(missed.clone()));
    let (Answer::Verdict(verdict), _) = hear(socket) else { panic!("no verdict") };
    assert_eq!(verdict.cycle, number);
    assert_eq!(verdict.window_ns, completion_ns - release_ns);
    assert_eq!(verdict.shares.iter().map(|share| share.ns).sum::<u64>(), verdict.window_ns, "{verdict:#?}");
    let words = words::sentence(&verdict, &missed);
    println!("{words} {:?}", verdict.trace);
    (verdict, words)
}

fn compute(length: Duration) {
    let until = Instant::now() + length;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

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

    let pause = rustix::thread::NanosleepRelativeResult::Ok;
    let (verdict, words) = cycle(&socket, &mut marker, 2, || {
        let length = rustix::time::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        assert!(std::mem::discriminant(&rustix::thread::nanosleep(&length)) == std::mem::discriminant(&pause));
    });
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

    drop((marker, socket));
    let notices = service.end();
    assert!(notices.contains(&Notice::Started { cpus: cpu().to_string().parse().unwrap() }), "{notices:?}");
    notices.iter().for_each(|notice| println!("{notice}"));
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
