//! Which directory and namespace the environment chooses.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{DEFAULT_DIRECTORY, DIRECTORY_VARIABLE, NAMESPACE_VARIABLE, Namespace, scope};
use crate::error::OpenError;

/// A directory and a namespace in it, before anybody has looked whether they exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The directory of all namespaces.
    pub directory: PathBuf,
    /// The namespace.
    pub namespace: Namespace,
}

impl Location {
    /// What `$HORUS_SHM_DIR` and `$HORUS_NAMESPACE` say; `/dev/shm/horus` and `default` where they say nothing. A variable
    /// that is empty counts as unset. In a thread that runs a virtual world, `default` of the world's directory ([`Scope`](super::Scope)).
    pub fn from_environment() -> Result<Self, OpenError> {
        if let Some(directory) = scope::current() {
            return Ok(Self { directory, namespace: Namespace::default() });
        }
        Self::from_variables(std::env::var_os(DIRECTORY_VARIABLE), std::env::var_os(NAMESPACE_VARIABLE))
    }

    fn from_variables(directory: Option<OsString>, namespace: Option<OsString>) -> Result<Self, OpenError> {
        let directory = directory.filter(|path| !path.is_empty()).unwrap_or_else(|| DEFAULT_DIRECTORY.into());
        let directory = PathBuf::from(directory);
        let Some(name) = namespace.filter(|name| !name.is_empty()) else {
            return Ok(Self { directory, namespace: Namespace::default() });
        };
        // Bytes that are no text become U+FFFD, which is refused like every other character that is not allowed.
        let namespace = name.to_string_lossy().parse()?;
        Ok(Self { directory, namespace })
    }

    /// The directory that the topics are in.
    pub fn path(&self) -> PathBuf {
        self.namespace.path_in(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(namespace: &str) -> Result<Location, OpenError> {
        Location::from_variables(Some("/run/topics".into()), Some(namespace.into()))
    }

    #[test]
    fn without_variables_topics_are_where_they_always_were() {
        let path = |directory: Option<&str>, namespace: Option<&str>| {
            Location::from_variables(directory.map(Into::into), namespace.map(Into::into)).unwrap().path()
        };
        for unnamed in [None, Some(""), Some("default")] {
            assert_eq!(path(None, unnamed), PathBuf::from("/dev/shm/horus"));
            assert_eq!(path(Some(""), unnamed), PathBuf::from("/dev/shm/horus"));
            assert_eq!(path(Some("/run/topics"), unnamed), PathBuf::from("/run/topics"));
        }
    }

    #[test]
    fn a_namespace_is_a_directory_in_the_directory() {
        assert_eq!(choose("lab").unwrap().path(), PathBuf::from("/run/topics/lab"));
        let error = choose("../lab").unwrap_err().to_string();
        assert!(error.contains("HORUS_NAMESPACE") && error.contains("use A-Z"), "{error}");
    }
}
