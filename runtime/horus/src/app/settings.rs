//! `node.toml`: what it says has the last word over what the program says. It is checked before anything starts.
//!
//! ```toml
//! program = "balance"
//! [node.control]
//! period = "1 ms"
//! budget = "150 us"
//! deadline = "800 us"
//! cpu = "isolated"          # isolated, isolated:1, isolated-last, housekeeping, 2, 2-3
//! scheduling_policy = "fifo:80"   # fifo:N, rr:N, deadline, other
//! on_miss = { safe_state = { after = 3, within = 100 } }
//! [topics]
//! "imu" = "subscribe"
//! "base.cmd" = { publish = true, group = "robots" }
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::Declared;
use crate::journal::{Entry, Priority};
use crate::near::nearest;
use crate::param::Assembled;
use crate::topic::{Group, Options};

mod file;
mod installation;
mod renamed;
mod schema;

use file::{Direction, File, TopicSettings, TopicTable};
pub use installation::{GROUPS, Installation, Restart};
pub use schema::{pretty, schema};

/// Names the file.
pub const FILE_VARIABLE: &str = "HORUS_NODE_FILE";
/// Its name in a node's folder.
pub const FILE_NAME: &str = "node.toml";

/// Why the settings of a program cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: {source}; ${FILE_VARIABLE} names it", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It says what makes no sense. The text names line and column.
    #[error("{}: {text}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        text: String,
    },
    /// It wants a group that no installed program is given.
    #[error(
        "{}: it wants the group '{group}', which no installed program is given: choose one of {}",
        path.display(), installation::GROUPS.join(", ")
    )]
    Group {
        /// The file.
        path: PathBuf,
        /// The group.
        group: String,
    },
    /// It is for another program.
    #[error("{}: it is for program '{found}', and this is '{program}'", path.display())]
    OtherProgram {
        /// The file.
        path: PathBuf,
        /// What it names.
        found: String,
        /// This program.
        program: String,
    },
    /// It names a node that the program has not.
    #[error(
        "{}: [node.{node}]: the program has no such node{}; it has {}",
        path.display(), meant(node, known.iter().map(String::as_str)), known.join(", ")
    )]
    NoSuchNode {
        /// The file.
        path: PathBuf,
        /// The name.
        node: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The program wants a topic that the file does not give it.
    #[error("{}: [topics] does not let this program {what} '{topic}'{near}: add \"{topic}\" = \"{what}\"", path.display())]
    Topic {
        /// The file.
        path: PathBuf,
        /// The topic.
        topic: String,
        /// `publish` or `subscribe`.
        what: &'static str,
        /// A topic of the file that was meant, perhaps, in brackets; else nothing.
        near: String,
    },
}

/// The settings of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    path: PathBuf,
    text: String,
    file: File,
    origin: Origin,
}

/// Which file was read, or why none.
#[derive(Clone, Debug, Default)]
enum Origin {
    #[default]
    Nowhere,
    Read(PathBuf),
    /// There is a file, and it is not this program's.
    Left(PathBuf, String),
}

/// The current folder, as people know it.
fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

impl Settings {
    /// Those of `program`; none where there is no file.
    pub fn find(program: &str) -> Result<Self, SettingsError> {
        match std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => {
                let settings = Self::read(Path::new(&path))?;
                match &settings.file.program {
                    Some(found) if found != program => Err(SettingsError::OtherProgram {
                        path: settings.path,
                        found: found.clone(),
                        program: program.to_owned(),
                    }),
                    _ => Ok(settings),
                }
            }
            None if Path::new(FILE_NAME).is_file() => {
                let settings = Self::read(Path::new(FILE_NAME))?;
                let place = here().join(FILE_NAME);
                let not_read = match &settings.file.program {
                    Some(found) if found == program => {
                        return Ok(Self { origin: Origin::Read(place), ..settings });
                    }
                    Some(found) => format!("it is for program '{found}', and this is '{program}'"),
                    None => format!("it names no program: add program = \"{program}\""),
                };
                Ok(Self { origin: Origin::Left(place, not_read), ..Self::default() })
            }
            None => Ok(Self::default()),
        }
    }

    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let wrong = |text: String| SettingsError::Parse { path: path.to_owned(), text };
        if let Some(refusal) = renamed::refusal(text) {
            return Err(wrong(refusal));
        }
        let file = toml::from_str(text).map_err(|error| wrong(told(&error)))?;
        Ok(Self { path: path.to_owned(), text: text.to_owned(), file, origin: Origin::Read(path.to_owned()) })
    }

    /// File and line of the first of these words that it has for a node.
    pub fn place(&self, node: &str, words: &[&str]) -> Option<String> {
        let places: file::Places = toml::from_str(&self.text).ok()?;
        let said = places.node.get(node)?;
        let word = words.iter().find_map(|word| said.get(*word))?;
        Some(format!("{}, line {}", self.path.display(), file::line(&self.text, word)?))
    }

    pub fn is_strict(&self) -> bool {
        self.file.strict
    }

    /// For the journal: which file was read, or why none.
    pub fn told(&self, program: &str) -> Entry {
        let (priority, text) = match &self.origin {
            Origin::Read(path) => (Priority::Info, format!("{program} has the settings of {}", path.display())),
            Origin::Nowhere => (
                Priority::Info,
                format!(
                    "{program} has its own settings: ${FILE_VARIABLE} names no file, and {} has no {FILE_NAME}",
                    here().display()
                ),
            ),
            Origin::Left(path, why) => (
                Priority::Warning,
                format!("{program} has its own settings, and {} is not read: {why}", path.display()),
            ),
        };
        Entry::plain(priority, text)
    }

    /// How long after the first signal a second one changes nothing, where the file says so.
    pub fn grace(&self) -> Option<Duration> {
        self.file.grace
    }

    /// Whether the program may subscribe a topic.
    pub fn allow_subscriber(&self, topic: &str) -> Result<(), SettingsError> {
        self.allow(topic, Direction::Subscribe, "subscribe").map(|_| ())
    }

    /// Whether it may publish one, and who else may open what it makes.
    pub fn allow_publisher(&self, topic: &str, options: Options) -> Result<Options, SettingsError> {
        Ok(match self.allow(topic, Direction::Publish, "publish")? {
            Some(TopicSettings::Table(TopicTable { group: Some(group), .. })) => options.group(group.as_str()),
            _ => options,
        })
    }

    fn allow(
        &self,
        topic: &str,
        wanted: Direction,
        what: &'static str,
    ) -> Result<Option<&TopicSettings>, SettingsError> {
        let Some(topics) = &self.file.topics else { return Ok(None) };
        match topics.get(topic) {
            Some(settings) if settings.allows(wanted) => Ok(Some(settings)),
            _ => {
                let others = topics.keys().map(String::as_str).filter(|known| *known != topic);
                let near = nearest(topic, others).map_or_else(String::new, |near| format!(" (it has '{near}')"));
                Err(SettingsError::Topic { path: self.path.clone(), topic: topic.to_owned(), what, near })
            }
        }
    }

    /// The group that may set parameters, where the file says so.
    pub fn setters(&self) -> Option<Group> {
        self.file.params.group.as_ref().map(|group| group.as_str().into())
    }

    /// Has parameters begin with the values that it gives them.
    pub fn apply_params(&self, params: &mut Assembled) -> Result<(), SettingsError> {
        for (node, settings) in &self.file.node {
            for (name, value) in &settings.params {
                params.settle(node.as_str(), name.as_str(), value, &self.path.display().to_string()).map_err(
                    |text| SettingsError::Parse {
                        path: self.path.clone(),
                        text: format!("[node.{node}.params]: {text}"),
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Writes what it says into the nodes.
    pub fn apply(&self, nodes: &mut [Declared]) -> Result<(), SettingsError> {
        for (name, settings) in &self.file.node {
            let Some(declared) = nodes.iter_mut().find(|declared| declared.spec.name == name.as_str()) else {
                let known = nodes.iter().map(|declared| declared.spec.name.clone()).collect();
                return Err(SettingsError::NoSuchNode { path: self.path.clone(), node: name.to_string(), known });
            };
            let spec = &mut declared.spec;
            for (place, value) in [
                (&mut spec.period, settings.period),
                (&mut spec.min_inter_arrival, settings.min_inter_arrival),
                (&mut spec.budget, settings.budget),
                (&mut spec.deadline, settings.deadline),
                (&mut spec.stale_after, settings.stale_after.of_all),
                (&mut spec.monitor_limit, settings.monitor_limit),
            ] {
                *place = value.or(*place);
            }
            spec.stale_after_of.extend(settings.stale_after.of.iter().map(|(topic, limit)| (topic.clone(), *limit)));
            spec.phase = settings.phase.unwrap_or(spec.phase);
            spec.cpu = settings.cpu.unwrap_or(spec.cpu);
            spec.scheduling_policy = settings.scheduling_policy.unwrap_or(spec.scheduling_policy);
            spec.on_miss = settings.on_miss.unwrap_or(spec.on_miss);
        }
        Ok(())
    }
}

/// Where it is wrong and why, and what was meant, perhaps: of a word that is none, the nearest one that serde lists behind it.
fn told(error: &toml::de::Error) -> String {
    let told = error.to_string();
    let mut words = error.message().split('`').skip(1).step_by(2);
    let is_list = error.message().starts_with("unknown ") && error.message().contains("expected ");
    let near = words.next().filter(|_| is_list).and_then(|typed| nearest(typed, words));
    let near = near.map_or_else(String::new, |near| format!("\ndid you mean `{near}`?"));
    told.trim_end().to_owned() + &near
}

/// ` (did you mean imu?)`, where one of these names is near.
fn meant<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(typed, names).map_or_else(String::new, |near| format!(" (did you mean {near}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpus::CpuChoice;
    use crate::node::{Action, OnMiss};

    fn parse(text: &str) -> Result<Settings, SettingsError> {
        Settings::parse(Path::new("/n/node.toml"), text)
    }

    #[test]
    fn everything_that_it_can_say_is_understood() {
        let settings = parse(
            r#"
            program = "balance"
            version = "0.1.0"
            restart = "always"
            devices = ["/dev/ttyACM0"]
            strict = true
            grace = "500 ms"
            [node.control]
            period = "1 ms"
            phase = "100us"
            budget = "150 us"
            deadline = "800 us"
            stale_after = "2 s"
            cpu = 2
            scheduling_policy = "rr:70"
            on_miss = { safe_state = { after = 3, within = 100 } }
            [node.camera]
            min_inter_arrival = "20 ms"
            cpu = "2-3"
            on_miss = { degrade = { every = 2 } }
            [topics]
            "imu" = "subscribe"
            "base.cmd" = { publish = true, group = "robots" }
            "#,
        )
        .unwrap();
        assert_eq!(settings.grace(), Some(Duration::from_millis(500)));
        let control = &settings.file.node["control"];
        assert_eq!(
            (control.period, control.budget),
            (Some(Duration::from_millis(1)), Some(Duration::from_micros(150)))
        );
        assert_eq!(
            (control.cpu, control.scheduling_policy.unwrap().to_string()),
            (Some(CpuChoice::Number(2)), "rr:70".to_owned())
        );
        assert_eq!(control.on_miss, Some(OnMiss::safe_state().after(3).within(100)));
        assert_eq!(settings.file.node["camera"].on_miss.unwrap().action, Action::Degrade(2));
        assert!(settings.allow_subscriber("imu").is_ok());
        let error = settings.allow_subscriber("base.cmd").unwrap_err().to_string();
        assert!(error.contains("add \"base.cmd\" = \"subscribe\""), "{error}");
        assert!(settings.allow_publisher("base.cmd", Options::default()).is_ok());
        assert!(settings.allow_publisher("imu", Options::default()).is_err());
    }

    #[test]
    fn devices_of_robots_are_given_and_storage_is_not() {
        for (name, is_given) in [
            ("ttyACM0", true),
            ("video0", true),
            ("media0", true),
            ("snd/pcmC0D0p", true),
            ("spidev0.1", true),
            ("hidraw3", true),
            ("sda1", false),
            ("nvme0n1p2", false),
            ("mmcblk1", false),
            ("mapper/root", false),
            ("mem", false),
            ("dm-0", false),
        ] {
            assert_eq!(parse(&format!("devices = [\"/dev/{name}\"]")).is_ok(), is_given, "{name}");
        }
    }

    #[test]
    fn nonsense_names_file_line_and_remedy() {
        for (text, words) in [
            ("[node.control]\nperiod = \"1\"", "line 2"),
            ("[node.control]\nperiod = \"1\"", "800us"),
            ("[node.control]\nperiode = \"1 ms\"", "did you mean `period`?"),
            ("stritc = true", "did you mean `strict`?"),
            ("restart = \"alwasy\"", "did you mean `always`?"),
            ("[params]\ngruop = \"robots\"", "expected `group`"),
            ("[topics]\n\"cmd\" = { publish = true, gruop = \"robots\" }", "did you mean `group`?"),
            ("[node.control]\non_miss = { stop = { afer = 2 } }", "did you mean `after`?"),
            ("[node.control]\non_miss = \"safestate\"", "did you mean safe_state?"),
            ("[node.control]\nscheduling_policy = \"fifo:100\"", "choose 1 to 98"),
            ("[node.control]\ncpu = \"third\"", "isolated-last"),
            ("[node.control]\non_miss = \"panic\"", "safe_state, stop"),
            ("[node.control]\non_miss = { degrade = { after = 2 } }", "every = 2"),
            ("[topics]\nimu = \"read\"", "write \"subscribe\""),
            ("[node.control", "line 1"),
            ("program = \"../balance\"", "letters, digits"),
            ("restart = \"never\"", "on-failure"),
            ("devices = [\"ttyACM0\"]", "/dev/ttyACM0"),
            ("devices = [\"/dev/vda\"]", "is a disk"),
            ("devices = [\"/dev/disk/by-id/x\"]", "is a disk"),
            ("devices = [\"/dev/./vda\"]", "is no device"),
            ("version = \"1.0\\n[Service]\\nUser=root\"", "is no name"),
            ("version = \"%n\"", "is no name"),
            ("version = \"\"", "is no name"),
            ("[node.\"a\\nb\"]\nperiod = \"1 ms\"", "is no name"),
            ("[topics]\n\"cmd\" = { publish = true, group = \"a b\" }", "is no name"),
            ("grace = \"2 min\"", "line 1"),
            ("grace = \"61 s\"", "at most 60s"),
            ("[node.control]\nstale_after = 2", "line 2"),
            ("[node.control]\nstale_after = 2", "{ imu = \"50 ms\" }"),
            ("[node.control]\nstale_after = { imu = \"2\" }", "line 2"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("/n/node.toml") && error.contains(words), "{text}: {error}");
        }
    }
}
