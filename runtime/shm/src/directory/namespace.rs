//! The name of a namespace.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

/// Most bytes of a namespace's name.
pub(crate) const MAX_NAMESPACE_BYTES: usize = 64;

/// A name that a namespace can have: 1 to 64 of `A-Z a-z 0-9 _ -`. It is no protection from others, only a way to keep
/// two robots, or a robot and its simulation, apart on one machine.
///
/// The namespace called `default` is the directory itself; every other one is a directory in it.
///
/// ```
/// use horus_shm::directory::Namespace;
/// assert!("robot-2".parse::<Namespace>().is_ok());
/// assert!("../elsewhere".parse::<Namespace>().is_err());
/// assert_eq!(Namespace::default().as_str(), "default");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace(String);

/// Why a text is no namespace.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NamespaceError {
    /// There is none.
    #[error("a namespace needs a name: 1 to {MAX_NAMESPACE_BYTES} of A-Z a-z 0-9 _ -")]
    Empty,
    /// It is too long.
    #[error("a namespace of {0} bytes is too long: at most {MAX_NAMESPACE_BYTES} are possible")]
    TooLong(usize),
    /// It holds a character that is not allowed.
    #[error("{character:?} cannot stand in the namespace {name:?}: use A-Z a-z 0-9 _ -")]
    Character {
        /// The whole name.
        name: String,
        /// Its first wrong character.
        character: char,
    },
}

impl Namespace {
    /// Where the topics of this namespace live when those of `default` live in `directory`.
    pub fn path_in(&self, directory: &Path) -> PathBuf {
        if *self == Self::default() { directory.to_owned() } else { directory.join(&self.0) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The namespaces that there are when the topics of `default` live in `directory`: `default`, which always is, and those with a
    /// folder there, by name; 1024 at most.
    pub fn all_in(directory: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let folders = entries.flatten().filter(is_folder).filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut all: Vec<Self> = folders.filter(|name| *name != Self::default()).take(MOST_NAMESPACES - 1).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all.insert(0, Self::default());
        all
    }
}

/// The most namespaces that are looked into: a user who may make one must not hold up those who look for longer.
const MOST_NAMESPACES: usize = 1024;

impl Default for Namespace {
    /// The namespace of programs that name none.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for Namespace {
    type Err = NamespaceError;

    fn from_str(name: &str) -> Result<Self, NamespaceError> {
        if name.is_empty() {
            return Err(NamespaceError::Empty);
        }
        if name.len() > MAX_NAMESPACE_BYTES {
            return Err(NamespaceError::TooLong(name.len()));
        }
        // No dot: a namespace is a path component, and `..` is one too.
        let allowed = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        if let Some(character) = name.chars().find(|&character| !allowed(character)) {
            return Err(NamespaceError::Character { name: name.to_owned(), character });
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_that_could_lead_elsewhere_are_refused() {
        let parse = |name: &str| name.parse::<Namespace>();
        assert!(parse("a").is_ok() && parse("Robot_1-b").is_ok() && parse(&"x".repeat(64)).is_ok());
        assert_eq!(parse(""), Err(NamespaceError::Empty));
        assert_eq!(parse(&"x".repeat(65)), Err(NamespaceError::TooLong(65)));
        for (name, character) in
            [("..", '.'), ("a/b", '/'), ("a b", ' '), ("é", 'é'), ("a\0", '\0'), ("imu.topic", '.')]
        {
            assert_eq!(parse(name), Err(NamespaceError::Character { name: name.to_owned(), character }));
        }
    }

    #[test]
    fn the_namespaces_of_a_directory_are_its_folders_and_itself() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        for name in ["lab", "arm-2", "default", "no.namespace"] {
            std::fs::create_dir(scratch.path().join(name)).unwrap();
        }
        std::fs::write(scratch.path().join("imu.topic"), "").unwrap();
        std::os::unix::fs::symlink("/tmp", scratch.path().join("link")).unwrap();
        let names: Vec<_> = Namespace::all_in(scratch.path()).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["default", "arm-2", "lab"]);
        assert_eq!(Namespace::all_in(Path::new("/nowhere")), [Namespace::default()]);
    }
}
