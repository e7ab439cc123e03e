//! Where segments live and what they may be called.
//!
//! ```text
//! $HORUS_SHM_DIR, or /dev/shm/horus     0700, or made by root for a group
//! ├── imu.topic                         topics of the namespace `default`
//! └── lab/                              the namespace `lab`: HORUS_NAMESPACE=lab
//!     └── imu.topic                     has nothing to do with the other
//! ```

mod location;
mod namespace;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::error::OpenError;

pub use location::Location;
pub use namespace::{MAX_NAMESPACE_BYTES, Namespace, NamespaceError};

/// Environment variable that names another directory than [`DEFAULT_DIRECTORY`].
pub const DIRECTORY_VARIABLE: &str = "HORUS_SHM_DIR";
/// Where segments live unless [`DIRECTORY_VARIABLE`] says otherwise: in RAM, gone after a reboot.
pub const DEFAULT_DIRECTORY: &str = "/dev/shm/horus";
/// Environment variable that names the namespace, as ROS_DOMAIN_ID numbers it in ROS 2: programs of different namespaces
/// do not see each other's topics.
pub const NAMESPACE_VARIABLE: &str = "HORUS_NAMESPACE";
/// What a segment's file is called after its topic's name.
pub const EXTENSION: &str = "topic";

/// Most bytes of a topic's name.
pub const MAX_NAME_BYTES: usize = 128;

/// A name that a topic can have: 1 to 128 of `A-Z a-z 0-9 _ - .`, not starting with a dot.
///
/// ```
/// use horus_shm::directory::TopicName;
/// assert!("arm.left.imu".parse::<TopicName>().is_ok());
/// assert!("arm/left".parse::<TopicName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicName(String);

/// Why a text is no topic name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// There is none.
    #[error("a topic needs a name: 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ - .")]
    Empty,
    /// It is too long.
    #[error("a topic name of {0} bytes is too long: at most {MAX_NAME_BYTES} are possible")]
    TooLong(usize),
    /// It holds a character that is not allowed.
    #[error("'{character}' cannot stand in the topic name {name:?}: use A-Z a-z 0-9 _ - .")]
    Character {
        /// The whole name.
        name: String,
        /// Its first wrong character.
        character: char,
    },
    /// It would be a hidden file.
    #[error("the topic name {0:?} starts with a dot, which would hide its file")]
    Hidden(String),
}

impl TopicName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TopicName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong(name.len()));
        }
        let allowed = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
        if let Some(character) = name.chars().find(|&character| !allowed(character)) {
            return Err(NameError::Character { name: name.to_owned(), character });
        }
        if name.starts_with('.') {
            return Err(NameError::Hidden(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A directory that holds segments, checked to be one that only its owner or group may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory(PathBuf);

impl Directory {
    /// The namespace of `$HORUS_NAMESPACE` in the directory of `$HORUS_SHM_DIR` or in `/dev/shm/horus`; each directory is
    /// made with mode 0700 if it is missing.
    pub fn from_environment() -> Result<Self, OpenError> {
        let Location { directory, namespace } = Location::from_environment()?;
        Self::at(directory)?.in_namespace(&namespace)
    }

    /// The directory of `namespace` in this one; made with mode 0700 if it is missing, and refused for what
    /// [`at`](Self::at) refuses. `default` is this directory itself.
    ///
    /// To share a namespace with a group, make its directory beforehand, owned by root, as that of all topics is made.
    pub fn in_namespace(&self, namespace: &Namespace) -> Result<Self, OpenError> {
        Self::at(namespace.path_in(&self.0))
    }

    /// The directory `path`; made with mode 0700 if it is missing.
    ///
    /// Refuses one that everybody may write to, or that belongs to another user: there, somebody else could put a file
    /// in a topic's place. (`/dev/shm` itself is open to all, so another user can have made `/dev/shm/horus` first.)
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let path = path.into();
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(OpenError::io("make the directory", &path, error)),
        }
        let found = Self::check(&path).map_err(|error| OpenError::io("open the directory", &path, error))?;
        found.map(|()| Self(path))
    }

    /// As [`at`](Self::at), but makes nothing: `None` if it is missing. For who looks and does not publish.
    pub fn find(path: impl Into<PathBuf>) -> Result<Option<Self>, OpenError> {
        let path = path.into();
        match Self::check(&path) {
            Ok(found) => found.map(|()| Some(Self(path))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(OpenError::io("open the directory", &path, error)),
        }
    }

    /// Whether the directory can be trusted; the outer error is the kernel's, which finds it or not.
    fn check(path: &Path) -> Result<Result<(), OpenError>, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let stat = rustix::fs::fstat(rustix::fs::open(path, flags, Mode::empty())?)?;
        let path = path.to_owned();
        if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) {
            return Ok(Err(OpenError::WorldWritable { path }));
        }
        if !is_trusted(stat.st_uid, rustix::process::geteuid().as_raw()) {
            return Ok(Err(OpenError::ForeignDirectory { path, owner: stat.st_uid }));
        }
        Ok(Ok(()))
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of the topic `name`.
    pub fn file(&self, name: &TopicName) -> PathBuf {
        self.0.join(format!("{name}.{EXTENSION}"))
    }
}

/// Whether `user` may keep topics in a directory of `owner`: one's own and root's; root is trusted to know.
fn is_trusted(owner: u32, user: u32) -> bool {
    owner == 0 || owner == user || user == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_another_user_is_not_trusted() {
        assert!(is_trusted(0, 1000) && is_trusted(1000, 1000) && is_trusted(1000, 0));
        assert!(!is_trusted(1001, 1000));
    }

    #[test]
    fn names_that_are_no_file_name_are_refused() {
        let parse = |name: &str| name.parse::<TopicName>();
        assert!(parse("a").is_ok() && parse("Arm_1.left-imu").is_ok() && parse(&"x".repeat(128)).is_ok());
        assert_eq!(parse(""), Err(NameError::Empty));
        assert_eq!(parse(&"x".repeat(300)), Err(NameError::TooLong(300)));
        for (name, character) in [("a/b", '/'), ("a b", ' '), ("é", 'é'), ("a\0", '\0')] {
            assert_eq!(parse(name), Err(NameError::Character { name: name.to_owned(), character }));
        }
        assert!(matches!(parse(".."), Err(NameError::Hidden(_))));
    }

    #[test]
    fn a_namespace_is_as_private_as_the_directory_must_be() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let directory = Directory::at(parent.path()).unwrap();
        let lab = "lab".parse().unwrap();
        let made = directory.in_namespace(&lab).unwrap();
        assert_eq!(std::fs::metadata(made.path()).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(made.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(directory.in_namespace(&lab), Err(OpenError::WorldWritable { path }) if path == made.path()));
        std::fs::write(parent.path().join("file"), "").unwrap();
        assert!(matches!(directory.in_namespace(&"file".parse().unwrap()), Err(OpenError::Io { .. })));
        std::os::unix::fs::symlink("/tmp", parent.path().join("link")).unwrap();
        assert!(directory.in_namespace(&"link".parse().unwrap()).is_err(), "/tmp is open to everybody");
    }

    #[test]
    fn looking_for_a_directory_makes_none() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("shm");
        assert_eq!(Directory::find(&path).unwrap(), None);
        assert!(!path.exists());
        assert_eq!(Directory::at(&path).unwrap(), Directory::find(&path).unwrap().unwrap());
        assert!(matches!(Directory::find("/tmp"), Err(OpenError::WorldWritable { .. })));
    }

    #[test]
    fn a_directory_open_to_everybody_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("shm");
        let made = Directory::at(&path).unwrap();
        assert_eq!(std::fs::metadata(made.path()).unwrap().permissions().mode() & 0o7777, 0o700);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(matches!(Directory::at(&path), Err(OpenError::WorldWritable { .. })));
    }
}
