//! The words of `robot.toml`.
//!
//! ```toml
//! [programs.nav]
//! run = "nav"                       # a program, a folder with node.toml, or a .py file
//! after = ["sim"]                   # starts when sim is ready
//! rename = { "odom" = "wheels.odom" }
//! restart = "on-failure"            # no, on-failure, always
//! [groups]
//! bringup = ["sim", "nav"]
//! ```
//!
//! `version = "0.2.0"` before all tables is for people, as in `node.toml`.

use std::time::Duration;

use horus::time::parse_duration;

use crate::reader::{At, Mistake, Pair, Source, Table, did_you_mean};
use crate::restart::Restart;

pub const KEYS: [&str; 11] =
    ["run", "after", "group", "restart", "rename", "namespace", "env", "args", "ready", "ready_within", "optional"];
pub const TABLES: [&str; 3] = ["programs", "groups", "version"];

/// The longest that can be said.
const LONGEST: Duration = Duration::from_secs(3600);

/// What makes a program ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It says READY=1.
    Notify,
    /// It was started.
    Start,
}

/// The file.
#[derive(Debug)]
pub struct File {
    pub version: Option<At<String>>,
    pub programs: Vec<Program>,
    pub groups: Vec<(At<String>, Vec<At<String>>)>,
}

/// A program of the file.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: At<String>,
    pub run: At<String>,
    pub after: Vec<At<String>>,
    pub group: Option<At<String>>,
    pub restart: Option<Restart>,
    pub rename: Vec<Pair>,
    pub namespace: Option<At<String>>,
    pub env: Vec<Pair>,
    pub args: Vec<At<String>>,
    pub ready: Ready,
    pub ready_within: Option<Duration>,
    /// Where it cannot start, the others run without it.
    pub is_optional: bool,
}

/// Reads all of it.
pub fn read(source: Source) -> Result<File, Mistake> {
    let mut file = source.parse()?;
    let mut programs = file.table("programs")?.ok_or_else(|| Mistake {
        path: source.path.to_owned(),
        line: None,
        text: "it has no programs: write [programs.NAME], and below it run = \"PATH\"".to_owned(),
    })?;
    let mut groups = file.table("groups")?;
    let version = file.text("version")?;
    if let Some(At { value, line }) = &version
        && let Err(error) = value.parse::<horus::outside::Word>()
    {
        return Err(source.mistake(*line, format!("`version`: {error}")));
    }
    file.end(&TABLES)?;
    let mut read = Vec::new();
    for name in programs.keys() {
        let table = programs.table(&name.value)?.expect("it is one of the table's keys");
        read.push(program(source, name, table)?);
    }
    if read.is_empty() {
        return Err(
            source.mistake(programs.line, "there is no program: write [programs.NAME], and below it run = \"PATH\"")
        );
    }
    let mut found = Vec::new();
    for name in groups.iter().flat_map(Table::keys).collect::<Vec<_>>() {
        let members = groups.as_mut().expect("it has keys").texts(&name.value)?;
        found.push((name, members));
    }
    Ok(File { version, programs: read, groups: found })
}

fn program(source: Source, name: At<String>, mut table: Table) -> Result<Program, Mistake> {
    if let Err(error) = name.value.parse::<horus::outside::Word>() {
        return Err(source.mistake(name.line, error.to_string()));
    }
    let run = table.text("run")?.ok_or_else(|| {
        source.mistake(
            name.line,
            format!("[programs.{}] does not say what runs: add run = \"PATH\" of a program, a folder with node.toml, or a .py file", name.value),
        )
    })?;
    let after = table.texts("after")?;
    let group = table.text("group")?;
    let restart = table.text("restart")?.map(|text| choice(source, "restart", text, &Restart::WORDS)).transpose()?;
    let words = [("notify", Ready::Notify), ("start", Ready::Start)];
    let ready = table.text("ready")?.map(|text| choice(source, "ready", text, &words)).transpose()?;
    let ready_within = table.text("ready_within")?.map(|text| within(source, text)).transpose()?;
    let program = Program {
        run,
        after,
        group,
        restart,
        rename: table.pairs("rename")?,
        namespace: table.text("namespace")?,
        env: table.pairs("env")?,
        args: table.texts("args")?,
        ready: ready.unwrap_or(Ready::Notify),
        ready_within,
        is_optional: table.flag("optional")?.unwrap_or(false),
        name,
    };
    table.end(&KEYS)?;
    Ok(program)
}

fn choice<T: Copy>(source: Source, key: &str, text: At<String>, words: &[(&str, T)]) -> Result<T, Mistake> {
    let found = words.iter().find(|(word, _)| *word == text.value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let hint = did_you_mean(&text.value, words.iter().map(|(word, _)| *word));
        let all = words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        source.mistake(text.line, format!("`{key}` cannot be \"{}\"{hint}; write one of {all}", text.value))
    })
}

fn within(source: Source, text: At<String>) -> Result<Duration, Mistake> {
    match parse_duration(&text.value) {
        Ok(time) if time > Duration::ZERO && time <= LONGEST => Ok(time),
        Ok(_) => {
            Err(source.mistake(text.line, "`ready_within` is more than nothing and at most an hour, such as \"30 s\""))
        }
        Err(error) => Err(source.mistake(text.line, format!("`ready_within`: {error}"))),
    }
}
