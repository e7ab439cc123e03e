//! Message latency between two processes over a topic, beside the cache-line floor of the same two CPUs.
//!
//! One message of 16 bytes is under way at a time: sent, echoed by another process, received; half of the round trip is
//! the sample. The floor, one bare cache line thrown to and fro, is measured before and after in the same phase, so
//! that the ratio of both is free of what the CPUs happened to do at another time.

use std::io::{BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use horus::message::Stamp;
use horus::time::{MonotonicTime, pause};
use horus::topic::{Directory, Publisher, Subscriber};
use horus_measure::floor::Pinger;
use horus_measure::floor::around::Floors;
use horus_measure::meter::Meter;

use crate::child::Group;
use crate::record::schema::{Latency, Phase};

use super::echo::{self, END, FLOOR_LIMIT, LONGEST_SPIN, MEETING, Names, READY, Style};
use super::grants::{not_granted, policy};
use super::metered::Place;
use super::plan::Places;

/// Spinning ends run below every node (60 to 90) and every interrupt thread (50): they fill a CPU, and must not take it
/// from either.
pub const SPIN_PRIORITY: u8 = 10;

/// After spinning for this long, the near end sleeps for [`PAUSE`], and kernel threads of its CPU get their turn.
const BATCH: Duration = Duration::from_millis(100);

/// Long enough that the echo notices and sleeps too.
const PAUSE: Duration = Duration::from_millis(3);

/// Round trips after a breath that are no samples: the echo has to wake up, caches have to fill…
const WARM_UP: u64 = 100;

/// …but whatever is received later than this after the breath is a sample, however early it was sent: a stall in the
/// warm-up must not vanish, nor the slowness of a slow machine.
const LONGEST_WARM_UP: Duration = Duration::from_millis(5);

/// An answer that is later than this is lost.
const PATIENCE: Duration = Duration::from_millis(500);

/// After so many losses the echo is taken for dead.
const MAX_LOST: u64 = 5;

/// Each of the two floors takes this part of the phase.
const FLOOR_SHARE: u32 = 10;

/// More rounds than a floor's time limit allows.
const FLOOR_ROUNDS: u64 = 1_000_000;

/// Floors further apart than this factor are not one floor.
const STEADY: f64 = 1.5;

/// What the near end measured.
struct Measured {
    half_trip: Meter,
    /// Round trips of the warm-up, counted apart.
    warm_up: Meter,
    lost: u64,
    floors: [Meter; 2],
    policy: String,
    notes: Vec<String>,
    invalid_reasons: Vec<String>,
}

/// Measures half the round trip of a message; what cannot be measured is a phase that says why.
pub fn measure(name: &str, places: &Places, time: Duration) -> Phase {
    let (Some(near), Some(far)) = (places.node, places.peer) else {
        return Phase::not_measured(name, "the machine has a single CPU, and a message needs two");
    };
    match between(near, far, places, time) {
        Ok(measured) => phase(name, near, far, measured),
        Err(reason) => Phase::not_measured(name, reason),
    }
}

fn between(near: u32, far: u32, places: &Places, time: Duration) -> Result<Measured, String> {
    let base = format!("determinism-{}", std::process::id());
    // Real-time threads spin on isolated CPUs only: anywhere else they would stop the rest of the machine.
    let priority = |is_isolated: bool| is_isolated.then_some(SPIN_PRIORITY);
    let place =
        Place { cpu: Some(near), priority: priority(places.node_is_isolated), longest_computation: LONGEST_SPIN };
    let mut command = echo::command(&base, far, priority(places.peer_is_isolated), Style::Spinning);
    let mut echo = Group::start(&mut command).map_err(|error| format!("the echo process: {error}"))?;
    let ready = BufReader::new(echo.leader().stdout.take().expect("stdout is a pipe"));
    let result = thread::scope(|scope| {
        let near_end = scope.spawn(|| near_end(&base, place, time, ready));
        near_end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    // Waiting first: an echo that failed has said why, and its reason is better than our end's time-out.
    let ended = if result.is_ok() { echo.wait(MEETING) } else { echo.wait(Duration::from_millis(100)) };
    let mut measured = result.map_err(|error| format!("{error}{}", complaint(&mut echo)))?;
    measured.invalid_reasons.extend(ended.err().map(|error| ended_badly(&error, &mut echo)));
    if !places.peer_is_isolated {
        measured.notes.push(format!("the echo shares CPU {far}, which is not isolated, with everything else"));
    }
    Ok(measured)
}

/// Why a phase does not count whose echo ended with `error`.
fn ended_badly(error: &str, echo: &mut Group) -> String {
    format!("the echo process ended badly: {error}{}", complaint(echo))
}

/// Waits for the end of an echo that was told to end; says why its phase does not count, if it does not.
pub fn ended(echo: &mut Group) -> Option<String> {
    echo.wait(MEETING).err().map(|error| ended_badly(&error, echo))
}

/// What the echo process wrote before it ended, if it has.
pub fn complaint(echo: &mut Group) -> String {
    let mut text = String::new();
    if !echo.is_running()
        && let Some(pipe) = echo.leader().stderr.take()
    {
        let _ = pipe.take(1_000).read_to_string(&mut text);
    }
    if text.is_empty() { text } else { format!(" ({})", text.trim().replace('\n', ", ")) }
}

fn near_end(base: &str, place: Place, time: Duration, mut ready: BufReader<ChildStdout>) -> Result<Measured, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let names = Names::new(base).map_err(|error| text(&error))?;
    let mut measured = Measured {
        half_trip: Meter::new(),
        warm_up: Meter::new(),
        lost: 0,
        floors: [Meter::new(), Meter::new()],
        policy: String::new(),
        notes: Vec::new(),
        invalid_reasons: Vec::new(),
    };
    // Everything is opened before the CPU and the policy are taken: opening makes system calls and locks memory.
    let directory = Directory::from_environment().map_err(|error| text(&error))?;
    let [before, after] = names.floors.each_ref().map(|name| Pinger::create(&directory, name));
    let (before, after) = (before.map_err(|error| text(&error))?, after.map_err(|error| text(&error))?);
    let ping = Publisher::<Stamp>::open(&names.ping, Style::Spinning.options()).map_err(|error| text(&error))?;
    let pong = Subscriber::<Stamp>::open(&names.pong, Style::Spinning.options()).map_err(|error| text(&error))?;
    let granted = place.take();
    measured.policy = policy(&granted, SPIN_PRIORITY);
    measured.notes = granted.refused().map(not_granted).collect();
    // The echo says that it is ready when it has opened both topics, so that it hears the first message.
    floor(before, time / FLOOR_SHARE, &mut measured, 0, &mut ready)?;
    let mut ends = (ping, pong);
    exchange(&mut ends, time - 2 * (time / FLOOR_SHARE), &mut measured);
    // From here on there are figures, losses among them: what goes wrong now must not take them away.
    if let Err(error) = finish(&mut ends.0, after, time / FLOOR_SHARE, &mut measured, &mut ready) {
        measured.notes.push(format!("after the messages: {error}"));
    }
    Ok(measured)
}

/// Tells the echo that there are no more messages, and measures the second floor with it.
fn finish(
    ping: &mut Publisher<Stamp>,
    after: Pinger,
    time: Duration,
    measured: &mut Measured,
    ready: &mut impl BufRead,
) -> Result<(), String> {
    let end = Stamp { sequence: END, sent_ns: 0 };
    ping.send_timeout(end, PATIENCE).map_err(|_| "the echo process stopped taking messages".to_owned())?;
    if measured.lost < MAX_LOST {
        floor(after, time, measured, 1, ready)?;
    }
    Ok(())
}

/// Measures floor number `index` once the echo is ready; a floor that cannot be measured leaves a note, messages go on.
fn floor(
    mut pinger: Pinger,
    time: Duration,
    measured: &mut Measured,
    index: usize,
    ready: &mut impl BufRead,
) -> Result<(), String> {
    // Not for ever: the echo waits for a bounded time itself and then ends, which closes the pipe.
    loop {
        let mut line = String::new();
        ready.read_line(&mut line).map_err(|error| error.to_string())?;
        match line.trim() {
            READY => break,
            "" => return Err("the echo process ended early".to_owned()),
            refused => measured.notes.push(format!("echo: {refused}")),
        }
    }
    let meter = &mut measured.floors[index];
    let mut round = 0;
    let result = pinger.ping(FLOOR_ROUNDS, time.min(FLOOR_LIMIT), &AtomicBool::new(false), |nanoseconds| {
        meter.record(nanoseconds, round);
        round += 1;
    });
    // The time limit is how a floor ends, as long as there was an answer.
    if let (Err(error), 0) = (result, round) {
        measured.notes.push(format!("no floor: {error}"));
    }
    Ok(())
}

fn exchange(ends: &mut (Publisher<Stamp>, Subscriber<Stamp>), time: Duration, measured: &mut Measured) {
    let (ping, pong) = ends;
    let end = MonotonicTime::now().plus(time);
    let mut sequence = 0;
    while MonotonicTime::now() < end && measured.lost < MAX_LOST {
        let batch_start = MonotonicTime::now();
        let (warm_at, batch_end) = (batch_start.plus(LONGEST_WARM_UP), batch_start.plus(BATCH).min(end));
        let first = sequence;
        loop {
            sequence += 1;
            let sent = MonotonicTime::now();
            let stamp = Stamp { sequence, sent_ns: sent.as_nanos() };
            let answered = ping.try_send_stamped(stamp, stamp.sent_ns).is_ok() && await_answer(pong, sequence);
            let received = MonotonicTime::now();
            if !answered {
                measured.lost += 1;
                break;
            }
            let meter = if is_warm_up(sequence - first, received, warm_at) {
                &mut measured.warm_up
            } else {
                &mut measured.half_trip
            };
            meter.record(received.since(sent).as_nanos() as u64 / 2, sequence);
            if received >= batch_end {
                break;
            }
        }
        pause(PAUSE);
    }
}

/// Whether round trip number `trip` of a batch is warm-up; `received` decides, see [`LONGEST_WARM_UP`].
fn is_warm_up(trip: u64, received: MonotonicTime, warm_at: MonotonicTime) -> bool {
    trip <= WARM_UP && received < warm_at
}

/// The lower of the two floors, whether they are one floor, and if not, why there is no ratio.
///
/// The lower one, because a floor is what nothing can beat: a disturbance only ever raises it.
fn floor_of(before: Option<u64>, after: Option<u64>) -> (Option<u64>, Option<String>) {
    match (before, after) {
        (Some(before), Some(after)) => {
            let moved = Floors { before_ns: before as f64, after_ns: after as f64 }.apart() > STEADY;
            (
                Some(before.min(after)),
                moved.then(|| format!("the floor moved from {before} to {after} ns, so there is no ratio")),
            )
        }
        (None, None) => (None, None),
        (one, other) => (one.or(other), Some("the floor was measured only once, so there is no ratio".to_owned())),
    }
}

/// Waits for the answer to `sequence`; an answer to an earlier message was counted as lost and comes too late.
fn await_answer(pong: &mut Subscriber<Stamp>, sequence: u64) -> bool {
    let end = MonotonicTime::now().plus(PATIENCE);
    while let Some(received) = pong.recv_timeout(end.since(MonotonicTime::now())) {
        if received.message.sequence == sequence {
            return true;
        }
    }
    false
}

fn phase(name: &str, near: u32, far: u32, mut measured: Measured) -> Phase {
    let [before, after] = &measured.floors;
    let (floor_p50_ns, no_ratio) = floor_of(before.quantile(0.5), after.quantile(0.5));
    let is_steady = no_ratio.is_none();
    measured.notes.extend(no_ratio);
    let latency = Latency::of(&measured.half_trip);
    let ratio = |(floor, p50): (u64, u64)| (is_steady && floor > 0).then(|| p50 as f64 / floor as f64);
    Phase {
        name: name.to_owned(),
        measured: measured.half_trip.samples() > 0,
        reason: (measured.half_trip.samples() == 0)
            .then(|| format!("not one round trip ended in the time of the phase, {} were lost", measured.lost)),
        notes: measured.notes,
        invalid_reasons: measured.invalid_reasons,
        cpu: Some(near),
        peer_cpu: Some(far),
        policy: Some(measured.policy),
        samples: measured.half_trip.samples(),
        latency,
        lost: Some(measured.lost),
        warm_up_trips: Some(measured.warm_up.samples()),
        warm_up_max_ns: measured.warm_up.max_ns(),
        floor_p50_ns,
        floor_ratio: floor_p50_ns.zip(latency.p50_ns).and_then(ratio),
        histogram: measured.half_trip.classes(),
        ..Phase::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_received_after_the_warm_up_is_a_sample_however_early_it_was_sent() {
        let start = MonotonicTime::now();
        let warm_at = start.plus(LONGEST_WARM_UP);
        assert!(is_warm_up(1, start.plus(Duration::from_millis(1)), warm_at));
        assert!(!is_warm_up(1, start.plus(Duration::from_millis(400)), warm_at), "a stall in the warm-up");
        assert!(!is_warm_up(WARM_UP + 1, start.plus(Duration::from_millis(1)), warm_at));
    }

    #[test]
    fn the_lower_floor_counts_and_floors_that_differ_give_no_ratio() {
        assert_eq!(floor_of(Some(120), Some(100)), (Some(100), None));
        let (floor, note) = floor_of(Some(100), Some(200));
        assert!(floor == Some(100) && note.unwrap().contains("moved from 100 to 200 ns"));
        let (floor, note) = floor_of(Some(100), None);
        assert!(floor == Some(100) && note.is_some());
        assert_eq!(floor_of(None, None), (None, None));
    }

    #[test]
    fn an_error_after_the_messages_leaves_their_losses_in_the_phase() {
        let mut half_trip = Meter::new();
        half_trip.record(1_000, 1);
        let measured = Measured {
            half_trip,
            warm_up: Meter::new(),
            lost: 3,
            floors: [Meter::new(), Meter::new()],
            policy: "OTHER".to_owned(),
            notes: vec!["after the messages: the echo process ended early".to_owned()],
            invalid_reasons: vec!["the echo process ended badly: signal: 9".to_owned()],
        };
        let phase = phase("message-load", 1, 0, measured);
        assert!(phase.measured && phase.lost == Some(3) && phase.latency.max_ns == Some(1_000));
        assert_eq!((phase.notes.len(), phase.invalid_reasons.len()), (1, 1));
    }
}
