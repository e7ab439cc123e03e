//! Watches the machine while a phase is measured: temperature, clock and throttling once an interval, and whether a program
//! traces the kernel.
//!
//! The reader runs on the housekeeping CPUs, where the run's process is. To read a thermal zone or a clock can cost the CPU that it
//! belongs to one interrupt on some processors: one an interval, which is part of what is measured, on every machine alike.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::record::interval::Intervals;

use super::Throttling;

/// The witness of deadline misses, which has trace instances of its own.
const WITNESS: &str = "run/horus/witness.sock";

/// Where trace instances are.
const INSTANCES: &str = "sys/kernel/tracing/instances";

/// What the machine was like at the end of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    temperature_mc: Option<i64>,
    frequency_khz: Option<u64>,
    is_throttled: Option<bool>,
}

/// Runs `measure` and meanwhile reads the machine's state every `width_ns`.
pub fn during<T>(root: &Path, cpu: Option<u32>, width_ns: u64, measure: impl FnOnce() -> T) -> (T, Vec<State>) {
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut states, mut before) = (Vec::new(), Throttling::read(root));
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(Duration::from_nanos(width_ns)) {
                states.push(state(root, cpu, &mut before));
            }
            states.push(state(root, cpu, &mut before));
            states
        });
        let result = measure();
        drop(ended);
        (result, reader.join().unwrap_or_default())
    })
}

/// Puts states into the intervals that they were read at the end of.
pub fn fill(intervals: &mut Intervals, states: &[State]) {
    for (row, state) in intervals.rows.iter_mut().zip(states) {
        row.temperature_mc = state.temperature_mc;
        row.frequency_khz = state.frequency_khz;
        row.is_throttled = state.is_throttled;
    }
}

fn state(root: &Path, cpu: Option<u32>, before: &mut Throttling) -> State {
    let zones = fs::read_dir(root.join("sys/class/thermal")).into_iter().flatten().flatten();
    let zones = zones.filter(|zone| zone.file_name().to_string_lossy().starts_with("thermal_zone"));
    let clock = |cpu: u32| number(&root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")));
    let now = Throttling::read(root);
    let is_throttled = now.is_known().then(|| now.has_begun_since(before));
    *before = now;
    State {
        temperature_mc: zones.filter_map(|zone| number(&zone.path().join("temp"))).max(),
        frequency_khz: cpu.and_then(clock).and_then(|khz| u64::try_from(khz).ok()),
        is_throttled,
    }
}

fn number(path: &Path) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Whether a program traces the kernel, which costs every cycle something; `None` where that cannot be seen.
pub fn is_traced(root: &Path) -> Option<bool> {
    if root.join(WITNESS).exists() {
        return Some(true);
    }
    match fs::read_dir(root.join(INSTANCES)) {
        Ok(mut instances) => Some(instances.next().is_some()),
        // Without a mounted tracefs there is no instance.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, content: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[test]
    fn a_machine_that_tells_nothing_has_no_figures_and_one_that_does_has_its_worst() {
        let root = tempfile::tempdir().unwrap();
        let ((), states) = during(root.path(), Some(3), 1_000_000_000, || ());
        assert_eq!(states, [State::default()]);
        write(root.path(), "sys/class/thermal/thermal_zone0/temp", "41000\n");
        write(root.path(), "sys/class/thermal/thermal_zone1/temp", "52500\n");
        write(root.path(), "sys/class/thermal/cooling_device0/temp", "99000\n");
        write(root.path(), "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "2800000\n");
        let counter = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        write(root.path(), counter, "4");
        let ((), states) = during(root.path(), Some(3), 1_000_000_000, || write(root.path(), counter, "4"));
        let calm = State { temperature_mc: Some(52_500), frequency_khz: Some(2_800_000), is_throttled: Some(false) };
        assert_eq!(states, [calm]);
        let mut before = Throttling::read(root.path());
        write(root.path(), counter, "5");
        assert_eq!(state(root.path(), Some(3), &mut before), State { is_throttled: Some(true), ..calm });
        let mut intervals = Intervals::over(1);
        fill(&mut intervals, &states);
        assert_eq!(intervals.rows[0].temperature_mc, Some(52_500));
    }

    #[test]
    fn a_second_trace_instance_and_the_witness_are_tracing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(is_traced(root.path()), Some(false));
        fs::create_dir_all(root.path().join(INSTANCES)).unwrap();
        assert_eq!(is_traced(root.path()), Some(false));
        fs::create_dir(root.path().join(INSTANCES).join("mine")).unwrap();
        assert_eq!(is_traced(root.path()), Some(true));
        fs::remove_dir(root.path().join(INSTANCES).join("mine")).unwrap();
        write(root.path(), WITNESS, "");
        assert_eq!(is_traced(root.path()), Some(true));
    }
}
