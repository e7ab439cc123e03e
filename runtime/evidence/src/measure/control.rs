//! The negative control: the meter with nothing to measure. The clock is read again and again on the node's CPU, and the distance of two
//! readings is the sample.
//!
//! Half of them say what a reading costs: no figure of a node can be finer. The largest say for how long the CPU was taken away while nobody
//! waited for anything: the machine's own part of every other figure. Like all that spins, it runs below every node and interrupt thread.

use std::thread;
use std::time::Duration;

use horus::time::{Clock, MonotonicTime, SystemClock, pause};
use horus_measure::meter::Meter;

use crate::record::schema::{Latency, Phase};

use super::grants::{not_granted, policy};
use super::message::SPIN_PRIORITY;
use super::metered::Place;

/// After reading for this long the thread sleeps, so that others of its CPU get their turn…
const BATCH: Duration = Duration::from_millis(100);

/// …for this long. The sleep is no sample.
const PAUSE: Duration = Duration::from_millis(3);

/// Measures for `time`. A real-time thread reads on and on only where it has a CPU of its own.
pub fn measure(name: &str, place: Place, is_isolated: bool, time: Duration) -> Phase {
    let place = Place { priority: is_isolated.then_some(SPIN_PRIORITY), ..place };
    thread::scope(|scope| {
        let reader = scope.spawn(|| measure_here(name, place, time));
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure_here(name: &str, place: Place, time: Duration) -> Phase {
    let mut gaps = Meter::new();
    let granted = place.take();
    let end = MonotonicTime::now().plus(time);
    let mut number = 0;
    let mut now = MonotonicTime::now();
    while now < end {
        let batch_end = now.plus(BATCH).min(end);
        while now < batch_end {
            let next = SystemClock.now();
            gaps.record(next.since(now).as_nanos() as u64, number);
            number += 1;
            now = next;
        }
        pause(PAUSE);
        now = MonotonicTime::now();
    }
    let mut notes: Vec<String> = granted.refused().map(not_granted).collect();
    if place.priority.is_none() {
        notes.push("the CPU is not isolated, so the ordinary policy shares it with everything else".to_owned());
    }
    Phase {
        name: name.to_owned(),
        measured: gaps.samples() > 0,
        reason: (gaps.samples() == 0).then(|| "the time of the phase is too short for one reading".to_owned()),
        notes,
        cpu: place.cpu,
        policy: Some(place.priority.map_or_else(|| "OTHER".to_owned(), |priority| policy(&granted, priority))),
        samples: gaps.samples(),
        latency: Latency::of(&gaps),
        histogram: gaps.classes(),
        ..Phase::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_a_sample_and_the_sleeps_are_none() {
        let place = Place { cpu: None, priority: Some(80), longest_computation: Duration::from_secs(1) };
        let phase = measure("control-idle", place, false, Duration::from_millis(20));
        let counted: u64 = phase.histogram.iter().map(|class| class.1).sum();
        assert!(phase.measured && phase.samples > 0 && counted == phase.samples, "{phase:?}");
        assert_eq!((phase.policy.as_deref(), phase.misses), (Some("OTHER"), None));
        assert!(phase.notes.iter().any(|note| note.contains("not isolated")));
    }
}
