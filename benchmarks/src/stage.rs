//! What a cell is measured with: CPUs, effort, a directory in memory and a name that no other run uses.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tempfile::{Builder, TempDir};

use crate::options::Effort;
use crate::patience::{PATIENCE, Patience};
use crate::pinning::Cpus;
use crate::transport::{Failure, Meeting};

/// The conditions of one attempt at a cell.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Where both ends run.
    pub cpus: Cpus,
    /// How long to measure.
    pub effort: Effort,
    /// Where they meet; new for every attempt.
    pub meeting: Meeting,
    /// Number of the task in its suite, by which a peer process finds its code.
    pub task: usize,
}

impl Stage {
    /// For waits of one of both ends, until `stop` is set.
    pub fn patience<'a>(&self, stop: &'a AtomicBool) -> Patience<'a> {
        Patience::new(PATIENCE, stop).sharing(self.cpus.shared())
    }

    /// A stage for tests of the harness and of what implements its traits: few messages, a directory of their own.
    pub fn for_tests(directory: &Path) -> Self {
        Self::in_directory(directory)
    }

    /// As [`for_tests`](Self::for_tests), where a program wants a few messages and no figures.
    pub fn in_directory(directory: &Path) -> Self {
        let meeting = Meeting { name: "test".to_owned(), directory: directory.to_owned() };
        Self { cpus: Cpus::default_pair(), effort: Effort::TEST, meeting, task: 0 }
    }
}

const PREFIX: &str = "horus-bench-";

/// A directory in memory that goes with the program; what killed predecessors left goes too.
pub fn scratch() -> Result<TempDir, Failure> {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    sweep(&parent);
    Ok(Builder::new().prefix(&format!("{PREFIX}{}", std::process::id())).rand_bytes(0).tempdir_in(parent)?)
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
