//! A robot, ready to be started: the programs of its file with what each is started by.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::file::Ready;
use crate::manifest::{Entry, Manifest};
use crate::order;
use crate::reader::{Mistake, did_you_mean};
use crate::restart::Restart;
use crate::start::{self, Start};

/// How long a program may take to be ready, unless the file says otherwise.
const READY_WITHIN: Duration = Duration::from_secs(10);

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
        let manifest = Manifest::read(path)?;
        let (mut programs, mut there, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (place, entry) in manifest.entries.iter().enumerate() {
            let start = match start_of(&manifest, entry) {
                Err(mistake) if entry.is_optional => {
                    left_out.push((entry.name.clone(), mistake.text));
                    Start::default()
                }
                found => {
                    there.push(place);
                    found?
                }
            };
            programs.push(Program::of(entry, start));
        }
        let mut members = Vec::new();
        for name in chosen {
            let found = manifest.groups.get(name);
            members.extend(found.ok_or_else(|| manifest.mistake(None, no_group(name, &manifest.groups)))?);
        }
        if !chosen.is_empty() {
            let wanted = manifest.with_those_before(&members);
            left_out.retain(|(name, _)| wanted.iter().any(|place| manifest.entries[*place].name == *name));
            there.retain(|place| wanted.contains(place));
        }
        Ok(Self { programs, left_out }.only(&there))
    }

    /// Whether no program of it is left to be started.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// The programs of these places. What is not among them was left out: who starts after it starts after those before it.
    pub(crate) fn only(self, places: &[usize]) -> Self {
        let after: Vec<_> = self.programs.iter().map(|program| program.after.clone()).collect();
        let kept = self.programs.into_iter().enumerate().filter(|(old, _)| places.contains(old));
        let moved = kept.map(|(old, program)| Program { after: order::kept_before(&after, places, old), ..program });
        Self { programs: moved.collect(), left_out: self.left_out }
    }
}

/// What a program is started by on this machine, which has what runs it.
fn start_of(manifest: &Manifest, entry: &Entry) -> Result<Start, Mistake> {
    let start = manifest.start(entry)?;
    start::ensure_interpreter(&start).map_err(|text| manifest.mistake(Some(entry.line), text))?;
    Ok(start)
}

impl Program {
    fn of(entry: &Entry, start: Start) -> Self {
        let Entry { name, args, env, namespace, rename, after, ready, is_optional, .. } = entry.clone();
        let restart = entry.restart.unwrap_or_default();
        let ready_within = entry.ready_within.unwrap_or(READY_WITHIN);
        Self { name, start, args, env, namespace, rename, after, restart, ready, ready_within, is_optional }
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
