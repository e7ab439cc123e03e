//! Messages with a deadline: at each of its releases a node sends a message to another process and waits for the answer, which has to be there
//! by the deadline.
//!
//! The releases have a grid, so a stall counts as often as it hides one. Both ends sleep until their message comes, as nodes do, so a sample
//! contains two wake-ups. `message` is the other way to look at the same path: the fastest that it can be.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use horus::message::Stamp;
use horus::node::Cycle;
use horus::time::MonotonicTime;
use horus::topic::{Publisher, Subscriber};

use crate::child::Group;
use crate::record::schema::Phase;

use super::echo::{self, END, MEETING, Names, READY, Style};
use super::message::{complaint, ended};
use super::metered::{Judged, Task};
use super::plan::Places;

/// An answer that is later than this is lost.
const PATIENCE: Duration = Duration::from_millis(100);

/// After so many losses in a row the other process is taken for dead, and the phase ends.
const MAX_LOST: u64 = 5;

/// Both ends of the node.
struct Ends {
    ping: Publisher<Stamp>,
    pong: Subscriber<Stamp>,
    lost: u64,
    lost_in_a_row: u64,
}

/// Measures; what cannot be measured is a phase that says why.
pub fn phase(task: &Task, places: &Places) -> Judged {
    let not_measured = |reason: &str| Judged { phase: Phase::not_measured(task.name, reason), refused: Vec::new() };
    let Some(far) = places.peer.filter(|_| places.node.is_some()) else {
        return not_measured("the machine has a single CPU, and a message needs two");
    };
    measure(task, far, places).unwrap_or_else(|reason| not_measured(&reason))
}

fn measure(task: &Task, far: u32, places: &Places) -> Result<Judged, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let base = format!("determinism-answer-{}", std::process::id());
    let names = Names::new(&base).map_err(|error| text(&error))?;
    let mut echo = Group::start(&mut echo::command(&base, far, task.place.priority, Style::Paced))
        .map_err(|error| format!("the echo process: {error}"))?;
    let ready = BufReader::new(echo.leader().stdout.take().expect("stdout is a pipe"));
    let open = || -> Result<Ends, String> {
        let ping = Publisher::open(&names.ping, Style::Paced.options()).map_err(|error| text(&error))?;
        let pong = Subscriber::open(&names.pong, Style::Paced.options()).map_err(|error| text(&error))?;
        Ok(Ends { ping, pong, lost: 0, lost_in_a_row: 0 })
    };
    let started = open().and_then(|ends| Ok((ends, until_ready(ready)?)));
    let (mut ends, mut notes) = match started {
        Ok(started) => started,
        Err(error) => {
            let _ = echo.wait(MEETING.min(Duration::from_millis(100)));
            return Err(format!("{error}{}", complaint(&mut echo)));
        }
    };
    let mut judged = task.judge(|cycle| ends.ask(cycle));
    let end = Stamp { sequence: END, sent_ns: 0 };
    if ends.ping.send_timeout(end, PATIENCE).is_err() {
        notes.push("the echo process stopped taking messages".to_owned());
    }
    if ends.lost_in_a_row >= MAX_LOST {
        notes.push(format!("the phase ended early: {MAX_LOST} answers in a row were lost"));
    }
    let phase = &mut judged.phase;
    phase.invalid_reasons.extend(ended(&mut echo));
    (phase.lost, phase.peer_cpu) = (Some(ends.lost), Some(far));
    phase.notes.append(&mut notes);
    if !places.peer_is_isolated {
        phase.notes.push(format!("the echo shares CPU {far}, which is not isolated, with everything else"));
    }
    Ok(judged)
}

/// Waits until the echo has opened its topics; returns what it was not granted.
fn until_ready(mut ready: impl BufRead) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    loop {
        let mut line = String::new();
        ready.read_line(&mut line).map_err(|error| error.to_string())?;
        match line.trim() {
            READY => return Ok(notes),
            "" => return Err("the echo process ended early".to_owned()),
            refused => notes.push(format!("echo: {refused}")),
        }
    }
}

impl Ends {
    /// Sends the message of a release and waits for its answer; whether there is any sense in going on.
    fn ask(&mut self, cycle: &Cycle) -> bool {
        let sent = MonotonicTime::now();
        let stamp = Stamp { sequence: cycle.number, sent_ns: sent.as_nanos() };
        let is_sent = self.ping.try_send_stamped(stamp, stamp.sent_ns).is_ok();
        if is_sent && self.is_answered(cycle.number, sent.plus(PATIENCE)) {
            self.lost_in_a_row = 0;
        } else {
            self.lost += 1;
            self.lost_in_a_row += 1;
        }
        self.lost_in_a_row < MAX_LOST
    }

    /// An answer to an earlier message was counted as lost and comes too late.
    fn is_answered(&mut self, sequence: u64, end: MonotonicTime) -> bool {
        while let Some(received) = self.pong.recv_timeout(end.since(MonotonicTime::now())) {
            if received.message.sequence == sequence {
                return true;
            }
        }
        false
    }
}
