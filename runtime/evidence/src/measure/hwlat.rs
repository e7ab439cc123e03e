//! Stalls from below the kernel: its hwlat tracer reads the clock on the node's CPU with interrupts off, so that a gap has no other cause than
//! firmware, hypervisor or hardware.
//!
//! It runs in a trace instance of its own, which no other tracing meets. The CPU does nothing else while a window lasts: this is no phase
//! for a machine at work.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use horus::stop;
use horus::time::{MonotonicTime, pause};
use horus_measure::meter::Meter;
use horus_witness::tracefs;

use crate::record::schema::{Latency, Phase};

/// Our instance.
const INSTANCE: &str = "instances/horus-hwlat";

/// What the kernel chooses: each second the CPU is taken for half of it, and gaps from 10 us on are told. `hwlatdetect` has the same.
const CHOSEN: Settings = Settings { width_us: 500_000, window_us: 1_000_000, threshold_us: 10 };

/// How the tracer measures. All traces of the machine share these, so they are left as they are and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    width_us: u64,
    window_us: u64,
    threshold_us: u64,
}

impl Settings {
    /// Reads them while the tracer runs: the kernel sets the threshold then.
    fn read(tracefs: &Path) -> Self {
        let number = |file: &str, chosen: u64| {
            let text = fs::read_to_string(tracefs.join(file)).unwrap_or_default();
            text.trim().parse().ok().filter(|number| *number > 0).unwrap_or(chosen)
        };
        Self {
            width_us: number("hwlat_detector/width", CHOSEN.width_us),
            window_us: number("hwlat_detector/window", CHOSEN.window_us),
            threshold_us: number("tracing_thresh", CHOSEN.threshold_us),
        }
    }
}

/// Our trace instance; dropping it stops the tracer and removes it.
struct Instance(PathBuf);

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("tracing_on"), "0");
        let _ = fs::write(self.0.join("current_tracer"), "nop");
        let _ = fs::remove_dir(&self.0);
    }
}

/// How often a running tracer's phase looks whether the run is to end.
const LOOK: Duration = Duration::from_millis(200);

/// What a shell says of a program that a signal ended.
const ENDED_BY_SIGNAL: i32 = 128 + 15;

/// Set while SIGTERM and SIGINT end the process as usual, and when one of them came. A tracer that outlives its run would go on taking the CPU, so
/// while it runs they only set this.
fn termination() -> Option<&'static Arc<AtomicBool>> {
    static ENDS: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    ENDS.get_or_init(|| stop::on_termination().ok()).as_ref()
}

/// Waits for `time`, or until the run is to end: whether that was so.
fn wait(time: Duration, ends: Option<&Arc<AtomicBool>>) -> bool {
    let end = MonotonicTime::now().plus(time);
    loop {
        let left = end.since(MonotonicTime::now());
        if ends.is_some_and(|ends| ends.load(Ordering::Relaxed)) {
            return true;
        }
        if left.is_zero() {
            return false;
        }
        pause(left.min(LOOK));
    }
}

/// Measures for `time` on `cpu`; what cannot be measured is a phase that says why.
pub fn measure(name: &str, tracefs: &Path, cpu: Option<u32>, time: Duration) -> Phase {
    match trace(tracefs, cpu, time) {
        Ok((text, settings)) => phase(name, cpu, &text, settings, time),
        Err(reason) => Phase::not_measured(name, reason),
    }
}

/// Runs the tracer, and returns what it wrote and how it measured.
fn trace(tracefs: &Path, cpu: Option<u32>, time: Duration) -> Result<(String, Settings), String> {
    let tracers = fs::read_to_string(tracefs.join("available_tracers")).map_err(|error| unreadable(tracefs, &error))?;
    if !tracers.split_whitespace().any(|tracer| tracer == "hwlat") {
        return Err("this kernel has no hwlat tracer (CONFIG_HWLAT_TRACER)".to_owned());
    }
    let failed = |what: &str, error: io::Error| {
        let help = match error.kind() {
            io::ErrorKind::ResourceBusy => "; does another program trace with hwlat?",
            io::ErrorKind::ReadOnlyFilesystem => "; the unit that runs this hides the tracer: use horus-night.service",
            _ => "",
        };
        format!("{what} cannot be set: {error}{help}")
    };
    let path = tracefs.join(INSTANCE);
    drop(Instance(path.clone())); // that of a run that was killed
    fs::create_dir(&path).map_err(|error| failed("a trace instance", error))?;
    let instance = Instance(path);
    if let Some(cpu) = cpu {
        fs::write(instance.0.join("tracing_cpumask"), tracefs::mask(cpu))
            .map_err(|error| failed("tracing_cpumask", error))?;
    }
    let ends = termination();
    ends.inspect(|ends| ends.store(false, Ordering::Relaxed));
    let started = fs::write(instance.0.join("current_tracer"), "hwlat");
    let is_ended = started.is_ok() && wait(time, ends);
    if is_ended {
        drop(instance);
        process::exit(ENDED_BY_SIGNAL);
    }
    ends.inspect(|ends| ends.store(true, Ordering::Relaxed));
    started.map_err(|error| failed("current_tracer", error))?;
    let settings = Settings::read(tracefs);
    let _ = fs::write(instance.0.join("tracing_on"), "0");
    let text = fs::read_to_string(instance.0.join("trace")).map_err(|error| failed("trace", error))?;
    Ok((text, settings))
}

fn unreadable(tracefs: &Path, error: &io::Error) -> String {
    let path = tracefs.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{path} may not be read by this user: run as root"),
        io::ErrorKind::NotFound => format!("tracefs is not mounted at {path}: mount -t tracefs none {path}"),
        _ => format!("{path}: {error}"),
    }
}

/// The stalls in the tracer's lines: `<...>-1729 [003] d... 678.4: #1  inner/outer(us):   11/14  ts:… count:2`.
fn stalls_us(text: &str) -> impl Iterator<Item = u64> {
    let numbers = |line: &str| {
        let (inner, outer) = line.split_once("inner/outer(us):")?.1.split_whitespace().next()?.split_once('/')?;
        let (inner, outer): (u64, u64) = (inner.parse().ok()?, outer.parse().ok()?);
        Some(inner.max(outer))
    };
    text.lines().filter_map(numbers)
}

fn phase(name: &str, cpu: Option<u32>, text: &str, settings: Settings, time: Duration) -> Phase {
    let mut meter = Meter::new();
    stalls_us(text).enumerate().for_each(|(number, us)| meter.record(us * 1_000, number as u64));
    let windows = (time.as_micros() as u64).div_ceil(settings.window_us).max(1);
    let found = meter.samples();
    Phase {
        name: name.to_owned(),
        measured: true,
        notes: vec![format!(
            "{found} window(s) of {} ms each had a stall of {} us or more",
            settings.width_us / 1_000,
            settings.threshold_us
        )],
        cpu,
        samples: windows,
        latency: Latency { max_ns: meter.max_ns(), ..Latency::default() },
        histogram: meter.classes(),
        ..Phase::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines as the kernel's documentation shows them (Documentation/trace/hwlat_detector.rst and ftrace.rst).
    const TRACE: &str = "# tracer: hwlat\n#\n\
        \x20          <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6\n\
        \x20          <...>-1729  [004] d...   689.556542: #2     inner/outer(us):   16/9     ts:1581527494.889008092 count:1\n";

    #[test]
    fn each_line_is_a_stall_and_the_longer_half_of_it_counts() {
        assert_eq!(stalls_us(TRACE).collect::<Vec<_>>(), [12, 16]);
        let phase = phase("hwlat-idle", Some(3), TRACE, CHOSEN, Duration::from_secs(7));
        assert_eq!((phase.samples, phase.latency.max_ns, phase.misses), (7, Some(16_000), None));
        assert!(phase.notes[0].starts_with("2 window(s) of 500 ms"), "{:?}", phase.notes);
    }

    #[test]
    fn a_machine_without_stalls_was_measured_all_the_same() {
        let phase = phase("hwlat-idle", None, "# tracer: hwlat\n", CHOSEN, Duration::from_millis(1));
        assert!(phase.measured && phase.samples == 1 && phase.latency.max_ns.is_none() && phase.histogram.is_empty());
    }

    #[test]
    fn what_is_missing_is_named() {
        let tracefs = tempfile::tempdir().unwrap();
        let reason = |path: &Path| measure("hwlat-idle", path, None, Duration::ZERO).reason.unwrap();
        assert!(reason(tracefs.path()).contains("tracefs is not mounted"));
        fs::write(tracefs.path().join("available_tracers"), "function nop\n").unwrap();
        assert!(reason(tracefs.path()).contains("CONFIG_HWLAT_TRACER"));
        fs::write(tracefs.path().join("available_tracers"), "hwlat nop\n").unwrap();
        assert!(reason(tracefs.path()).contains("a trace instance cannot be set"));
    }

    #[test]
    fn how_the_kernel_measures_is_read_and_where_it_does_not_tell_it_is_as_the_kernel_chooses() {
        let tracefs = tempfile::tempdir().unwrap();
        assert_eq!(Settings::read(tracefs.path()), CHOSEN);
        fs::create_dir(tracefs.path().join("hwlat_detector")).unwrap();
        fs::write(tracefs.path().join("hwlat_detector/width"), "20000\n").unwrap();
        assert_eq!(Settings::read(tracefs.path()), Settings { width_us: 20_000, ..CHOSEN });
    }

    #[test]
    fn a_phase_ends_with_its_time_or_when_somebody_ends_the_run() {
        let ends = Arc::new(AtomicBool::new(false));
        assert!(!wait(Duration::from_millis(1), Some(&ends)) && !wait(Duration::ZERO, None));
        ends.store(true, Ordering::Relaxed);
        assert!(wait(Duration::from_secs(3_600), Some(&ends)));
    }
}
