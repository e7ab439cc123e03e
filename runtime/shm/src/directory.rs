//! Where segments live and what they may be called.
//!
//! ```text
//! $HORUS_SHM_DIR, or /dev/shm/horus     0700; or 2770, made by root for a group: its topics are that group's
//! ├── imu.topic                         topics of the namespace `default`
//! └── lab/                              the namespace `lab`: HORUS_NAMESPACE=lab
//!     └── imu.topic                     has nothing to do with the other
//! ```

mod group;
mod location;
mod name;
mod namespace;
mod renamed;
mod scope;

use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::OpenError;
use crate::segment::file::Access;

pub use group::Group;
pub use location::Location;
pub use name::{IntoTopicName, MAX_NAME_BYTES, NameError, TopicName};
pub use namespace::{Namespace, NamespaceError};
pub use renamed::RENAME_VARIABLE;
pub use scope::Scope;

/// Environment variable that names another directory than [`DEFAULT_DIRECTORY`].
pub const DIRECTORY_VARIABLE: &str = "HORUS_SHM_DIR";
/// Where segments live unless [`DIRECTORY_VARIABLE`] says otherwise: in RAM, gone after a reboot.
pub const DEFAULT_DIRECTORY: &str = "/dev/shm/horus";
/// Environment variable that names the namespace, as ROS_DOMAIN_ID numbers it in ROS 2: programs of different namespaces
/// do not see each other's topics.
pub const NAMESPACE_VARIABLE: &str = "HORUS_NAMESPACE";
/// Environment variable with the name or number of the group that shares the topics which a program makes.
pub const GROUP_VARIABLE: &str = "HORUS_GROUP";
/// What a segment's file is called after its topic's name.
pub const EXTENSION: &str = "topic";

/// A directory that holds segments, checked to be one that only its owner or group may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory(PathBuf);

impl Directory {
    /// The namespace of `$HORUS_NAMESPACE` in the directory of `$HORUS_SHM_DIR` or in `/dev/shm/horus`; each directory is
    /// made with mode 0700 if it is missing. In a thread that runs a virtual world, that of the world ([`Scope`]).
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
    /// Refuses one that everybody may write to, or that belongs to another user: there, another user could put a file
    /// in a topic's place. (`/dev/shm` itself is open to all, so another user can have made `/dev/shm/horus` first.) Refuses one
    /// that is not in RAM: there, the kernel writes messages to a disk, and makes their publishers wait for it.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let path = path.into();
        let is_made = match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(OpenError::in_directory("make the directory", &path, error)),
        };
        let found = Self::check(&path).map_err(|error| OpenError::in_directory("open", &path, error))?;
        if is_made && found.is_err() {
            let _ = rustix::fs::rmdir(&path); // by now another program may have put something in it
        }
        found.map(|()| Self(path))
    }

    /// As [`at`](Self::at), but makes nothing: `None` if it is missing. For who looks and does not publish.
    pub fn find(path: impl Into<PathBuf>) -> Result<Option<Self>, OpenError> {
        let path = path.into();
        match Self::check(&path) {
            Ok(found) => found.map(|()| Some(Self(path))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(OpenError::in_directory("open", &path, error)),
        }
    }

    /// The directory of a topic's file, which was checked when the file was opened.
    pub(crate) fn of(file: &Path) -> Self {
        Self(file.parent().unwrap_or(Path::new(".")).to_owned())
    }

    /// Whether the directory can be trusted; the outer error is the kernel's, which finds it or not.
    fn check(path: &Path) -> Result<Result<(), OpenError>, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&directory)?;
        let file_system = rustix::fs::fstatfs(&directory)?.f_type;
        let path = path.to_owned();
        if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) {
            return Ok(Err(OpenError::WorldWritable { path }));
        }
        if !is_trusted(stat.st_uid, rustix::process::geteuid().as_raw()) {
            return Ok(Err(OpenError::ForeignDirectory { path, owner: stat.st_uid }));
        }
        if file_system as u64 & 0xffff_ffff != TMPFS {
            return Ok(Err(OpenError::NotInRam { path }));
        }
        Ok(Ok(()))
    }

    /// Who may open the topics that are made here, unless a program says otherwise: the group of `$HORUS_GROUP`; the
    /// directory's own group, if the directory gives it to what is made in it (mode 2770); or only the user who makes them.
    pub fn access(&self) -> Result<Access, OpenError> {
        if let Some(group) = std::env::var(GROUP_VARIABLE).ok().filter(|group| !group.is_empty()) {
            return Ok(Access { mode: 0o660, group: Some(Group::from(group.as_str()).number()?) });
        }
        let stat = rustix::fs::stat(&self.0).map_err(|error| OpenError::in_directory("examine", &self.0, error))?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        match mode.contains(Mode::SGID | Mode::WGRP) {
            true => Ok(Access { mode: 0o660, group: Some(stat.st_gid) }),
            false => Ok(Access::default()),
        }
    }

    /// Whether only its owner and its group may look for what is in it.
    pub(crate) fn is_closed_to_others(&self) -> Result<bool, OpenError> {
        let stat = rustix::fs::stat(&self.0).map_err(|error| OpenError::in_directory("examine", &self.0, error))?;
        Ok(!Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXO))
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

/// tmpfs, by its number in statfs(2): the file system in RAM that can do what topics need of one.
const TMPFS: u64 = 0x0102_1994;

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
    fn a_namespace_is_as_private_as_the_directory_must_be() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir_in("/dev/shm").unwrap();
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
        let parent = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = parent.path().join("shm");
        assert_eq!(Directory::find(&path).unwrap(), None);
        assert!(!path.exists());
        assert_eq!(Directory::at(&path).unwrap(), Directory::find(&path).unwrap().unwrap());
        assert!(matches!(Directory::find("/tmp"), Err(OpenError::WorldWritable { .. })));
    }

    #[test]
    fn a_directory_open_to_everybody_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = parent.path().join("shm");
        let made = Directory::at(&path).unwrap();
        assert_eq!(std::fs::metadata(made.path()).unwrap().permissions().mode() & 0o7777, 0o700);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(matches!(Directory::at(&path), Err(OpenError::WorldWritable { .. })));
    }

    #[test]
    fn a_directory_on_a_disk_is_refused() {
        // A file system that is never in RAM, that every user can see and no user can write.
        let error = Directory::find("/proc/self").unwrap_err();
        assert!(matches!(error, OpenError::NotInRam { .. }), "{error}");
        assert!(error.to_string().contains("HORUS_SHM_DIR"), "{error}");
    }

    #[test]
    fn a_directory_that_is_refused_is_not_left_behind() {
        // On a disk, or where the build is in RAM, nothing is refused and it stays.
        let target = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let parent = tempfile::tempdir_in(target).unwrap();
        let path = parent.path().join("topics");
        let is_made = Directory::at(&path).is_ok();
        assert_eq!(path.exists(), is_made);
        // One that was there stays, refused or not.
        std::fs::create_dir_all(&path).unwrap();
        assert_eq!(Directory::at(&path).is_ok(), is_made);
        assert!(path.exists());
    }

    #[test]
    fn what_is_made_in_a_groups_directory_is_the_groups() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let parent = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(parent.path()).unwrap();
        let group = std::fs::metadata(parent.path()).unwrap().gid();
        assert_eq!(directory.access().unwrap(), Access { mode: 0o600, group: None });
        std::fs::set_permissions(parent.path(), std::fs::Permissions::from_mode(0o2770)).unwrap();
        assert_eq!(directory.access().unwrap(), Access { mode: 0o660, group: Some(group) });
    }
}
