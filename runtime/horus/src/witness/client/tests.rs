//! Conversations with witnesses of every kind: one that answers, is slow, dies, talks rubbish, or is not there.

use std::io::IoSlice;
use std::os::fd::AsFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType,
};
use rustix::pipe::{PipeFlags, pipe_with};
use tempfile::TempDir;

use super::*;
use crate::deadline::{CycleRecord, Tally, Timing};
use crate::miss::{self, MissCollector, MissRecorder};
use crate::witness::beside::Beside;
use crate::witness::protocol::{Confidence, Kind, Share};

/// What listens where a witness would.
struct Fake {
    directory: TempDir,
    listener: OwnedFd,
}

/// The fake's end of a connection, with the reading end of the marker that it gave.
struct Met {
    socket: OwnedFd,
    marker: OwnedFd,
}

impl Fake {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(directory.path().join("socket")).unwrap()).unwrap();
        rustix::net::listen(&listener, 8).unwrap();
        Self { directory, listener }
    }

    /// A client of two threads: the first has CPU 3, the second none.
    fn client(&self) -> Client {
        let tid = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let seats = vec![Seat { tid, cpu: Some(3), nodes: vec![0] }, Seat { tid: tid + 1, cpu: None, nodes: vec![1] }];
        Client::new(self.directory.path().join("socket"), "balance", seats)
    }

    fn accept(&self) -> OwnedFd {
        rustix::net::accept(&self.listener).unwrap()
    }

    /// Enrols a client that has just begun to.
    fn enrol(&self, client: &mut Client, now: MonotonicTime) -> Met {
        assert_eq!(client.look(now, nothing_to_tell), []);
        let met = self.meet();
        assert_eq!(client.look(now, nothing_to_tell), []);
        met
    }

    /// The same for a client that has said its first word.
    fn meet(&self) -> Met {
        let socket = self.accept();
        let Request::Enrol { program, threads } = request(&socket) else { panic!("the first word is another") };
        assert_eq!((program.as_str(), threads.len(), threads[0].cpu), ("balance", 1, 3));
        let (marker, given) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        let answer = serde_json::to_vec(&Answer::Enrolled { cpus: vec![3] }).unwrap();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        let given = [given.as_fd()];
        assert!(rights.push(SendAncillaryMessage::ScmRights(&given)));
        rustix::net::sendmsg(&socket, &[IoSlice::new(&answer)], &mut rights, SendFlags::empty()).unwrap();
        Met { socket, marker }
    }
}

impl Met {
    /// How often the loop wrote since the last look.
    fn freezes(&self) -> usize {
        let mut bytes = [0; 512];
        let length = rustix::io::read(&self.marker, &mut bytes).unwrap_or(0);
        bytes[..length].iter().filter(|byte| **byte == b'\n').count()
    }

    fn say(&self, packet: &[u8]) {
        rustix::net::send(&self.socket, packet, SendFlags::empty()).unwrap();
    }

    fn judge(&self, cycle: u64) {
        self.say(&serde_json::to_vec(&Answer::Verdict(verdict(cycle))).unwrap());
    }
}

fn request(socket: &OwnedFd) -> Request {
    let mut buffer = [0; MAX_PACKET];
    let (length, _) = rustix::net::recv(socket, &mut buffer, RecvFlags::DONTWAIT).unwrap();
    serde_json::from_slice(&buffer[..length]).unwrap()
}

fn verdict(cycle: u64) -> Verdict {
    let share = |kind, name: &str, ns, is_suspect| Share { kind, name: name.to_owned(), ns, is_suspect, detail: None };
    Verdict {
        cycle,
        window_ns: 5_040_000,
        shares: vec![share(Kind::Task, "hog/137", 4_990_000, true), share(Kind::OwnCode, "control", 50_000, false)],
        confidence: Confidence::High,
        trace: Some("/var/lib/horus/traces/1.dat".to_owned()),
    }
}

fn nothing_to_tell(entry: Entry) {
    panic!("{}", entry.message());
}

fn at(millis: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(millis * 1_000_000)
}

fn timing() -> Timing {
    Timing::new(Duration::from_millis(1), Duration::from_micros(800)).unwrap()
}

/// A node with its thread beside it, as a program has them.
struct Program {
    recorder: MissRecorder,
    tally: Tally,
    collectors: Vec<MissCollector>,
    beside: Beside,
    told: Vec<Entry>,
}

impl Program {
    fn new(client: Client) -> Self {
        let (mut recorder, collector) = miss::channel("control", timing(), 64).unwrap();
        recorder.freeze_by(client.trace_of(client.seats[0].tid));
        let (sender, coming) = std::sync::mpsc::channel();
        sender.send(client).unwrap();
        let collectors = vec![collector.of("balance", Some(150_000))];
        Self { recorder, tally: Tally::default(), collectors, beside: Beside::new(coming), told: Vec::new() }
    }

    /// A cycle that takes so long.
    fn cycle(&mut self, number: u64, response: Duration) {
        let release = MonotonicTime::from_nanos(number * 1_000_000);
        let completion = release.plus(response);
        let skipped = timing().releases_skipped(release, completion);
        let record =
            CycleRecord { number, release, wake: release, completion, wake_cpu: 3, completion_cpu: 3, skipped };
        let verdict = self.tally.add(&timing(), &record);
        self.recorder.observe(&record, &verdict);
    }

    /// A look of the thread beside; returns the entry about misses.
    fn look(&mut self, now: MonotonicTime) -> Option<Entry> {
        self.beside.hear(self.collectors.iter_mut(), now, |entry| self.told.push(entry));
        let entry = self.collectors[0].collect(now);
        self.beside.ask(self.collectors.iter_mut(), now);
        entry
    }
}

const LATE: Duration = Duration::from_micros(5_040);

#[test]
fn a_witness_that_answers_is_quoted_in_the_entry_of_the_miss() {
    let fake = Fake::new();
    let mut client = fake.client();
    let met = fake.enrol(&mut client, at(0));
    let mut program = Program::new(client);
    program.cycle(5, LATE);
    assert_eq!(met.freezes(), 1);
    assert!(program.look(at(100)).is_none(), "the entry waits for the verdict");
    let Request::Recorded(recorded) = request(&met.socket) else { panic!("nothing was recorded") };
    assert_eq!(recorded.cycle, 5);
    let Request::Missed(missed) = request(&met.socket) else { panic!("no question") };
    assert_eq!((missed.node.as_str(), missed.cycle, missed.cpu), ("balance/control", 5, 3));
    assert_eq!((missed.deadline_ns, missed.budget_ns), (5_800_000, Some(150_000)));
    met.judge(5);
    let entry = program.look(at(200)).expect("the verdict is there");
    let text = entry.message();
    assert!(text.contains("in cycle 5 on CPU 3: missed by 4.24 ms: task hog/137") && text.contains("(99 %)"), "{text}");
    for (name, value) in [
        ("HORUS_CULPRIT", "hog/137"),
        ("HORUS_CULPRIT_KIND", "task"),
        ("HORUS_CULPRIT_NS", "4990000"),
        ("HORUS_CULPRIT_SHARE", "99"),
        ("HORUS_CULPRIT_CONFIDENCE", "high"),
        ("HORUS_CULPRIT_LATE_NS", "4240000"),
        ("HORUS_TRACE", "/var/lib/horus/traces/1.dat"),
    ] {
        assert_eq!(entry.get(name), Some(value), "{name}");
    }
    assert!(entry.get("HORUS_CULPRIT_REMEDY").is_some_and(|remedy| !remedy.is_empty()));
    assert!(program.told.is_empty());
}

#[test]
fn a_storm_freezes_one_miss_an_answer_and_the_verdict_says_which() {
    let fake = Fake::new();
    let mut client = fake.client();
    let met = fake.enrol(&mut client, at(0));
    let mut program = Program::new(client);
    program.cycle(0, LATE);
    program.cycle(10, 2 * LATE);
    (20..30).for_each(|number| program.cycle(number, Duration::from_micros(900)));
    assert!(program.look(at(100)).is_none());
    assert_eq!(asked(&met), [0, 10], "the one that froze, and the worst");
    met.judge(0);
    assert!(program.look(at(150)).is_none(), "the worst may be seen, too");
    met.say(&serde_json::to_vec(&Answer::Verdict(Verdict { confidence: Confidence::None, ..verdict(10) })).unwrap());
    let entry = program.look(at(200)).unwrap();
    assert!(entry.message().contains("in cycle 10 on CPU 3; cycle 0 missed by"), "{}", entry.message());
    assert_eq!(entry.get("HORUS_CULPRIT_CYCLE"), Some("0"), "the worst that was seen");
    assert_eq!(met.freezes(), 1);
    program.cycle(30, LATE);
    assert_eq!(met.freezes(), 0, "five times a second are enough");
    assert!(program.look(at(300)).is_none(), "a second has not passed");
    program.cycle(40, 2 * LATE);
    program.cycle(50, LATE);
    assert_eq!(met.freezes(), 1, "armed when it was answered");
    program.look(at(400));
    assert_eq!(asked(&met), [30, 40], "without a freeze, and with one");
    [30, 40].iter().for_each(|cycle| met.judge(*cycle));
    assert!(program.look(at(500)).is_none(), "a second has not passed");
    let entry = program.look(at(1_200)).unwrap();
    assert_eq!((entry.get("HORUS_CULPRIT_CYCLE"), entry.get("HORUS_MISSES")), (Some("40"), Some("23")));
}

/// The cycles that were asked about, and that what was recorded of those that froze went ahead.
fn asked(met: &Met) -> Vec<u64> {
    let mut cycles = Vec::new();
    let mut buffer = [0; MAX_PACKET];
    while let Ok((length, _)) = rustix::net::recv(&met.socket, &mut buffer, RecvFlags::DONTWAIT) {
        match serde_json::from_slice(&buffer[..length]).unwrap() {
            Request::Missed(missed) => cycles.push(missed.cycle),
            Request::Recorded(recorded) => assert!(recorded.cycles.is_empty(), "the loop here notes none"),
            Request::Enrol { .. } => panic!("it has enrolled"),
        }
    }
    cycles
}

#[test]
fn a_slow_witness_holds_the_entry_for_two_seconds_and_is_left() {
    let fake = Fake::new();
    let mut client = fake.client();
    let met = fake.enrol(&mut client, at(0));
    let mut program = Program::new(client);
    let began = MonotonicTime::now();
    let later = |millis| began.plus(Duration::from_millis(millis));
    program.cycle(5, LATE);
    assert!(program.look(later(0)).is_none() && program.look(later(1_900)).is_none());
    let entry = program.look(later(2_100)).expect("patience has ended");
    assert_eq!(entry.get("HORUS_CULPRIT_MISSING"), Some("the witness did not answer in 2 s"));
    assert_eq!(entry.get("HORUS_CULPRIT"), None);
    assert_eq!(program.told.len(), 1);
    assert_eq!(program.told[0].get("MESSAGE_ID"), Some(journal::id::WITNESS_MISSING));
    assert_eq!(program.told[0].priority(), Priority::Info);
    program.cycle(6, LATE);
    assert_eq!(met.freezes(), 1, "a witness that does not answer is not written to");
}

#[test]
fn a_witness_that_dies_is_found_again() {
    let fake = Fake::new();
    let mut client = fake.client();
    let met = fake.enrol(&mut client, at(0));
    let mut program = Program::new(client);
    program.cycle(5, LATE);
    assert!(program.look(at(100)).is_none());
    drop(met);
    let entry = program.look(at(200)).expect("no witness will answer");
    assert_eq!(entry.get("HORUS_CULPRIT_MISSING"), Some("the witness ended"));
    program.cycle(6, LATE);
    let entry = program.look(at(1_300)).expect("an entry does not wait for a witness that ended");
    assert_eq!(entry.get("HORUS_CULPRIT_MISSING"), Some("the witness ended"), "until it is looked for");
    // It comes again.
    assert!(program.look(at(6_000)).is_none());
    let met = fake.meet();
    assert!(program.look(at(6_050)).is_none());
    program.cycle(7, LATE);
    assert_eq!(met.freezes(), 1);
    program.look(at(6_100));
    met.judge(7);
    assert!(program.look(at(6_200)).unwrap().get("HORUS_CULPRIT").is_some());
}

#[test]
fn rubbish_ends_the_conversation_and_nothing_else() {
    let long = vec![b' '; MAX_PACKET + 1];
    let stranger = serde_json::to_vec(&Answer::Verdict(verdict(5))).unwrap();
    let number = br#"{"verdict":{"cycle":-1}}"#;
    for rubbish in [&b"\xff\x00"[..], b"{}", b"[1]", &long, number, &[b'['; 10_000], &stranger] {
        let fake = Fake::new();
        let mut client = fake.client();
        let met = fake.enrol(&mut client, at(0));
        let mut program = Program::new(client);
        met.say(rubbish);
        program.cycle(5, LATE);
        let entry = program.look(at(100)).or_else(|| program.look(at(200))).expect("the miss is told all the same");
        assert!(entry.get("HORUS_CULPRIT_MISSING").is_some(), "{rubbish:?}");
        assert_eq!(program.told.len(), 1, "once");
    }
}

#[test]
fn where_nobody_listens_that_is_said_once_and_nothing_is_written() {
    let fake = Fake::new();
    let client = fake.client();
    drop(fake);
    let mut program = Program::new(client);
    program.cycle(5, LATE);
    let entry = program.look(at(100)).expect("at once");
    assert_eq!(entry.get("HORUS_CULPRIT_MISSING"), Some("no witness runs"));
    (1..100).for_each(|second| drop(program.look(at(second * 1_000))));
    assert_eq!(program.told.len(), 1);
    assert!(program.told[0].message().contains("balance: no witness runs"), "{}", program.told[0].message());
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    let fake = Fake::new();
    let mut client = fake.client();
    client.look(at(0), nothing_to_tell);
    let socket = fake.accept();
    let refused = Answer::Refused { reason: "tracefs is not mounted".to_owned() };
    rustix::net::send(&socket, &serde_json::to_vec(&refused).unwrap(), SendFlags::empty()).unwrap();
    let mut told = Vec::new();
    assert_eq!(client.look(at(100), |entry| told.push(entry)), []);
    assert!(told[0].message().contains("tracefs is not mounted"), "{}", told[0].message());
    client.look(at(1_000), |_| panic!("told once"));
    assert_eq!(client.why_not(0), Some("the witness traces nothing here"), "until the next attempt");
    assert_eq!(client.why_not(1), Some("its thread has no CPU of its own"));
}

#[test]
fn a_witness_that_reads_nothing_is_no_reason_to_wait() {
    let fake = Fake::new();
    let mut client = fake.client();
    let _met = fake.enrol(&mut client, at(0));
    let began = std::time::Instant::now();
    let missed = Missed {
        node: "control".to_owned(),
        tid: 1,
        cpu: 3,
        cycle: 0,
        release_ns: 0,
        wake_ns: 0,
        completion_ns: 0,
        deadline_ns: 0,
        budget_ns: None,
    };
    let refused = (0..10_000).find_map(|_| client.ask(0, missed.clone(), None, at(0)).err());
    assert_eq!(refused, Some("the witness takes no questions"));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_program_without_a_cpu_of_its_own_says_nothing_to_anybody() {
    let fake = Fake::new();
    let seats = vec![Seat { tid: 1, cpu: None, nodes: vec![0] }];
    let mut client = Client::new(fake.directory.path().join("socket"), "balance", seats);
    client.greet(Duration::from_secs(9), nothing_to_tell);
    assert_eq!(client.look(at(0), nothing_to_tell), []);
    assert!(client.socket.is_none() && client.trace_of(1).is_none());
}
