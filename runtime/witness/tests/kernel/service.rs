//! A witness in this process, and a program that asks it.

use std::fs::File;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use horus::time::MonotonicTime;
use horus::witness::protocol::{Answer, MAX_PACKET, Missed, Request, Thread, Verdict};
use horus::witness::words;
use horus_witness::{Config, Listen, Notice, TRACEFS, serve};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

/// The CPU that is traced: the last one. The first answer counts, since it is about the thread that asks.
pub fn cpu() -> u32 {
    static LAST: OnceLock<u32> = OnceLock::new();
    *LAST.get_or_init(|| thread::available_parallelism().map_or(0, |count| count.get() as u32 - 1))
}

/// Why this machine's tracer is not to be used here, if so.
pub fn obstacle() -> Option<&'static str> {
    let instances = Path::new(TRACEFS).join("instances");
    let Ok(entries) = std::fs::read_dir(instances) else {
        return Some("no tracer at /sys/kernel/tracing, or no right to use it");
    };
    let is_ours = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("horus-cpu");
    entries.flatten().any(is_ours).then_some("a witness runs here already")
}

pub fn bind_to(cpu: u32) {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).unwrap();
}

/// A witness in a thread of its own.
pub struct Service {
    pub folder: tempfile::TempDir,
    pub stop: Arc<AtomicBool>,
    pub thread: Option<JoinHandle<Vec<Notice>>>,
}

impl Service {
    pub fn start() -> Self {
        Self::of(tempfile::tempdir().unwrap(), PathBuf::from(TRACEFS))
    }

    /// With the tracer whose files are there.
    pub fn of(folder: tempfile::TempDir, tracefs: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let config = Config {
            tracefs,
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

    pub fn connect(&self) -> OwnedFd {
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

    pub fn end(mut self) -> Vec<Notice> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

pub fn say(socket: &OwnedFd, request: &Request) {
    rustix::io::write(socket, &serde_json::to_vec(request).unwrap()).unwrap();
}

pub fn hear(socket: &OwnedFd) -> (Answer, Vec<OwnedFd>) {
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

pub fn enrol(socket: &OwnedFd) -> File {
    let tid = gettid().as_raw_nonzero().get() as u32;
    say(socket, &Request::Enrol { program: "test".to_owned(), threads: vec![Thread { tid, cpu: cpu() }] });
    let (answer, mut descriptors) = hear(socket);
    assert_eq!(answer, Answer::Enrolled { cpus: vec![cpu()] });
    assert_eq!(descriptors.len(), 1);
    descriptors.remove(0).into()
}

/// Runs `step` as a cycle that misses, freezes the trace and asks.
pub fn cycle(socket: &OwnedFd, marker: &mut File, number: u64, step: impl FnOnce()) -> (Verdict, String) {
    let release_ns = MonotonicTime::now().as_nanos();
    step();
    ask(socket, marker, number, release_ns, release_ns, Some(1_000))
}

/// Freezes the trace and asks about a cycle that ends now.
pub fn ask(
    socket: &OwnedFd,
    marker: &mut File,
    number: u64,
    release_ns: u64,
    wake_ns: u64,
    budget_ns: Option<u64>,
) -> (Verdict, String) {
    let completion_ns = MonotonicTime::now().as_nanos();
    marker.write_all(b"x").unwrap();
    let missed = Missed {
        node: "test/node".to_owned(),
        tid: gettid().as_raw_nonzero().get() as u32,
        cpu: cpu(),
        cycle: number,
        release_ns,
        wake_ns,
        completion_ns,
        deadline_ns: release_ns + 1_000,
        budget_ns,
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

pub fn compute(length: Duration) {
    let until = Instant::now() + length;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

pub fn pause(length: Duration) {
    let length = rustix::time::Timespec { tv_sec: length.as_secs() as i64, tv_nsec: length.subsec_nanos().into() };
    assert!(matches!(rustix::thread::nanosleep(&length), rustix::thread::NanosleepRelativeResult::Ok));
}
