//! What sending and looking up cost the kernel: every system call of a million sends, counted by ptrace, beside subscribers that sleep and do not
//! get up; and those of forty thousand transforms.

mod peers;

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use horus::action::{ActionClient, ActionServer, Options as OfActions, Preemption, Progress};
use horus::app::App;
use horus::message::Stamp;
use horus::node::Cycle;
use horus::service::{Client, Options as OfServices, Server};
use horus::time::MonotonicTime;
use horus::topic::{Publisher, Subscriber, WaitStrategy};
use horus::transform::{Broadcaster, Frames, Transform};
use horus_shm::segment::layout::ASLEEP;
use nix::libc;
use nix::sys::ptrace::{self, Options as Tracing};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use peers::{PATIENCE, Peer, options_for};
use rustix::process::Signal;

const NAME: &str = "sent";
const SENDS: u64 = 1_000_000;
const TRANSFORMS: u64 = 20_000;
const CALLS: u64 = 100_000;
const GOALS: u64 = 20_000;
const LINES: u32 = 1_000;
/// The system call that the sender makes before and after the sends, and nowhere in between.
const MARK: libc::c_long = libc::SYS_getuid;

fn mark() {
    let _ = rustix::process::getuid();
}

fn go_file(directory: &Path) -> std::path::PathBuf {
    directory.join("go")
}

/// Says which thread it is, and sends when it is told to.
#[test]
#[ignore = "a peer"]
fn peer_sends_a_million() {
    let mut publisher = Publisher::<Stamp>::open(NAME, peers::options()).unwrap();
    println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
    peers::ready();
    while !go_file(&peers::directory()).exists() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    mark();
    for sequence in 0..SENDS {
        publisher.try_send(Stamp { sequence, sent_ns: 0 }).unwrap();
    }
    mark();
    std::thread::park_timeout(PATIENCE);
}

/// Says which thread it is, and sends and looks up transforms when it is told to: found, too late, unknown.
#[test]
#[ignore = "a peer"]
fn peer_looks_up_transforms() {
    let options = peers::options();
    let mut odom = Broadcaster::open("map", "odom", &options).unwrap();
    let mut base = Broadcaster::open("odom", "base", &options).unwrap();
    let frames = Frames::open(&options).unwrap();
    println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
    peers::ready();
    while !go_file(&peers::directory()).exists() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    mark();
    let mut answers = [0_u64; 2];
    for number in 1..=TRANSFORMS {
        let time = MonotonicTime::from_nanos(number * 1000);
        odom.send(time, &Transform::IDENTITY).unwrap();
        base.send(time, &Transform::planar(1.0, 0.0, 0.5)).unwrap();
        for (source, time) in [("base", time), ("base", time.plus_nanos(1)), ("bse", time)] {
            answers[usize::from(frames.at("map", source, time).is_ok())] += 1;
        }
    }
    mark();
    assert_eq!(answers, [2 * TRANSFORMS, TRANSFORMS]);
    std::thread::park_timeout(PATIENCE);
}

/// Sleeps for messages and takes them.
#[test]
#[ignore = "a peer"]
fn peer_sleeps_for_messages() {
    let mut subscriber = Subscriber::<Stamp>::open(NAME, peers::options().wait_strategy(WaitStrategy::Sleep)).unwrap();
    peers::ready();
    loop {
        while subscriber.recv_timeout(PATIENCE).is_some() {}
    }
}

/// Sleeps for messages and takes them, when no other thread wants the CPU.
#[test]
#[ignore = "a peer"]
fn peer_starves() {
    rustix::process::setpriority_process(None, 19).unwrap();
    peer_sleeps_for_messages();
}

/// Says which thread it is, and asks, answers and looks when it is told to. Some calls are given up.
#[test]
#[ignore = "a peer"]
fn peer_asks_and_answers() {
    let options = OfServices::default().directory(peers::directory());
    let ends = [(NAME, options.clone()), ("shared", options.shared())].map(|(name, options)| {
        (Server::<Stamp, Stamp>::open(name, &options).unwrap(), Client::<Stamp, Stamp>::open(name, &options).unwrap())
    });
    println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
    peers::ready();
    while !go_file(&peers::directory()).exists() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    mark();
    for (mut server, mut client) in ends {
        ask_and_answer(&mut server, &mut client);
        std::mem::forget((server, client)); // closing them makes system calls
    }
    mark();
    std::thread::park_timeout(PATIENCE);
}

fn ask_and_answer(server: &mut Server<Stamp, Stamp>, client: &mut Client<Stamp, Stamp>) {
    for sequence in 0..CALLS {
        let mut asked = client.ask(Stamp { sequence, sent_ns: 0 }).unwrap();
        if sequence % 7 == 0 {
            drop(asked);
            continue;
        }
        assert!(asked.try_answer(client).unwrap().is_none());
        while server.serve(Duration::ZERO, |stamp, answer| answer.send(stamp).unwrap()) {}
        assert_eq!(asked.try_answer(client).unwrap().unwrap().sequence, sequence);
    }
}

/// Says which thread its node has, and logs in a step when it is told to: more lines than find room, too.
#[test]
#[ignore = "a peer"]
fn peer_logs_in_a_step() {
    let go = go_file(&peers::directory());
    let mut app = App::new("talker").unwrap();
    let step = move |cycle: &Cycle| {
        if cycle.number > 0 {
            return;
        }
        println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
        peers::ready();
        while !go.exists() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        mark();
        for line in 0..LINES {
            cycle.log(horus::warn!("line {} of {}: {:.1} is {}", line, "many", 0.5, true));
        }
        mark();
    };
    app.node("talker", step).period(Duration::from_millis(10));
    app.run().unwrap();
}

/// Says which thread it is, and sends goals, works on them and looks when it is told to. Some are canceled.
#[test]
#[ignore = "a peer"]
fn peer_works_on_goals() {
    let options = OfActions::from(Preemption::Replace).directory(peers::directory());
    let mut server = ActionServer::<Stamp, Stamp, Stamp>::open(NAME, &options).unwrap();
    let mut client = ActionClient::<Stamp, Stamp, Stamp>::open(NAME, &options).unwrap();
    println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
    peers::ready();
    while !go_file(&peers::directory()).exists() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    mark();
    for sequence in 0..GOALS {
        let mut sent = client.send(Stamp { sequence, sent_ns: 0 }).unwrap();
        if sequence % 3 == 0 {
            let _asked = client.cancel(sent.id()).unwrap();
        }
        let mut goal = server.goal().unwrap();
        goal.feedback(Stamp { sequence, sent_ns: 0 }).unwrap();
        if goal.is_canceling() { goal.canceled() } else { goal.succeed(Stamp { sequence, sent_ns: 0 }) }.unwrap();
        while !sent.is_over() {
            assert_ne!(sent.look(&mut client).unwrap(), Progress::Nothing);
        }
    }
    mark();
    std::thread::park_timeout(PATIENCE);
}

/// How many are asleep, and how often anybody lay down.
fn asleep(directory: &Path) -> (u32, u64) {
    let file = std::fs::File::open(directory.join(format!("{NAME}.topic"))).unwrap();
    let mut word = [0; 8];
    file.read_exact_at(&mut word, ASLEEP as u64).unwrap();
    let word = u64::from_ne_bytes(word);
    ((word as u32).count_ones(), word >> 32)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what} did not come to be");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Stops a thread, whose system calls are told from now on.
fn trace(thread: Pid) {
    ptrace::seize(thread, Tracing::PTRACE_O_TRACESYSGOOD).unwrap();
    ptrace::interrupt(thread).unwrap();
    waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
}

/// The system calls between the marks of a peer that is alone.
fn calls_of(role: &str) -> BTreeMap<libc::c_long, u64> {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = ("HORUS_SHM_DIR", files.path().to_str().unwrap().to_owned());
    let mut peer = Peer::start_with(role, files.path(), "latest", Some(topics));
    let thread = Pid::from_raw(peer.wait_for_number("thread "));
    peer.wait_until_ready();
    trace(thread);
    std::fs::write(go_file(files.path()), "").unwrap();
    let calls = calls_between_marks(thread);
    ptrace::detach(thread, None).unwrap();
    calls
}

/// The system calls of a thread between its two marks, by number.
fn calls_between_marks(thread: Pid) -> BTreeMap<libc::c_long, u64> {
    let mut calls = BTreeMap::new();
    let mut marks = 0;
    while marks < 2 {
        ptrace::syscall(thread, None).unwrap();
        match waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::PtraceSyscall(_) => {}
            WaitStatus::Stopped(..) | WaitStatus::PtraceEvent(..) => continue,
            other => panic!("the sender: {other:?}"),
        }
        let info = ptrace::syscall_info(thread).unwrap();
        if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
            continue;
        }
        // SAFETY: the kernel says that the thread enters a system call, so the entry is what was filled in.
        let number = unsafe { info.u.entry.nr } as libc::c_long;
        match number {
            MARK => marks += 1,
            _ if marks == 1 => *calls.entry(number).or_default() += 1,
            _ => {}
        }
    }
    calls
}

#[test]
fn a_million_sends_make_no_system_call_but_one_wake_up_for_each_sleep() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut sender = Peer::start("peer_sends_a_million", files.path(), "latest");
    let thread = sender.wait_for_number("thread ");
    sender.wait_until_ready();
    let mut sleepers = ["peer_starves", "peer_sleeps_for_messages", "peer_sleeps_for_messages"].map(|role| {
        let mut sleeper = Peer::start(role, files.path(), "latest");
        sleeper.wait_until_ready();
        sleeper
    });
    wait_until("three sleepers", || asleep(files.path()).0 == 3);
    let thread = Pid::from_raw(thread);
    trace(thread);
    // One is stopped in its sleep, one is killed.
    sleepers[1].signal(Signal::STOP);
    sleepers[2].kill();
    let (_, before) = asleep(files.path());
    std::fs::write(go_file(files.path()), "").unwrap();

    let calls = calls_between_marks(thread);
    let (_, after) = asleep(files.path());
    ptrace::detach(thread, None).unwrap();
    let wakes = calls.get(&libc::SYS_futex).copied().unwrap_or(0);
    println!("{SENDS} sends, {} sleeps: system calls {calls:?}", after - before);
    assert_eq!(calls.keys().filter(|&&number| number != libc::SYS_futex).count(), 0, "{calls:?}");
    assert!(wakes >= 1, "a subscriber slept, and was to be woken");
    assert!(wakes <= 1 + (after - before), "{wakes} wake-ups for the first sleep and {} more", after - before);
}

#[test]
fn asking_answering_and_looking_make_no_system_call_while_no_end_sleeps() {
    let calls = calls_of("peer_asks_and_answers");
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn lines_are_logged_without_any_system_call() {
    let calls = calls_of("peer_logs_in_a_step");
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn goals_are_sent_worked_on_canceled_and_ended_without_any_system_call() {
    let calls = calls_of("peer_works_on_goals");
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn topic_that_wakes_nobody_is_sent_to_without_any_system_call() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options_for("latest", files.path()).never_wake();
    let mut publisher = Publisher::<Stamp>::open(NAME, &options).unwrap();
    let mut subscriber = Subscriber::<Stamp>::open(NAME, options_for("latest", files.path())).unwrap();
    assert!(matches!(subscriber.wait_strategy(), WaitStrategy::Poll(_)));
    let waiter = std::thread::spawn(move || subscriber.recv_timeout(PATIENCE).is_some());
    publisher.try_send(Stamp::default()).unwrap();
    assert!(waiter.join().unwrap());
    assert_eq!(asleep(files.path()).1, 0, "no subscriber lay down, so that none can be woken");
}

#[test]
fn transforms_are_sent_and_looked_up_without_any_system_call() {
    let calls = calls_of("peer_looks_up_transforms");
    assert_eq!(calls, BTreeMap::new());
}
