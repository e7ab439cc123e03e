//! A board: words in shared memory that one process writes and others read, without either waiting for the other.
//!
//! A node process keeps its figures on one, and its parameters on another. It is a file of the topic directory with an extension of
//! its own. The kernel tells
//! whether its owner lives, as it does for topics ([`crate::peers`]): by a lock that lasts as long as the owner's mapping.
//!
//! A reader asks the kernel for words (`pread`) and maps nothing: a file that another process cuts off is an answer, and no
//! signal.
//!
//! # What it does not do
//! A board says nothing of what its words mean, and words are read one by one: who reads two of them may see the owner between the two.
//! Who may write to the file may write to any word: who shares the directory's group is trusted that far.

use std::path::{Path, PathBuf};

use horus_sys::failpoint;
use zerocopy::IntoBytes;

use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::patience::Patience;
use crate::peers::fork::Opening;
use crate::peers::locks::{self, Place};
use crate::segment::file::{Access, LastOut, TopicFile, let_others_read, link, make_unnamed};
use crate::segment::layout::WORD;
use crate::segment::map::{Mapping, Residency};
use crate::sync::{Arc, AtomicU64, Ordering};

/// What the files of boards with a program's figures end with.
pub const EXTENSION: &str = "node";

/// What the files of boards with a program's parameters end with.
pub const PARAMETERS: &str = "params";

/// The most words of a board: 1 MiB. A reader believes no more.
pub const MAX_WORDS: usize = 1 << 17;

/// The first word of every board: a file that begins otherwise is another program's, and is never removed.
const MAGIC: u64 = u64::from_le_bytes(*b"HORUSBRD");

/// What one writer at a time locks. The owner's place is lane 0.
const WRITER: Place = Place::Lane(1);

/// How often a name that a dead owner left is taken over before giving up.
const TRIES: usize = 8;

/// A board, seen by its owner. Its file goes when it is dropped.
pub struct Board {
    // Dropped in this order: first the mapping, which holds the lock, then who removes the file.
    mapping: Mapping,
    _last_out: LastOut,
}

impl Board {
    /// Makes the board `name` of zeroed words; `None` when a living process has one of this name.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: no memory, no permission.
    pub fn make(directory: &Directory, name: &TopicName, words: usize) -> Result<Option<Self>, OpenError> {
        Self::make_at(&path(directory, name), words, directory.access()?, false)
    }

    /// As [`make`](Self::make), of a program's parameters. Who may use the directory's topics may read them. So many may set them, or
    /// the members of the group `setters` alone.
    ///
    /// # Errors
    /// As there, and when this user may not give a file to that group.
    pub fn make_parameters(
        directory: &Directory,
        name: &TopicName,
        words: usize,
        setters: Option<u32>,
    ) -> Result<Option<Self>, OpenError> {
        let path = parameters(directory, name);
        match setters {
            None => Self::make_at(&path, words, directory.access()?, false),
            // Who may not enter the directory reads nothing in it. One that everybody may enter keeps its files closed.
            Some(group) => {
                let access = Access { mode: 0o660, group: Some(group) };
                Self::make_at(&path, words, access, directory.is_closed_to_others()?)
            }
        }
    }

    fn make_at(path: &Path, words: usize, access: Access, others_read: bool) -> Result<Option<Self>, OpenError> {
        let _no_child_gets_the_description = Opening::begin();
        for _ in 0..TRIES {
            let file = make_unnamed(path, (1 + words) * WORD, access)?;
            if others_read {
                let_others_read(&file, path)?;
            }
            let locked = locks::try_lock(&file, Place::Lane(0)).map_err(|error| OpenError::io("lock", path, error))?;
            debug_assert!(locked, "no other process has a file without a name");
            let mut mapping = Mapping::new(&file, (1 + words) * WORD, path, Residency::Locked)?;
            mapping.guard();
            mapping.words()[0].store(MAGIC, Ordering::Relaxed); // read by who finds the name, which it has only after this
            if link(&file, path)? {
                let Some(named) = TopicFile::open(path)? else { continue };
                return Ok(Some(Self { mapping, _last_out: LastOut::new(Arc::new(named)) }));
            }
            match TopicFile::open(path)? {
                Some(left) if !is_ours(&left) => return Err(OpenError::NoRegularFile { path: path.to_owned() }),
                Some(left) if !left.remove_if_unused()? => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Its words.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        &self.mapping.words()[1..]
    }
}

/// Whether a file begins as a board does.
pub(crate) fn is_ours(file: &TopicFile) -> bool {
    let mut first = [0; WORD];
    rustix::io::pread(file.file(), &mut first, 0).is_ok_and(|read| read == WORD) && u64::from_ne_bytes(first) == MAGIC
}

/// A board, seen by another process.
pub struct View {
    file: TopicFile,
    words: usize,
    is_writable: bool,
}

impl View {
    /// Opens the board in the file `path`; `None` when there is none, or one that its dead owner left. Where this user may only read
    /// it, so does the view.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way: no permission, no regular file.
    pub fn open(path: &Path) -> Result<Option<Self>, OpenError> {
        let (file, is_writable) = match TopicFile::open(path) {
            Err(OpenError::NotPermitted { .. }) => (TopicFile::open_to_read(path)?, false),
            opened => (opened?, true),
        };
        let Some(file) = file else { return Ok(None) };
        let stat = rustix::fs::fstat(file.file()).map_err(|error| OpenError::io("examine", path, error))?;
        let words = usize::try_from(stat.st_size).unwrap_or(0) / WORD;
        if !(1..=1 + MAX_WORDS).contains(&words) || !is_ours(&file) {
            return Ok(None);
        }
        let view = Self { file, words: words - 1, is_writable };
        Ok(view.is_owned().then_some(view))
    }

    /// Whether this user may write to it.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// How many words it had when it was opened.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Reads its words from number `first` on; false when another process has cut them off. One system call.
    #[must_use]
    pub fn read(&self, first: usize, into: &mut [u64]) -> bool {
        let bytes = into.as_mut_bytes();
        let wanted = bytes.len();
        rustix::io::pread(self.file.file(), bytes, Self::offset(first)).is_ok_and(|read| read == wanted)
    }

    /// Writes one of its words. One system call.
    ///
    /// # Panics
    /// When it has had no such word.
    pub fn write(&self, word: usize, value: u64) {
        assert!(word < self.words);
        failpoint!("board:word");
        // Where the file was cut off, no process looks any more.
        let _ = rustix::io::pwrite(self.file.file(), value.as_bytes(), Self::offset(word));
    }

    /// Writes words from number `first` on; false when another process has cut them off. One system call, which another reader
    /// can see half done.
    ///
    /// # Panics
    /// When it has had no such words.
    #[must_use]
    pub fn write_all(&self, first: usize, words: &[u64]) -> bool {
        assert!(first + words.len() <= self.words);
        let bytes = words.as_bytes();
        #[cfg(failpoints)]
        let _the_first_half = rustix::io::pwrite(self.file.file(), &bytes[..bytes.len() / 2], Self::offset(first));
        failpoint!("board:half");
        rustix::io::pwrite(self.file.file(), bytes, Self::offset(first)).is_ok_and(|written| written == bytes.len())
    }

    /// Keeps other writers out that ask so, until what it returns is dropped or this process ends, however it ends. `None` when another
    /// one stays for longer than a second, which has to be stopped in it.
    ///
    /// # Errors
    /// When the kernel refuses the lock.
    pub fn write_alone(&self) -> Result<Option<Writing<'_>>, OpenError> {
        let mut patience = Patience::new();
        loop {
            let locked = locks::try_lock(self.file.file(), WRITER);
            if locked.map_err(|error| OpenError::io("lock", self.file.path(), error))? {
                failpoint!("board:alone");
                return Ok(Some(Writing(self)));
            }
            if !patience.pause() {
                return Ok(None);
            }
        }
    }

    fn offset(word: usize) -> u64 {
        ((1 + word) * WORD) as u64
    }

    /// Whether its owner lives. One system call.
    pub fn is_owned(&self) -> bool {
        locks::is_locked(self.file.file(), Place::Lane(0)).unwrap_or(false)
    }

    /// Whether the file still has its name.
    pub fn is_named(&self) -> bool {
        self.file.is_named()
    }

    /// Which file it is, whatever its names: device and number.
    pub fn identity(&self) -> (u64, u64) {
        rustix::fs::fstat(self.file.file()).map_or((u64::MAX, u64::MAX), |stat| (stat.st_dev, stat.st_ino))
    }

    /// The user and the group that its file belongs to, by number; those of `nobody` where the kernel does not say.
    pub fn owner(&self) -> (u32, u32) {
        rustix::fs::fstat(self.file.file()).map_or((u32::MAX, u32::MAX), |stat| (stat.st_uid, stat.st_gid))
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// The time in which no other process that asks writes to a board.
pub struct Writing<'a>(&'a View);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        locks::unlock(self.0.file.file(), WRITER);
    }
}

/// Whether a living process has a board of this name.
///
/// # Errors
/// When its file cannot be looked at.
pub fn exists(directory: &Directory, name: &TopicName) -> Result<bool, OpenError> {
    Ok(View::open(&path(directory, name))?.is_some())
}

/// The files of the boards in a directory, sorted by name; whether their owners live is another question.
///
/// # Errors
/// When the directory cannot be read.
pub fn list(directory: &Directory) -> Result<Vec<PathBuf>, OpenError> {
    list_of(directory, EXTENSION)
}

/// As [`list`], of the boards with parameters.
///
/// # Errors
/// As there.
pub fn list_parameters(directory: &Directory) -> Result<Vec<PathBuf>, OpenError> {
    list_of(directory, PARAMETERS)
}

fn list_of(directory: &Directory, wanted: &str) -> Result<Vec<PathBuf>, OpenError> {
    let io = |error: std::io::Error| OpenError::Io { doing: "list", path: directory.path().to_owned(), source: error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory.path()).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == wanted) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The file of the board with the parameters of a program.
pub fn parameters(directory: &Directory, name: &TopicName) -> PathBuf {
    directory.path().join(format!("{name}.{PARAMETERS}"))
}

fn path(directory: &Directory, name: &TopicName) -> PathBuf {
    directory.path().join(format!("{name}.{EXTENSION}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        (scratch, directory)
    }

    #[test]
    fn what_the_owner_writes_others_read_and_what_they_write_the_owner_reads() {
        let (_scratch, directory) = directory();
        let name = "base".parse().unwrap();
        let board = Board::make(&directory, &name, 1000).unwrap().expect("no process has the name");
        let view = View::open(&list(&directory).unwrap()[0]).unwrap().expect("the owner lives");
        board.words()[999].store(7, Ordering::Relaxed);
        let mut last = [0];
        assert!(view.read(999, &mut last) && !view.read(999, &mut [0; 2]));
        assert_eq!((view.words(), last), (1000, [7]));
        view.write(0, 8);
        assert_eq!(board.words()[0].load(Ordering::Relaxed), 8);
    }

    #[test]
    fn a_board_that_is_cut_off_is_an_answer_and_too_large_a_one_is_none() {
        let (_scratch, directory) = directory();
        let name = "base".parse().unwrap();
        let board = Board::make(&directory, &name, 1000).unwrap().unwrap();
        let path = path(&directory, &name);
        let view = View::open(&path).unwrap().unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(WORD as u64).unwrap();
        assert!(!view.read(0, &mut [0]) && view.is_owned());
        view.write(999, 1);
        file.set_len(((2 + MAX_WORDS) * WORD) as u64).unwrap();
        assert!(View::open(&path).unwrap().is_none());
        file.set_len(((1 + MAX_WORDS) * WORD) as u64).unwrap();
        assert!(View::open(&path).unwrap().is_some());
        drop(board);
    }

    #[test]
    fn a_name_has_one_living_owner_and_a_board_goes_with_it() {
        let (_scratch, directory) = directory();
        let name = "base".parse().unwrap();
        let board = Board::make(&directory, &name, 1).unwrap().unwrap();
        let view = View::open(&list(&directory).unwrap()[0]).unwrap().unwrap();
        assert!(Board::make(&directory, &name, 1).unwrap().is_none());
        drop(board);
        assert!(!view.is_owned() && !view.is_named());
        assert!(list(&directory).unwrap().is_empty());
        assert!(Board::make(&directory, &name, 1).unwrap().is_some());
    }

    #[test]
    fn what_a_killed_owner_left_is_nobodys_and_is_replaced() {
        let (_scratch, directory) = directory();
        let name: TopicName = "base".parse().unwrap();
        let board = [MAGIC.to_ne_bytes(), [0; WORD]].concat();
        std::fs::write(path(&directory, &name), board).unwrap(); // a file without a lock
        assert!(View::open(&path(&directory, &name)).unwrap().is_none());
        assert!(Board::make(&directory, &name, 1).unwrap().is_some());
        std::fs::write(path(&directory, &name), "a letter").unwrap();
        assert!(Board::make(&directory, &name, 1).is_err(), "not ours to remove");
    }
}
