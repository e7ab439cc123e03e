//! `node.toml`: what it says has the last word over what the program says. It is checked before anything starts.
//!
//! ```toml
//! program = "balance"
//! [node.control]
//! period = "1 ms"
//! budget = "150 us"
//! deadline = "800 us"
//! cpu = "isolated"          # isolated, isolated:1, isolated-last, housekeeping, 2, 2-3
//! policy = "fifo:80"        # fifo:N, rr:N, deadline, other
//! on_miss = { safe_state = { after = 3, within = 100 } }
//! [topics]
//! "imu" = "subscribe"
//! "base.cmd" = { publish = true, group = "robots" }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::Error as _;
use thiserror::Error;

use super::Declared;
use crate::cpus::CpuChoice;
use crate::node::OnMiss;
use crate::startup::Policy;
use crate::time::parse_duration;
use crate::topic::Options;

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
    #[error("{}: [node.{node}]: the program has no such node; it has {}", path.display(), known.join(", "))]
    NoSuchNode {
        /// The file.
        path: PathBuf,
        /// The name.
        node: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The program wants a topic that the file does not give it.
    #[error("{}: [topics] does not let this program {what} '{topic}': add \"{topic}\" = \"{what}\"", path.display())]
    Topic {
        /// The file.
        path: PathBuf,
        /// The topic.
        topic: String,
        /// `publish` or `subscribe`.
        what: &'static str,
    },
}

/// The settings of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    path: PathBuf,
    file: File,
}

/// The file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Option<String>,
    #[serde(default)]
    strict: bool,
    /// For who installs the program; nothing in here is for the program itself.
    #[serde(default, rename = "restart")]
    _restart: Option<toml::Value>,
    #[serde(default)]
    node: BTreeMap<String, NodeSettings>,
    topics: Option<BTreeMap<String, TopicSettings>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeSettings {
    #[serde(default, deserialize_with = "duration")]
    period: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    phase: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    min_gap: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    budget: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    deadline: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    silence: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    cpu: Option<CpuChoice>,
    #[serde(default, deserialize_with = "parsed")]
    policy: Option<Policy>,
    #[serde(default, deserialize_with = "on_miss")]
    on_miss: Option<OnMiss>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "write \"subscribe\", \"publish\", or { publish = true, group = \"robots\" }")]
enum TopicSettings {
    Word(Direction),
    Table(TopicTable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Publish,
    Subscribe,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicTable {
    #[serde(default)]
    publish: bool,
    #[serde(default)]
    subscribe: bool,
    group: Option<String>,
}

impl TopicSettings {
    fn allows(&self, wanted: Direction) -> bool {
        match self {
            Self::Word(direction) => *direction == wanted,
            Self::Table(table) => match wanted {
                Direction::Publish => table.publish,
                Direction::Subscribe => table.subscribe,
            },
        }
    }
}

fn duration<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    parse_duration(&String::deserialize(value)?).map(Some).map_err(D::Error::custom)
}

fn parsed<'de, D, T>(value: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    /// CPUs are written as numbers, too.
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "write a text, such as \"isolated\"")]
    enum Written {
        Text(String),
        Number(u32),
    }
    let text = match Written::deserialize(value)? {
        Written::Text(text) => text,
        Written::Number(number) => number.to_string(),
    };
    text.parse().map(Some).map_err(D::Error::custom)
}

fn on_miss<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<OnMiss>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "write \"count\", \"warn\", \"skip\", \"safe_state\", \"stop\", or { safe_state = { after = 3, within = 100 } }"
    )]
    enum Written {
        Word(String),
        Table(BTreeMap<String, Condition>),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Condition {
        after: Option<u32>,
        within: Option<u32>,
        every: Option<u32>,
    }
    let (word, condition) = match Written::deserialize(value)? {
        Written::Word(word) => (word, Condition { after: None, within: None, every: None }),
        Written::Table(table) if table.len() == 1 => table.into_iter().next().expect("it has one"),
        Written::Table(_) => {
            return Err(D::Error::custom("one reaction at a time: { safe_state = { after = 3, within = 100 } }"));
        }
    };
    let reaction = match (word.as_str(), condition.every) {
        ("count", None) => OnMiss::count(),
        ("warn", None) => OnMiss::warn(),
        ("skip", None) => OnMiss::skip(),
        ("safe_state", None) => OnMiss::safe_state(),
        ("stop", None) => OnMiss::stop(),
        ("degrade", Some(every)) => OnMiss::degrade(every),
        ("degrade", None) => {
            return Err(D::Error::custom("degrade to what? { degrade = { every = 2, after = 3, within = 100 } }"));
        }
        _ => {
            let words = "count, warn, skip, safe_state, stop, or degrade with every";
            return Err(D::Error::custom(format!("'{word}' is not what a miss can lead to: write {words}")));
        }
    };
    let after = condition.after.unwrap_or(1);
    Ok(Some(reaction.after(after).within(condition.within.unwrap_or(after))))
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
                let is_its = settings.file.program.as_deref() == Some(program);
                Ok(if is_its { settings } else { Self::default() })
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
        let file = toml::from_str(text).map_err(|error| SettingsError::Parse {
            path: path.to_owned(),
            text: error.to_string().trim_end().to_owned(),
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub fn is_strict(&self) -> bool {
        self.file.strict
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
            _ => Err(SettingsError::Topic { path: self.path.clone(), topic: topic.to_owned(), what }),
        }
    }

    /// Writes what it says into the nodes.
    pub fn apply(&self, nodes: &mut [Declared]) -> Result<(), SettingsError> {
        for (name, settings) in &self.file.node {
            let Some(declared) = nodes.iter_mut().find(|declared| declared.spec.name == *name) else {
                let known = nodes.iter().map(|declared| declared.spec.name.clone()).collect();
                return Err(SettingsError::NoSuchNode { path: self.path.clone(), node: name.clone(), known });
            };
            let spec = &mut declared.spec;
            for (place, value) in [
                (&mut spec.period, settings.period),
                (&mut spec.min_gap, settings.min_gap),
                (&mut spec.budget, settings.budget),
                (&mut spec.deadline, settings.deadline),
                (&mut spec.silence, settings.silence),
            ] {
                *place = value.or(*place);
            }
            spec.phase = settings.phase.unwrap_or(spec.phase);
            spec.cpu = settings.cpu.unwrap_or(spec.cpu);
            spec.policy = settings.policy.unwrap_or(spec.policy);
            spec.on_miss = settings.on_miss.unwrap_or(spec.on_miss);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Action;

    fn parse(text: &str) -> Result<Settings, SettingsError> {
        Settings::parse(Path::new("/n/node.toml"), text)
    }

    #[test]
    fn everything_that_it_can_say_is_understood() {
        let settings = parse(
            r#"
            program = "balance"
            strict = true
            [node.control]
            period = "1 ms"
            phase = "100us"
            budget = "150 us"
            deadline = "800 us"
            silence = "2 s"
            cpu = 2
            policy = "rr:70"
            on_miss = { safe_state = { after = 3, within = 100 } }
            [node.camera]
            min_gap = "20 ms"
            cpu = "2-3"
            on_miss = { degrade = { every = 2 } }
            [topics]
            "imu" = "subscribe"
            "base.cmd" = { publish = true, group = "robots" }
            "#,
        )
        .unwrap();
        let control = &settings.file.node["control"];
        assert_eq!(
            (control.period, control.budget),
            (Some(Duration::from_millis(1)), Some(Duration::from_micros(150)))
        );
        assert_eq!(
            (control.cpu, control.policy.unwrap().to_string()),
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
    fn nonsense_names_file_line_and_remedy() {
        for (text, words) in [
            ("[node.control]\nperiod = \"1\"", "line 2"),
            ("[node.control]\nperiod = \"1\"", "800us"),
            ("[node.control]\nperiode = \"1 ms\"", "periode"),
            ("[node.control]\npolicy = \"fifo:100\"", "choose 1 to 98"),
            ("[node.control]\ncpu = \"third\"", "isolated-last"),
            ("[node.control]\non_miss = \"panic\"", "safe_state, stop"),
            ("[node.control]\non_miss = { degrade = { after = 2 } }", "every = 2"),
            ("[topics]\nimu = \"read\"", "write \"subscribe\""),
            ("[node.control", "line 1"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("/n/node.toml") && error.contains(words), "{text}: {error}");
        }
    }
}
