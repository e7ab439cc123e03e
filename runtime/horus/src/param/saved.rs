//! The file of a program's saved parameters: where it is, what it says, and how it is written.
//!
//! ```toml
//! ["drive"."gain"]
//! value = 1.2
//! at = 1795856279 # 2026-11-28T09:04:39Z
//! by = 1000
//! ```
//!
//! The program alone writes it, with its own rights: who may set parameters may have them saved, and needs no folder for it. A new file is
//! written beside the old one, is on the disk, and then takes its name: a machine that loses its power has one of the two.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use horus_shm::directory::Namespace;
use serde::Deserialize;

use super::value::Value;
use crate::time::utc;

/// Names the folder of what programs save.
pub const STATE_VARIABLE: &str = "HORUS_STATE_DIR";

/// No file of ours is longer, and no other is read.
const MAX_BYTES: u64 = 1 << 20;

/// A value that was saved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub value: Value,
    /// When it was set, in seconds since 1970.
    pub at: u64,
    /// Which user had set it.
    pub by: Option<u32>,
}

/// All that a program has saved, by node and name: what fits no parameter any more, too.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Saved(pub BTreeMap<String, BTreeMap<String, Entry>>);

/// The file of a program: in the folder of `$HORUS_STATE_DIR`, in the one that a service manager gives (`$STATE_DIRECTORY`), or in the
/// user's (`$XDG_STATE_HOME/horus`, `~/.local/state/horus`).
pub(super) fn place(program: &str, namespace: &Namespace) -> Result<PathBuf, String> {
    place_by(program, namespace, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn place_by(
    program: &str,
    namespace: &Namespace,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, String> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let given = |name: &str| absolute(variable(name)?.into());
    let first = |name: &str| {
        let all = variable(name)?;
        absolute(std::env::split_paths(&all).next()?)
    };
    let folder = given(STATE_VARIABLE)
        .or_else(|| first("STATE_DIRECTORY"))
        .or_else(|| given("XDG_STATE_HOME").map(|state| state.join("horus")))
        .or_else(|| given("HOME").map(|home| home.join(".local/state/horus")))
        .ok_or_else(|| {
            format!("{program} has no folder for what it saves: start it with ${STATE_VARIABLE}, an absolute path")
        })?;
    Ok(namespace.path_in(&folder).join(format!("{program}.params.toml")))
}

impl Saved {
    /// What the file says; nothing where there is none.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |text: &str| {
            let text = text.trim_end();
            format!("{}: {text}; nothing in it is lost: correct the file, or move it away", path.display())
        };
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Ok(about) if about.len() > MAX_BYTES => return Err(wrong("it is too long for a file of saved parameters")),
            _ => {}
        }
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        toml::from_str(&text).map_err(|error| wrong(&error.to_string()))
    }

    /// Writes it in the place of what is there, or removes that where nothing is saved.
    pub fn write(&self, program: &str, path: &Path) -> Result<(), String> {
        self.try_write(program, path).map_err(|error| {
            format!("{}: {error}; what was saved before stays: ${STATE_VARIABLE} names another folder", path.display())
        })
    }

    fn try_write(&self, program: &str, path: &Path) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        if self.0.values().all(BTreeMap::is_empty) {
            return match std::fs::remove_file(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                removed => removed.and_then(|()| std::fs::File::open(folder)?.sync_all()),
            };
        }
        std::fs::create_dir_all(folder)?;
        let mut new = tempfile::Builder::new().prefix(".params").tempfile_in(folder)?;
        new.write_all(self.text(program).as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(path).map_err(|error| error.error)?;
        std::fs::File::open(folder)?.sync_all()
    }

    fn text(&self, program: &str) -> String {
        let mut text = format!(
            "# Parameters of {program} that were saved. It takes them at its start, after its node.toml.\n\
             # `horus param forget {program}` drops them.\n"
        );
        for (node, named) in &self.0 {
            for (name, Entry { value, at, by }) in named {
                // Writing into a String cannot fail.
                let _ = writeln!(text, "\n[{}.{}]", quoted(node), quoted(name));
                let _ = writeln!(text, "value = {}\nat = {at} # {}", written(value), utc(*at));
                let _ = by.map(|by| writeln!(text, "by = {by}"));
            }
        }
        text
    }

    pub fn get(&self, node: &str, name: &str) -> Option<&Entry> {
        self.0.get(node)?.get(name)
    }

    pub fn insert(&mut self, node: &str, name: &str, entry: Entry) {
        self.0.entry(node.to_owned()).or_default().insert(name.to_owned(), entry);
    }

    /// True if there was one.
    pub fn remove(&mut self, node: &str, name: &str) -> bool {
        self.0.get_mut(node).is_some_and(|named| named.remove(name).is_some())
    }
}

/// A value as TOML has it.
fn written(value: &Value) -> String {
    match value {
        Value::F64(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_whatever_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("lab/nav.params.toml");
        let mut saved = Saved::default();
        for (number, value) in [
            Value::Bool(true),
            Value::I64(i64::MIN),
            Value::F64(0.1 + 0.2),
            Value::F64(1e300),
            Value::F64(-0.0),
            Value::F64(2.0),
            Value::Text("a \"quoted\" \\ path = [x] # äöü".to_owned()),
        ]
        .into_iter()
        .enumerate()
        {
            saved.insert(
                "drive",
                &format!("p{number}"),
                Entry { value, at: 1_795_856_279, by: Some(7).filter(|_| number > 2) },
            );
        }
        saved.write("nav", &path).unwrap();
        assert_eq!(Saved::read(&path).unwrap(), saved);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        Saved::default().write("nav", &path).unwrap();
        assert!(!path.exists());
        Saved::default().write("nav", &path).unwrap();
    }

    #[test]
    fn a_file_that_makes_no_sense_is_told_with_its_name_and_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("nav.params.toml");
        for text in [
            "[drive",
            "[drive]\ngain = 2",
            "[drive.gain]\nvalue = [1]\nat = 1",
            "[drive.gain]\nvalue = 1\nat = 1\nbye = 2",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Saved::read(&path).unwrap_err();
            assert!(error.contains("nav.params.toml") && error.contains("correct the file"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_folder_is_the_one_that_is_named_the_services_or_the_users() {
        let place = |variables: &[(&str, &str)], namespace: &str| {
            let found =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            place_by("nav", &namespace.parse().unwrap(), found).map(|path| path.display().to_string())
        };
        let all = [("HORUS_STATE_DIR", "/s"), ("STATE_DIRECTORY", "/a:/b"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(place(&all, "default").unwrap(), "/s/nav.params.toml");
        assert_eq!(place(&all, "lab").unwrap(), "/s/lab/nav.params.toml");
        assert_eq!(place(&all[1..], "default").unwrap(), "/a/nav.params.toml");
        assert_eq!(place(&all[2..], "default").unwrap(), "/x/horus/nav.params.toml");
        assert_eq!(place(&all[3..], "default").unwrap(), "/h/.local/state/horus/nav.params.toml");
        assert_eq!(
            place(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")], "default").unwrap(),
            "/h/.local/state/horus/nav.params.toml"
        );
        assert!(place(&[], "default").unwrap_err().contains("HORUS_STATE_DIR"));
    }
}
