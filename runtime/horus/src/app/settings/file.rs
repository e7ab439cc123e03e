//! The words of `node.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::installation::Restart;
use crate::cpus::CpuChoice;
use crate::near::nearest;
use crate::node::OnMiss;
use crate::outside::{MAX_WORD_BYTES, Word, shown};
use crate::param::Value;
use crate::startup::SchedulingPolicy;
use crate::time::parse_duration;

/// The longest path of a device.
const MAX_DEVICE_BYTES: usize = 128;

/// A user that sends a second signal does not wait longer.
const LONGEST_GRACE: Duration = Duration::from_secs(60);

/// The file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    #[serde(default, deserialize_with = "program")]
    pub program: Option<String>,
    #[serde(default)]
    pub strict: bool,
    #[serde(default, deserialize_with = "grace")]
    pub grace: Option<Duration>,
    // For who installs the program: `Installation`.
    pub version: Option<Word>,
    #[serde(default)]
    pub restart: Restart,
    #[serde(default)]
    pub network: bool,
    #[serde(default, deserialize_with = "devices")]
    pub devices: Vec<PathBuf>,
    #[serde(default)]
    pub node: BTreeMap<Word, NodeSettings>,
    #[serde(default)]
    pub params: ParamSettings,
    pub topics: Option<BTreeMap<String, TopicSettings>>,
}

/// All parameters of the program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamSettings {
    /// Who may set them.
    pub group: Option<Word>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    #[serde(default, deserialize_with = "duration")]
    pub period: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub phase: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub min_inter_arrival: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub budget: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub deadline: Option<Duration>,
    #[serde(default)]
    pub stale_after: StaleAfter,
    #[serde(default, deserialize_with = "duration")]
    pub monitor_limit: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    pub cpu: Option<CpuChoice>,
    #[serde(default, deserialize_with = "parsed")]
    pub scheduling_policy: Option<SchedulingPolicy>,
    #[serde(default, deserialize_with = "on_miss")]
    pub on_miss: Option<OnMiss>,
    #[serde(default)]
    pub params: BTreeMap<Word, Value>,
}

/// `"2 s"` for all inputs, or `{ imu = "50 ms" }` for those of these topics.
#[derive(Clone, Debug, Default)]
pub struct StaleAfter {
    pub of_all: Option<Duration>,
    pub of: BTreeMap<String, Duration>,
}

impl<'de> Deserialize<'de> for StaleAfter {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "write a time for all inputs, such as \"2 s\", or times by topic: { imu = \"50 ms\" }";
        let parse = |text: &String| parse_duration(text).map_err(D::Error::custom);
        match WordOrTable::<BTreeMap<String, String>>::of(value, EXPECTED)? {
            WordOrTable::Word(text) => Ok(Self { of_all: Some(parse(&text)?), of: BTreeMap::new() }),
            WordOrTable::Table(written) => {
                let of = written.iter().map(|(topic, text)| Ok((topic.clone(), parse(text)?)));
                Ok(Self { of_all: None, of: of.collect::<Result<_, D::Error>>()? })
            }
        }
    }
}

/// Where the words of nodes stand, for who has more to say of them.
#[derive(Deserialize)]
pub struct Places {
    #[serde(default)]
    pub node: BTreeMap<String, BTreeMap<String, toml::Spanned<toml::Value>>>,
}

/// The line of a text that a word's value stands in.
pub fn line(text: &str, word: &toml::Spanned<toml::Value>) -> Option<usize> {
    Some(1 + text.get(..word.span().start)?.matches('\n').count())
}

#[derive(Clone, Debug)]
pub enum TopicSettings {
    Word(Direction),
    Table(TopicTable),
}

impl<'de> Deserialize<'de> for TopicSettings {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "write \"subscribe\", \"publish\", or { publish = true, group = \"robots\" }";
        match WordOrTable::of(value, EXPECTED)? {
            WordOrTable::Word(word) if word == "publish" => Ok(Self::Word(Direction::Publish)),
            WordOrTable::Word(word) if word == "subscribe" => Ok(Self::Word(Direction::Subscribe)),
            WordOrTable::Word(_) => Err(D::Error::custom(EXPECTED)),
            WordOrTable::Table(table) => Ok(Self::Table(table)),
        }
    }
}

/// A word, or a table. What is wrong in the table is told, which serde's untagged enums do not.
enum WordOrTable<T> {
    Word(String),
    Table(T),
}

impl<'de, T: Deserialize<'de>> WordOrTable<T> {
    fn of<D: Deserializer<'de>>(value: D, expected: &'static str) -> Result<Self, D::Error> {
        value.deserialize_any(Either(expected, PhantomData))
    }
}

struct Either<T>(&'static str, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
    type Value = WordOrTable<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(WordOrTable::Word(word.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(WordOrTable::Table)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Publish,
    Subscribe,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicTable {
    #[serde(default)]
    publish: bool,
    #[serde(default)]
    subscribe: bool,
    pub group: Option<Word>,
}

impl TopicSettings {
    pub fn allows(&self, wanted: Direction) -> bool {
        match self {
            Self::Word(direction) => *direction == wanted,
            Self::Table(table) => match wanted {
                Direction::Publish => table.publish,
                Direction::Subscribe => table.subscribe,
            },
        }
    }
}

fn program<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(value)?;
    // It is the name of a file, of a folder and of a unit.
    match name.parse::<Word>() {
        Ok(word) if !word.as_str().contains(['.', '+', '~']) => Ok(Some(name)),
        _ => Err(D::Error::custom(format!(
            "'{}' cannot name a program: use letters, digits, _ and -, at most {MAX_WORD_BYTES} of them",
            shown(&name, MAX_WORD_BYTES)
        ))),
    }
}

/// Disks and memory, by what their names begin with, before a number or a folder's end: no node is given what belongs to everybody.
const STORAGE: [&str; 15] = [
    "block", "disk", "dm-", "kmem", "loop", "mapper", "md", "mem", "mmcblk", "mtd", "mtdblock", "nbd", "nvme", "port",
    "zram",
];
/// Disks that letters tell apart, as in `sda1`.
const LETTERED: [&str; 4] = ["hd", "sd", "vd", "xvd"];

fn devices<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<PathBuf>, D::Error> {
    let devices = Vec::<PathBuf>::deserialize(value)?;
    for path in &devices {
        let text = path.to_string_lossy();
        let is_good = |byte: u8| byte.is_ascii_graphic() && !b"\"'\\%".contains(&byte);
        let is_path = text.len() <= MAX_DEVICE_BYTES && text.bytes().all(is_good);
        let is_step = |part: &str| !["", ".", ".."].contains(&part);
        let Some(name) = text.strip_prefix("/dev/").filter(|name| is_path && name.split('/').all(is_step)) else {
            return Err(D::Error::custom(format!(
                "'{}' is no device: write its path, such as \"/dev/ttyACM0\"",
                shown(&text, MAX_DEVICE_BYTES)
            )));
        };
        if is_storage(name) || std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device()) {
            return Err(D::Error::custom(format!("{text} is a disk or memory, and no node is given one")));
        }
    }
    Ok(devices)
}

/// Whether the file of this name below `/dev` is one that no node is given.
fn is_storage(name: &str) -> bool {
    let ends = |rest: &str| rest.chars().next().is_none_or(|next| next.is_ascii_digit() || next == '/');
    let has_letter = |rest: &str| {
        let letters = rest.trim_end_matches(|last: char| last.is_ascii_digit());
        (1..=2).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    STORAGE.iter().filter_map(|kind| name.strip_prefix(kind)).any(ends)
        || LETTERED.iter().filter_map(|kind| name.strip_prefix(kind)).any(has_letter)
}

fn grace<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    match duration(value)? {
        Some(grace) if grace > LONGEST_GRACE => {
            Err(D::Error::custom(format!("a grace of {grace:?} is too long: choose at most {LONGEST_GRACE:?}")))
        }
        grace => Ok(grace),
    }
}

fn duration<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    parse_duration(&String::deserialize(value)?).map(Some).map_err(D::Error::custom)
}

fn parsed<'de, D, T>(value: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
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

fn on_miss<'de, D: Deserializer<'de>>(value: D) -> Result<Option<OnMiss>, D::Error> {
    const EXPECTED: &str = "write \"count\", \"warn\", \"skip\", \"safe_state\", \"stop\", or { safe_state = { after = 3, within = 100 } }";
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Condition {
        after: Option<u32>,
        within: Option<u32>,
        every: Option<u32>,
    }
    let (word, condition) = match WordOrTable::<BTreeMap<String, Condition>>::of(value, EXPECTED)? {
        WordOrTable::Word(word) => (word, Condition { after: None, within: None, every: None }),
        WordOrTable::Table(table) if table.len() == 1 => table.into_iter().next().expect("it has one"),
        WordOrTable::Table(_) => {
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
            let meant = nearest(&word, ["count", "warn", "skip", "safe_state", "stop", "degrade"].into_iter());
            let meant = meant
                .filter(|meant| *meant != word)
                .map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
            return Err(D::Error::custom(format!("'{word}' is not what a miss can lead to{meant}: write {words}")));
        }
    };
    let after = condition.after.unwrap_or(1);
    Ok(Some(reaction.after(after).within(condition.within.unwrap_or(after))))
}
