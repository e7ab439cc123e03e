//! A robot's file, checked but for what its programs are started by: for who starts it here, and for who takes it to a machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus_shm::directory::{Namespace, TopicName};
use toml::{Table, Value};

use crate::file::{self, File, Ready};
use crate::order;
use crate::reader::{At, Mistake, Source, did_you_mean};
use crate::restart::Restart;
use crate::start::{self, Start};

/// The most programs of a file.
pub const MOST_PROGRAMS: usize = 100;
/// What a program gets from this crate, with the key that says it.
const OWN: [(&str, &str); 7] = [
    ("HORUS_NAMESPACE", "write `namespace`"),
    ("HORUS_RENAME", "write `rename`"),
    ("HORUS_NODE_FILE", "let `run` name the folder of its node.toml"),
    ("NOTIFY_SOCKET", "leave it out: each program has one of its own"),
    ("WATCHDOG_USEC", "leave it out: here is no watchdog"),
    ("WATCHDOG_PID", "leave it out: here is no watchdog"),
    (horus::conduct::VARIABLE, "start the robot by `horus run --virtual`"),
];

/// What a `robot.toml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// Which version of the robot this is, for people; a word as [`horus::outside::Word`] has them.
    pub version: Option<String>,
    /// Its programs.
    pub entries: Vec<Entry>,
    /// Its groups, as places in [`entries`](Self::entries).
    pub groups: BTreeMap<String, Vec<usize>>,
}

/// What it says of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; a word.
    pub name: String,
    /// What runs, from the folder of the file.
    pub run: String,
    /// The line of that.
    pub line: usize,
    /// The words of its command line.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// The namespace of its topics.
    pub namespace: Option<String>,
    /// Which of its topics has which other name.
    pub rename: BTreeMap<String, String>,
    /// Those that have to be ready before, as places in [`Manifest::entries`]; without a circle.
    pub after: Vec<usize>,
    /// When it is started again, where the file says so.
    pub restart: Option<Restart>,
    /// What makes it ready.
    pub ready: Ready,
    /// How long that may take, where the file says so.
    pub ready_within: Option<Duration>,
    /// Where it cannot start, the others run without it.
    pub is_optional: bool,
}

impl Manifest {
    /// Reads a file and checks it; not whether what runs is there.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(path: &Path) -> Result<Self, Mistake> {
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
        let entries = file.programs.iter().zip(after).map(|(program, after)| entry(source, program, after));
        let entries = entries.collect::<Result<_, _>>()?;
        Ok(Self { path: path.to_owned(), version: file.version.map(|version| version.value), entries, groups })
    }

    /// The folder in which the paths of programs begin.
    ///
    /// # Errors
    /// When there is no folder that this process works in.
    pub fn folder(&self) -> Result<PathBuf, Mistake> {
        let base = std::path::absolute(&self.path).map_err(|error| self.mistake(None, error.to_string()))?;
        Ok(base.parent().unwrap_or(Path::new("/")).to_owned())
    }

    /// What a program is started by.
    ///
    /// # Errors
    /// It is not there, or cannot be executed.
    pub fn start(&self, entry: &Entry) -> Result<Start, Mistake> {
        start::find(&self.folder()?, &entry.run).map_err(|text| self.mistake(Some(entry.line), text))
    }

    /// The places of `chosen` programs and of all that they start after.
    pub fn with_those_before(&self, chosen: &[usize]) -> Vec<usize> {
        let after: Vec<_> = self.entries.iter().map(|entry| entry.after.clone()).collect();
        order::with_those_before(&after, chosen)
    }

    /// Only the entries of these places. What is not among them is in no group; who starts after it starts after those before it.
    #[must_use]
    pub fn only(&self, places: &[usize]) -> Self {
        let moved = |old: &Vec<usize>| -> Vec<usize> {
            old.iter().filter_map(|old| places.iter().position(|kept| kept == old)).collect()
        };
        let after: Vec<_> = self.entries.iter().map(|entry| entry.after.clone()).collect();
        let entry = |place: &usize| {
            let after = order::kept_before(&after, places, *place);
            Entry { after, ..self.entries[*place].clone() }
        };
        let groups = self.groups.iter().map(|(group, members)| (group.clone(), moved(members)));
        Self { entries: places.iter().map(entry).collect(), groups: groups.collect(), ..self.clone() }
    }

    /// The same in TOML, so that reading it gives the same again, but for lines.
    pub fn to_toml(&self) -> String {
        let text = |text: &str| Value::String(text.to_owned());
        let list = |texts: Vec<&str>| Value::Array(texts.into_iter().map(text).collect());
        let pairs = |pairs: &BTreeMap<String, String>| {
            Value::Table(pairs.iter().map(|(name, value)| (name.clone(), text(value))).collect())
        };
        let name = |place: &usize| self.entries[*place].name.as_str();
        let mut programs = Table::new();
        for entry in &self.entries {
            let args = entry.args.iter().map(String::as_str).collect();
            let word = |words: &[(&str, Restart)], rule| {
                words.iter().find(|(_, known)| *known == rule).map(|(word, _)| text(word))
            };
            let keys = [
                ("run", Some(text(&entry.run))),
                ("after", Some(list(entry.after.iter().map(name).collect()))),
                ("args", Some(list(args))),
                ("env", Some(pairs(&entry.env))),
                ("rename", Some(pairs(&entry.rename))),
                ("namespace", entry.namespace.as_deref().map(text)),
                ("restart", entry.restart.and_then(|rule| word(&Restart::WORDS, rule))),
                ("ready", Some(text(if entry.ready == Ready::Notify { "notify" } else { "start" }))),
                ("ready_within", entry.ready_within.map(|time| text(&format!("{} ms", time.as_millis().max(1))))),
                ("optional", entry.is_optional.then_some(Value::Boolean(true))),
            ];
            let table = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
            programs.insert(entry.name.clone(), Value::Table(table));
        }
        let groups = self.groups.iter().map(|(group, places)| (group.clone(), list(places.iter().map(name).collect())));
        let mut file: Table =
            [("programs".to_owned(), Value::Table(programs)), ("groups".to_owned(), Value::Table(groups.collect()))]
                .into_iter()
                .collect();
        file.extend(self.version.as_ref().map(|version| ("version".to_owned(), text(version))));
        file.to_string()
    }

    /// A mistake of this file.
    pub fn mistake(&self, line: Option<usize>, text: String) -> Mistake {
        Mistake { path: self.path.clone(), line, text: horus::outside::printable(&text) }
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

fn entry(source: Source, program: &file::Program, after: Vec<usize>) -> Result<Entry, Mistake> {
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
    Ok(Entry {
        name: program.name.value.clone(),
        run: program.run.value.clone(),
        line: program.run.line,
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

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
version = "0.2.0"

[programs.sim]
run = "sim"
ready_within = "1 min"
restart = "always"
args = ["--seed", "a \"b\" $HOME % ; \\"]
env = { LEVEL = "2" }

[programs.nav]
run = "bin/nav.py"
after = ["sim"]
optional = true
namespace = "left"
rename = { odom = "wheels.odom" }
ready = "start"
group = "drive"

[groups]
bringup = ["sim"]
"#;

    fn read(text: &str) -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot.toml");
        std::fs::write(&path, text).unwrap();
        let plain = |entry| Entry { line: 0, ..entry };
        let read = Manifest::read(&path).unwrap();
        let entries: Vec<_> = read.entries.iter().cloned().map(plain).collect();
        // In the order of their names, and so are the places.
        let mut places: Vec<_> = (0..entries.len()).collect();
        places.sort_by_key(|place| entries[*place].name.clone());
        Manifest { path: PathBuf::new(), entries, ..read }.only(&places)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let manifest = read(FILE);
        assert_eq!(manifest.entries[1].args[1], "a \"b\" $HOME % ; \\");
        assert_eq!(read(&manifest.to_toml()), manifest);
        let only = manifest.only(&[0]);
        assert_eq!(
            (only.entries[0].name.as_str(), only.entries[0].after.len(), only.groups["bringup"].len()),
            ("nav", 0, 0)
        );
    }

    #[test]
    fn an_entry_that_is_left_out_leaves_the_order_of_the_others() {
        let program = |name: &str, after: &str| format!("[programs.{name}]\nrun = \"{name}\"\nafter = [{after}]\n");
        let chain = [program("a", ""), program("b", "\"a\""), program("c", "\"b\"")].concat();
        let only = read(&chain).only(&[0, 2]);
        assert_eq!((only.entries[1].name.as_str(), &only.entries[1].after[..]), ("c", &[0][..]));
    }

    #[test]
    fn a_version_that_is_no_word_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot.toml");
        std::fs::write(&path, "\nversion = \"1 0\"\n[programs.a]\nrun = \"a\"\n").unwrap();
        let mistake = Manifest::read(&path).unwrap_err();
        assert_eq!(mistake.line, Some(2));
        assert!(mistake.text.starts_with("`version`: '1 0' is no name"), "{}", mistake.text);
    }
}
