//! A robot's file, checked: what it names is there, and its order has an end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use horus_shm::directory::{Namespace, TopicName};

use crate::file::{self, File, Ready};
use crate::order;
use crate::reader::{At, Mistake, Source, did_you_mean};
use crate::restart::Restart;
use crate::start::{self, Start};

/// The most programs of a file.
const MOST_PROGRAMS: usize = 100;
/// What a program gets from this crate, with the key that says it.
const OWN: [(&str, &str); 6] = [
    ("HORUS_NAMESPACE", "write `namespace`"),
    ("HORUS_RENAME", "write `rename`"),
    ("HORUS_NODE_FILE", "let `run` name the folder of its node.toml"),
    ("NOTIFY_SOCKET", "leave it out: each program has one of its own"),
    ("WATCHDOG_USEC", "leave it out: here is no watchdog"),
    ("WATCHDOG_PID", "leave it out: here is no watchdog"),
];

/// The programs of a `robot.toml`, checked.
#[derive(Clone, Debug)]
pub struct Robot {
    pub(crate) programs: Vec<Program>,
    /// Optional programs that cannot start on this machine, and why.
    pub(crate) left_out: Vec<(String, String)>,
}

/// A program, ready to be started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub name: String,
    pub start: Start,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub namespace: Option<String>,
    pub rename: BTreeMap<String, String>,
    /// Those that have to be ready before, by their places in [`Robot::programs`].
    pub after: Vec<usize>,
    pub restart: Restart,
    pub ready: Ready,
    pub ready_within: Duration,
    /// If it ends before it was ready, the others run without it.
    pub is_optional: bool,
}

impl Robot {
    /// Reads a file and checks all of it. Of its groups only `chosen` count, with those that their programs start after; all programs if none
    /// is named.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(path: &Path, chosen: &[String]) -> Result<Self, Mistake> {
        let whole = |text: String| Mistake { path: path.to_owned(), line: None, text };
        let text = std::fs::read_to_string(path).map_err(|error| whole(unread(&error)))?;
        let source = Source { path, text: &text };
        let file = file::read(source)?;
        if file.programs.len() > MOST_PROGRAMS {
            return Err(whole(format!(
                "{} programs are too many: a file has at most {MOST_PROGRAMS}",
                file.programs.len()
            )));
        }
        let after = after(source, &file)?;
        if let Some(circle) = order::circle(&after) {
            let names: Vec<_> = circle.iter().map(|at| file.programs[*at].name.value.as_str()).collect();
            let line = file.programs[circle[0]].name.line;
            let text = format!("no program of {} can be the first: remove one `after` of them", names.join(" -> "));
            return Err(source.mistake(line, text));
        }
        let groups = groups(source, &file)?;
        let base = std::path::absolute(path).map_err(|error| whole(error.to_string()))?;
        let base = base.parent().unwrap_or(Path::new("/")).to_owned();
        let (mut programs, mut there, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (program, after)) in file.programs.iter().zip(&after).enumerate() {
            let found = start::find(&base, &program.run.value);
            let start = match &found {
                Err(reason) if program.is_optional => {
                    left_out.push((program.name.value.clone(), reason.clone()));
                    Start::default()
                }
                _ => {
                    there.push(place);
                    found.map_err(|text| source.mistake(program.run.line, text))?
                }
            };
            programs.push(checked(source, start, program, after.clone())?);
        }
        let mut members = Vec::new();
        for name in chosen {
            let found = groups.get(name).ok_or_else(|| whole(no_group(name, &groups)))?;
            members.extend(found);
        }
        if !chosen.is_empty() {
            let wanted = order::with_those_before(&after, &members);
            left_out.retain(|(name, _)| wanted.iter().any(|place| file.programs[*place].name.value == *name));
            there.retain(|place| wanted.contains(place));
        }
        Ok(Self { programs, left_out }.only(&there))
    }

    /// The programs of these places. What is not among them is not waited for: it was left out.
    fn only(self, places: &[usize]) -> Self {
        let place = |old: &usize| places.iter().position(|kept| kept == old);
        let kept = self.programs.into_iter().enumerate().filter(|(old, _)| places.contains(old));
        let moved =
            kept.map(|(_, program)| Program { after: program.after.iter().filter_map(place).collect(), ..program });
        Self { programs: moved.collect(), left_out: self.left_out }
    }
}

fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            "there is no such file: name a robot.toml, which docs/robot.md tells how to write".to_owned()
        }
        std::io::ErrorKind::IsADirectory => "this is a folder: name the robot.toml in it".to_owned(),
        _ => error.to_string(),
    }
}

fn no_group(name: &str, groups: &BTreeMap<String, Vec<usize>>) -> String {
    let hint = did_you_mean(name, groups.keys().map(String::as_str));
    match groups.is_empty() {
        true => format!("there is no group `{name}`: write [groups], and below it {name} = [\"PROGRAM\"]"),
        false => {
            let known = groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("there is no group `{name}`{hint}; there is {known}")
        }
    }
}

/// The places of what each program starts after.
fn after(source: Source, file: &File) -> Result<Vec<Vec<usize>>, Mistake> {
    file.programs.iter().map(|program| places(source, file, &program.after, "after")).collect()
}

/// The places of programs that a list names.
fn places(source: Source, file: &File, names: &[At<String>], list: &str) -> Result<Vec<usize>, Mistake> {
    let mut found = Vec::new();
    for At { value: name, line } in names {
        let known = || file.programs.iter().map(|program| program.name.value.as_str());
        let place = known().position(|known| known == name).ok_or_else(|| {
            let hint = did_you_mean(name, known());
            let known = known().collect::<Vec<_>>().join(", ");
            source.mistake(
                *line,
                format!("`{list}` names `{name}`, which is no program of this file{hint}; there is {known}"),
            )
        })?;
        if found.contains(&place) {
            return Err(source.mistake(*line, format!("`{list}` names `{name}` twice: remove one of them")));
        }
        found.push(place);
    }
    Ok(found)
}

/// The programs of each group: of [groups], and by `group` of programs.
fn groups(source: Source, file: &File) -> Result<BTreeMap<String, Vec<usize>>, Mistake> {
    let mut groups = BTreeMap::new();
    for (name, members) in &file.groups {
        groups.insert(name.value.clone(), places(source, file, members, &name.value)?);
    }
    for (place, program) in file.programs.iter().enumerate() {
        let Some(group) = &program.group else { continue };
        let members = groups.entry(group.value.clone()).or_insert_with(Vec::new);
        if !members.contains(&place) {
            members.push(place);
        }
    }
    Ok(groups)
}

fn checked(source: Source, start: Start, program: &file::Program, after: Vec<usize>) -> Result<Program, Mistake> {
    if let Some(namespace) = &program.namespace {
        let parsed = namespace.value.parse::<Namespace>();
        parsed.map_err(|error| source.mistake(namespace.line, format!("`namespace`: {error}")))?;
    }
    let mut rename = BTreeMap::new();
    for (from, to) in &program.rename {
        for name in [from, to] {
            let parsed = name.value.parse::<TopicName>();
            parsed.map_err(|error| source.mistake(name.line, format!("`rename`: {error}")))?;
        }
        rename.insert(from.value.clone(), to.value.clone());
    }
    let mut env = BTreeMap::new();
    for (name, value) in &program.env {
        if let Some((_, remedy)) = OWN.iter().find(|(own, _)| *own == name.value) {
            return Err(source.mistake(name.line, format!("`env` cannot set {}: {remedy}", name.value)));
        }
        if name.value.is_empty() || name.value.contains(['=', '\0']) || value.value.contains('\0') {
            return Err(
                source.mistake(name.line, format!("`{}` names no variable: use letters, digits and _", name.value))
            );
        }
        env.insert(name.value.clone(), value.value.clone());
    }
    Ok(Program {
        name: program.name.value.clone(),
        start,
        args: program.args.iter().map(|argument| argument.value.clone()).collect(),
        env,
        namespace: program.namespace.as_ref().map(|namespace| namespace.value.clone()),
        rename,
        after,
        restart: program.restart,
        ready: program.ready,
        ready_within: program.ready_within,
        is_optional: program.is_optional,
    })
}
