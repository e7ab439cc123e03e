//! Finds the boards of processes that are new, so that no user of the topics' directory costs the others their monitor: what one look reads
//! and what one user may have watched is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::topic::{Directory, OpenError};

/// The most files that one look asks about. Directories in RAM list the newest ones first.
const MOST_FILES: usize = 4096;

/// The most processes of one user that are watched: each costs a descriptor, and a system call a node and look.
pub const MOST_OF_A_USER: usize = 128;

/// The most processes that are watched.
pub const MOST_IN_ALL: usize = 256;

/// What is read of the boards of one user in one look, but for the first one.
const BYTES_A_LOOK: u64 = 256 << 10;

/// A board that is worth opening.
pub struct Found {
    pub path: PathBuf,
    /// Device and number: a file may have several names.
    pub identity: (u64, u64),
    user: u32,
    bytes: u64,
}

/// All boards of the directory, each once, by name; and whether there are more than are looked at.
pub fn boards(directory: &Directory) -> Result<(Vec<Found>, bool), OpenError> {
    let io = |source| OpenError::Io { doing: "list", path: directory.path().to_owned(), source };
    let mut found = BTreeMap::new();
    let mut asked = 0;
    for entry in std::fs::read_dir(directory.path()).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_none_or(|extension| extension != horus_shm::board::EXTENSION) {
            continue;
        }
        asked += 1;
        if asked > MOST_FILES {
            return Ok((sorted(found), true));
        }
        let Ok(file) = path.symlink_metadata() else { continue };
        if file.is_file() {
            let identity = (file.dev(), file.ino());
            let board = Found { path, identity, user: file.uid(), bytes: file.len() };
            found.entry(identity).or_insert(board);
        }
    }
    Ok((sorted(found), false))
}

fn sorted(found: BTreeMap<(u64, u64), Found>) -> Vec<Found> {
    let mut all: Vec<_> = found.into_values().collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// Who has how much of what is bounded.
#[derive(Debug, Default)]
pub struct Shares {
    watched: BTreeMap<u32, usize>,
    read: BTreeMap<u32, u64>,
    /// Users with more processes than are watched.
    pub exceeded: BTreeSet<u32>,
}

impl Shares {
    /// With the processes that are watched, by user.
    pub fn of(watched: impl IntoIterator<Item = u32>) -> Self {
        let mut shares = Self::default();
        watched.into_iter().for_each(|user| *shares.watched.entry(user).or_default() += 1);
        shares
    }

    /// Whether a board may be read now. One that may not has its turn in a later look, unless its user has too many.
    pub fn allow(&mut self, board: &Found) -> bool {
        let all: usize = self.watched.values().sum();
        if all >= MOST_IN_ALL || self.watched.get(&board.user).is_some_and(|count| *count >= MOST_OF_A_USER) {
            self.exceeded.insert(board.user);
            return false;
        }
        let read = self.read.entry(board.user).or_default();
        let is_first = *read == 0;
        if !is_first && *read + board.bytes > BYTES_A_LOOK {
            return false;
        }
        *read += board.bytes.max(1);
        true
    }

    /// Another process of this board's user is watched.
    pub fn watch(&mut self, board: &Found) {
        *self.watched.entry(board.user).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(user: u32, bytes: u64) -> Found {
        Found { path: PathBuf::new(), identity: (0, 0), user, bytes }
    }

    #[test]
    fn a_user_with_many_or_large_boards_costs_another_one_nothing() {
        let mut shares = Shares::default();
        for _ in 0..2 * MOST_OF_A_USER {
            if shares.allow(&board(1, 4096)) {
                shares.watch(&board(1, 4096));
            }
        }
        assert_eq!(shares.watched[&1], MOST_OF_A_USER.min((BYTES_A_LOOK / 4096) as usize));
        assert!(shares.allow(&board(2, 1 << 20)), "the first one, whatever its size");
        assert!(!shares.allow(&board(2, 1)), "another look");
        let mut next = Shares::of([1; MOST_OF_A_USER]);
        assert!(!next.allow(&board(1, 1)) && next.allow(&board(2, 1)));
        assert_eq!(next.exceeded, BTreeSet::from([1]));
    }

    #[test]
    fn a_file_with_many_names_is_one_and_a_link_is_none() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        let first = scratch.path().join("b.node");
        std::fs::write(&first, "board").unwrap();
        for number in 0..300 {
            std::fs::hard_link(&first, scratch.path().join(format!("x{number}.node"))).unwrap();
        }
        std::os::unix::fs::symlink(&first, scratch.path().join("a.node")).unwrap();
        std::fs::write(scratch.path().join("topic"), "topic").unwrap();
        let (found, is_cut) = boards(&directory).unwrap();
        assert_eq!((found.len(), is_cut), (1, false));
    }
}
