//! What a run is told: built-in values, overridden by the image's file, overridden by the administrator's files.
//!
//! A file that cannot be used never stops the run: it is left out as a whole, and file, line and remedy go into the
//! report and the journal, where a run with such a problem is not valid.

pub mod phases;
mod written;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::deadline::{MIN_PERIOD, Timing};
use horus::startup::MAX_RT_PRIORITY;
use horus::time::parse_duration;
use serde::{Deserialize, Deserializer, de::Error as _};
use toml::Spanned;

use phases::{IDLE, LOAD, Load, PhasePlan};
use written::{LoadText, PhaseText, check_command};

/// Where the files of a set are, read in this order; later ones override earlier ones key by key.
///
/// The last one is on the data partition: the appliance's /etc is read-only.
const DIRECTORIES: [&str; 3] = ["usr/lib/horus", "etc/horus", "var/lib/horus"];

/// Which set of phases a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// The run of each boot.
    Boot,
    /// The long set.
    Night,
}

impl Set {
    /// The name of its files.
    pub fn file(self) -> &'static str {
        match self {
            Self::Boot => "determinism.toml",
            Self::Night => "night.toml",
        }
    }

    /// What holds where no file says otherwise. The night's phases are in its file alone.
    fn built_in(self) -> Config {
        match self {
            Self::Boot => Config::default(),
            Self::Night => Config { duration: Duration::from_secs(8 * 3600), ..Config::default() },
        }
    }

    /// The longest run that a file may ask for: the unit of a boot's run is stopped when it takes much longer.
    fn longest(self) -> Duration {
        match self {
            Self::Boot => Duration::from_secs(600),
            Self::Night => MAX_DURATION,
        }
    }
}

/// Overrides the duration of every file.
pub(crate) const DURATION_VARIABLE: &str = "HORUS_DETERMINISM_DURATION";

/// The shortest run: half a second for each phase that needs one.
pub(crate) const MIN_DURATION: Duration = Duration::from_secs(2);

/// The longest run at all.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// The longest period of the measured node: the self-test computes in vain for three of them, at real-time priority.
pub(crate) const MAX_PERIOD: Duration = Duration::from_millis(100);

/// Stands for the number of housekeeping CPUs in the load command.
pub const CPUS: &str = "{cpus}";

/// Stands for the seconds that the load has to last in the load command.
pub const SECONDS: &str = "{seconds}";

/// Stands for a directory beside the reports in the load command, for a load that writes to the disk.
pub const DATA: &str = "{data}";

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
    /// What can load the housekeeping CPUs, by name; commands may contain [`CPUS`], [`SECONDS`] and [`DATA`].
    pub loads: BTreeMap<String, Load>,
    /// What is measured, in this order.
    pub phases: Vec<PhasePlan>,
}

impl Config {
    /// The loads that its phases need, in their order.
    pub(crate) fn used_loads(&self) -> Vec<(&str, &Load)> {
        let mut used: Vec<(&str, &Load)> = Vec::new();
        for phase in self.phases.iter().filter(|phase| phase.load != IDLE) {
            if !used.iter().any(|(name, _)| *name == phase.load)
                && let Some(load) = self.loads.get(&phase.load)
            {
                used.push((&phase.load, load));
            }
        }
        used
    }
}

impl Default for Config {
    fn default() -> Self {
        let words = "stress-ng --cpu {cpus} --vm 1 --vm-bytes 64M --io 1 --timer 1 --timeout {seconds}s --quiet";
        Self {
            duration: Duration::from_secs(60),
            timing: Timing::new(Duration::from_millis(1), Duration::from_micros(800)).expect("800 us fit into 1 ms"),
            priority: 80,
            cyclictest_interval: Duration::from_millis(1),
            loads: BTreeMap::from([(LOAD.to_owned(), Load::new(words.split(' ').map(str::to_owned).collect()))]),
            phases: phases::of_boot(),
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
    #[serde(default)]
    loads: BTreeMap<String, LoadText>,
    phase: Option<Vec<PhaseText>>,
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

/// Reads the configuration of `set` below `root`, or only `file` when one is named. Returns it with what could not be used.
pub fn load(set: Set, root: &Path, file: Option<&Path>) -> (Config, Vec<String>) {
    let files = DIRECTORIES.map(|directory| root.join(directory).join(set.file()));
    let mut problems = Vec::new();
    let paths: Vec<PathBuf> = match file {
        Some(file) => vec![file.to_owned()],
        None => files.iter().filter(|path| path.exists()).cloned().collect(),
    };
    if set == Set::Night && paths.is_empty() {
        let file = files[0].display();
        problems.push(format!(
            "{file} is missing, so the night has the phases of a boot's run; install the file or name one with --config"
        ));
    }
    let mut config = set.built_in();
    for path in paths {
        match read(set, &path, &config) {
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

/// The distance of two wake-ups of cyclictest, from the key `key`.
fn cyclictest_interval(key: &str, interval: &Spanned<Length>) -> Result<Duration, Complaint> {
    let (min, max) = (Duration::from_micros(100), Duration::from_millis(100));
    within(interval.get_ref().0, min, max).map_err(|error| (Some(interval.span()), format!("{key} {error}")))
}

fn read(set: Set, path: &Path, base: &Config) -> Result<Config, String> {
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
    layer.over(base, set.longest()).map_err(complain)
}

impl Layer {
    /// `base` with the settings of this file on top, checked.
    fn over(self, base: &Config, longest: Duration) -> Result<Config, Complaint> {
        let mut config = base.clone();
        if let Some(duration) = self.duration {
            config.duration = within(duration.get_ref().0, MIN_DURATION, longest)
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
            config.cyclictest_interval = cyclictest_interval("cyclictest-interval", &interval)?;
        }
        if let Some(load) = self.load {
            let span = load.span();
            check_command(load.get_ref()).map_err(|error| (Some(span), error))?;
            config.loads.insert(LOAD.to_owned(), Load::new(load.into_inner()));
        }
        for (name, load) in self.loads {
            let load = load.checked(&name)?;
            config.loads.insert(name, load);
        }
        if let Some(texts) = self.phase {
            config.phases = written::checked(texts, &config.loads)?;
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
