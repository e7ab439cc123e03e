//! What a run is told: built-in values, overridden by the image's file, overridden by the administrator's files.
//!
//! A file that cannot be used never stops the run: it is left out as a whole, and file, line and remedy go into the
//! report and the journal, where a run with such a problem is not valid.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::deadline::{MIN_PERIOD, Timing};
use horus::startup::MAX_RT_PRIORITY;
use horus::time::parse_duration;
use serde::{Deserialize, Deserializer, de::Error as _};
use toml::Spanned;

/// Read in this order, later files override earlier ones key by key.
///
/// The last one is on the data partition: the appliance's /etc is read-only.
pub const FILES: [&str; 3] =
    ["usr/lib/horus/determinism.toml", "etc/horus/determinism.toml", "var/lib/horus/determinism.toml"];

/// Overrides the duration of every file.
pub const DURATION_VARIABLE: &str = "HORUS_DETERMINISM_DURATION";

/// The shortest run: half a second for each phase that needs one.
pub const MIN_DURATION: Duration = Duration::from_secs(2);

/// The longest run that a file may ask for: the unit is stopped when it takes much longer. A soak run is started by
/// hand.
pub const MAX_BOOT_DURATION: Duration = Duration::from_secs(600);

/// The longest run at all.
pub const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// The longest period of the measured node: the self-test computes in vain for three of them, at real-time priority.
pub const MAX_PERIOD: Duration = Duration::from_millis(100);

/// Stands for the number of housekeeping CPUs in the load command.
pub const CPUS: &str = "{cpus}";

/// Stands for the seconds that the load has to last in the load command.
pub const SECONDS: &str = "{seconds}";

/// A whole configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What all phases together may take.
    pub duration: Duration,
    /// Period and deadline of the measured node.
    pub timing: Timing,
    /// `SCHED_FIFO` priority of the node and of cyclictest.
    pub priority: u8,
    /// Distance of two wake-ups of cyclictest.
    pub cyclictest_interval: Duration,
    /// Program and arguments that load the housekeeping CPUs; may contain [`CPUS`] and [`SECONDS`].
    pub load: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        let words = "stress-ng --cpu {cpus} --vm 1 --vm-bytes 64M --io 1 --timer 1 --timeout {seconds}s --quiet";
        Self {
            duration: Duration::from_secs(60),
            timing: Timing::new(Duration::from_millis(1), Duration::from_micros(800)).expect("800 us fit into 1 ms"),
            priority: 80,
            cyclictest_interval: Duration::from_millis(1),
            load: words.split(' ').map(str::to_owned).collect(),
        }
    }
}

/// A file as it is written; what it leaves out stays as it was.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Layer {
    duration: Option<Spanned<Length>>,
    period: Option<Spanned<Length>>,
    deadline: Option<Spanned<Length>>,
    priority: Option<Spanned<u8>>,
    cyclictest_interval: Option<Spanned<Length>>,
    load: Option<Spanned<Vec<String>>>,
}

/// A length of time, written with its unit: `"800us"`.
#[derive(Clone, Copy)]
struct Length(Duration);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text).map(Self).map_err(D::Error::custom)
    }
}

/// Where in a file something is wrong, and what.
type Complaint = (Option<Range<usize>>, String);

/// Reads the configuration below `root`, or only `file` when one is named. Returns it with what could not be used.
pub fn load(root: &Path, file: Option<&Path>) -> (Config, Vec<String>) {
    let paths: Vec<PathBuf> = match file {
        Some(file) => vec![file.to_owned()],
        None => FILES.iter().map(|name| root.join(name)).filter(|path| path.exists()).collect(),
    };
    let mut config = Config::default();
    let mut problems = Vec::new();
    for path in paths {
        match read(&path, &config) {
            Ok(changed) => config = changed,
            Err(problem) => problems.push(problem),
        }
    }
    (config, problems)
}

/// The duration from the environment, if it is set there.
pub fn duration_from_environment() -> Result<Option<Duration>, String> {
    let Some(text) = std::env::var_os(DURATION_VARIABLE) else { return Ok(None) };
    parse_run_duration(&text.to_string_lossy())
        .map(Some)
        .map_err(|error| format!("environment variable {DURATION_VARIABLE}: {error}; it is ignored"))
}

/// Parses the length of a run given on the command line or in the environment.
pub fn parse_run_duration(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    within(duration, MIN_DURATION, MAX_DURATION).map_err(|error| format!("duration {error}"))
}

fn within(duration: Duration, min: Duration, max: Duration) -> Result<Duration, String> {
    if (min..=max).contains(&duration) {
        Ok(duration)
    } else {
        Err(format!("{duration:?} is out of range: choose {min:?} to {max:?}"))
    }
}

fn read(path: &Path, base: &Config) -> Result<Config, String> {
    let ignored = "the settings of this file are not used";
    let bytes = std::fs::read(path).map_err(|error| {
        format!("{}: cannot be read: {error}; check path and permissions, {ignored}", path.display())
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!(
            "{}:{line}: line {line} is not text (byte {:#04x} at offset {at} of the file); write the file anew as UTF-8, {ignored}",
            path.display(),
            bytes[at]
        )
    })?;
    let complain = |(span, message): Complaint| {
        let line = span.map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("{}:{line}: {message}; correct the line or remove it, {ignored}", path.display())
    };
    let layer: Layer =
        toml::from_str(&text).map_err(|error| complain((error.span(), error.message().replace('\n', ", "))))?;
    layer.over(base).map_err(complain)
}

impl Layer {
    /// `base` with the settings of this file on top, checked.
    fn over(self, base: &Config) -> Result<Config, Complaint> {
        let mut config = base.clone();
        if let Some(duration) = self.duration {
            config.duration = within(duration.get_ref().0, MIN_DURATION, MAX_BOOT_DURATION)
                .map_err(|error| (Some(duration.span()), format!("duration {error} (longer ones: --duration)")))?;
        }
        let span = self.deadline.as_ref().or(self.period.as_ref()).map(Spanned::span);
        let period = self.period.map_or(base.timing.period(), |period| period.get_ref().0);
        let deadline = self.deadline.map_or(base.timing.deadline(), |deadline| deadline.get_ref().0);
        config.timing = within(period, MIN_PERIOD, MAX_PERIOD)
            .map_err(|error| format!("period {error}"))
            .and_then(|period| Timing::new(period, deadline).map_err(|error| error.to_string()))
            .map_err(|error| (span, error))?;
        if let Some(priority) = self.priority {
            config.priority = *priority.get_ref();
            if !(1..=MAX_RT_PRIORITY).contains(&config.priority) {
                let message = format!("priority {} is out of range: choose 1 to {MAX_RT_PRIORITY}", config.priority);
                return Err((Some(priority.span()), message));
            }
        }
        if let Some(interval) = self.cyclictest_interval {
            let (min, max) = (Duration::from_micros(100), Duration::from_millis(100));
            config.cyclictest_interval = within(interval.get_ref().0, min, max)
                .map_err(|error| (Some(interval.span()), format!("cyclictest-interval {error}")))?;
        }
        if let Some(load) = self.load {
            let span = load.span();
            config.load = load.into_inner();
            if config.load.first().is_none_or(String::is_empty) {
                return Err((Some(span), "load names no program: write [\"program\", \"argument\"]".to_owned()));
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
