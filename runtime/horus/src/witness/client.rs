//! A program's end of the socket: enrols its threads, asks about misses, and never waits.
//!
//! Everything that the witness may do wrong ends the connection: silence, an end, rubbish. Then no trace is written to, and a new
//! connection is tried every [`RETRY`].

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::freeze::Trace;
use super::protocol::{Answer, MAX_PACKET, Missed, Recording, Request, Thread, Verdict};
use super::seqpacket;
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;

/// How long an answer may take: the miss's entry waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How often a witness is looked for that is not there.
const RETRY: Duration = Duration::from_secs(5);

/// A thread of nodes.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub tid: u32,
    /// Where it is bound to one CPU.
    pub cpu: Option<u32>,
    /// Their numbers in the program.
    pub nodes: Vec<usize>,
}

/// What came of a question: a verdict, or why there is none.
pub(crate) type Outcome = Result<Verdict, &'static str>;

/// What came of a question, with its node and its cycle.
pub(crate) type Told = (usize, u64, Outcome);

/// A question that waits for its answer.
struct Asked {
    node: usize,
    cycle: u64,
    at: MonotonicTime,
}

/// See the module documentation.
pub(crate) struct Client {
    path: PathBuf,
    program: String,
    seats: Vec<Seat>,
    traces: Vec<(u32, Arc<Trace>)>,
    socket: Option<OwnedFd>,
    /// When it asked to be enrolled, until it is answered.
    enrolling: Option<MonotonicTime>,
    /// The CPUs whose trace can be frozen.
    traced: Vec<u32>,
    asked: VecDeque<Asked>,
    next_attempt: MonotonicTime,
    /// Why nothing is witnessed; as told, so that it is told once.
    absence: Option<&'static str>,
    /// What the witness said when it refused.
    refusal: Option<String>,
    buffer: Box<[u8; MAX_PACKET]>,
}

impl Client {
    /// Speaks for the threads of `program`.
    pub fn new(path: impl Into<PathBuf>, program: &str, seats: Vec<Seat>) -> Self {
        let mut cpus: Vec<u32> = seats.iter().filter_map(|seat| seat.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self {
            path: path.into(),
            program: program.to_owned(),
            seats,
            traces: cpus.into_iter().map(|cpu| (cpu, Arc::default())).collect(),
            socket: None,
            enrolling: None,
            traced: Vec::new(),
            asked: VecDeque::new(),
            next_attempt: MonotonicTime::default(),
            absence: None,
            refusal: None,
            buffer: Box::new([0; MAX_PACKET]),
        }
    }

    /// What the thread freezes after a miss; nothing where it has no CPU of its own.
    pub fn trace_of(&self, tid: u32) -> Option<Arc<Trace>> {
        let cpu = self.seats.iter().find(|seat| seat.tid == tid)?.cpu?;
        Some(Arc::clone(&self.traces.iter().find(|(traced, _)| *traced == cpu)?.1))
    }

    /// Enrols, and gives the witness a moment to answer: a program that starts can spare it. Later answers are heard, too.
    pub fn greet(&mut self, patience: Duration, tell: impl FnMut(Entry)) {
        let now = MonotonicTime::now();
        if self.traces.is_empty() {
            return;
        }
        self.connect(now);
        if let Some(socket) = &self.socket {
            seqpacket::wait(socket, patience);
        }
        self.look(MonotonicTime::now(), tell);
    }

    /// Hears what the witness has to say, and looks for one that is not there. Returns which nodes' questions, about
    /// which cycles, came to what.
    pub fn look(&mut self, now: MonotonicTime, mut tell: impl FnMut(Entry)) -> Vec<Told> {
        let mut outcomes = Vec::new();
        if self.traces.is_empty() {
            return outcomes; // no thread has a CPU of its own
        }
        let attempts = self.socket.is_none() && now >= self.next_attempt;
        if attempts {
            self.connect(now);
        }
        let mut lost = match self.socket {
            // Between two attempts it stays why the last one failed.
            None => (attempts || self.absence.is_none()).then_some("no witness runs"),
            Some(_) => self.hear(&mut outcomes).err(),
        };
        let waits_since = self.enrolling.or(self.asked.front().map(|asked| asked.at));
        if lost.is_none() && waits_since.is_some_and(|since| now.since(since) >= PATIENCE) {
            lost = Some("the witness did not answer in 2 s");
        }
        if let Some(why) = lost {
            self.disconnect(now, why, &mut outcomes);
            self.say(why, &mut tell);
        }
        outcomes
    }

    /// Asks about a cycle of a node; the outcome comes by [`look`](Self::look). Or why it cannot be asked. What was recorded of it goes
    /// ahead, and is not waited for.
    pub fn ask(
        &mut self,
        node: usize,
        mut missed: Missed,
        recorded: Option<Recording>,
        now: MonotonicTime,
    ) -> Result<(), &'static str> {
        missed.node = format!("{}/{}", self.program, missed.node);
        if let Some(recorded) = recorded {
            let _ = self.send(&Request::Recorded(recorded)); // without it there is a verdict all the same
        }
        let cycle = missed.cycle;
        self.send(&Request::Missed(missed))?;
        self.asked.push_back(Asked { node, cycle, at: now });
        Ok(())
    }

    /// Why no witness can be asked about this node, if so.
    pub fn why_not(&self, node: usize) -> Option<&'static str> {
        let seat = self.seats.iter().find(|seat| seat.nodes.contains(&node));
        match seat.and_then(|seat| seat.cpu) {
            None => Some("its thread has no CPU of its own"),
            Some(_) if self.socket.is_none() => Some(self.absence.unwrap_or("no witness runs")),
            Some(_) if self.enrolling.is_some() => Some("the witness was not ready yet"),
            Some(cpu) if !self.traced.contains(&cpu) => Some("its CPU is not traced"),
            Some(_) => None,
        }
    }

    /// What was frozen on the CPU of this thread was answered.
    pub fn arm(&self, tid: u32) {
        if let (Some(trace), true) = (self.trace_of(tid), self.socket.is_some()) {
            trace.arm();
        }
    }

    fn connect(&mut self, now: MonotonicTime) {
        self.next_attempt = now.plus(RETRY);
        let Ok(socket) = seqpacket::connect(&self.path) else { return };
        self.socket = Some(socket);
        let bound = self.seats.iter().filter_map(|seat| Some(Thread { tid: seat.tid, cpu: seat.cpu? }));
        let enrol = Request::Enrol { program: self.program.clone(), threads: bound.collect() };
        match self.send(&enrol) {
            Ok(()) => self.enrolling = Some(now),
            Err(_) => self.socket = None,
        }
    }

    fn send(&self, request: &Request) -> Result<(), &'static str> {
        let socket = self.socket.as_ref().ok_or("no witness runs")?;
        let packet = serde_json::to_vec(request).map_err(|_| "the question cannot be written")?;
        seqpacket::send(socket, &packet).map_err(|_| "the witness takes no questions")
    }

    /// Takes every packet that is there. An error says why nothing more is to be expected.
    fn hear(&mut self, outcomes: &mut Vec<Told>) -> Result<(), &'static str> {
        while let Some(socket) = &self.socket {
            let mut space = [MaybeUninit::uninit(); seqpacket::RIGHTS];
            let Some((length, rights)) = seqpacket::receive(socket, &mut self.buffer[..], &mut space)? else {
                return Ok(());
            };
            let answer: Answer = serde_json::from_slice(&self.buffer[..length])
                .map_err(|_| "the witness speaks another language: is it of another version?")?;
            match (answer, self.enrolling) {
                (Answer::Enrolled { cpus }, Some(_)) => {
                    for (cpu, marker) in cpus.into_iter().zip(rights) {
                        if let Some((_, trace)) = self.traces.iter().find(|(traced, _)| *traced == cpu) {
                            trace.connect(marker);
                            self.traced.push(cpu);
                        }
                    }
                    (self.enrolling, self.absence) = (None, None);
                }
                (Answer::Refused { reason }, Some(_)) => {
                    self.refusal = Some(reason);
                    return Err("the witness traces nothing here");
                }
                (Answer::Verdict(verdict), None) => {
                    let asked = self.asked.pop_front().ok_or("the witness answers what it was not asked")?;
                    outcomes.push((asked.node, asked.cycle, Ok(verdict)));
                }
                _ => return Err("the witness answers what it was not asked"),
            }
        }
        Ok(())
    }

    fn disconnect(&mut self, now: MonotonicTime, why: &'static str, outcomes: &mut Vec<Told>) {
        if self.socket.take().is_some() {
            self.traces.iter().for_each(|(_, trace)| trace.disconnect());
            self.next_attempt = now.plus(RETRY);
        }
        self.enrolling = None;
        self.traced.clear();
        outcomes.extend(self.asked.drain(..).map(|asked| (asked.node, asked.cycle, Err(why))));
    }

    /// Once, until there was a witness again; and when it is there and refuses, which has a reason to be read.
    fn say(&mut self, why: &'static str, tell: &mut impl FnMut(Entry)) {
        let refusal = self.refusal.take();
        let before = self.absence.replace(why);
        if before.is_none() || refusal.is_some() && before != Some(why) {
            let why = refusal.map_or_else(|| why.to_owned(), |reason| format!("{why}: {reason}"));
            let text = format!("{}: {why}; entries about its misses will name no culprit", self.program);
            let entry = Entry::new(journal::id::WITNESS_MISSING, Priority::Info, text);
            tell(entry.field("HORUS_MISSING", why));
        }
    }
}

#[cfg(test)]
mod tests;
