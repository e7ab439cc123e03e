//! The start marker of a run: a small file that is written before anything is measured and removed when the report is kept. One
//! that is still there tells of a run that did not end, so that a boot that crashed is not missing from the account.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::identity::Identity;

/// Name and version of the format.
pub const SCHEMA: &str = "horus-run-started/1";

/// A run that began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The run.
    pub run_id: String,
    /// Its boot.
    pub boot_id: String,
    /// Its process, which lives as long as the run goes on.
    pub pid: u32,
    /// Of which system it would have spoken.
    pub identity: Identity,
    /// Whether the kernel was traced at its start.
    pub is_traced: Option<bool>,
}

impl Started {
    /// Whether the run may still go on: it is of the boot `boot_id`, which is now, and its process is there.
    pub fn goes_on(&self, boot_id: &str) -> bool {
        self.boot_id == boot_id && Path::new(&format!("/proc/{}", self.pid)).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_only_in_its_boot_and_while_its_process_is_there() {
        let own = Started { boot_id: "b0".to_owned(), pid: std::process::id(), ..Started::default() };
        assert!(own.goes_on("b0") && !own.goes_on("b1"));
        assert!(!Started { pid: u32::MAX, ..own }.goes_on("b0"));
    }
}
