//! Updates of the appliance: a signed bundle is written into the second slot, tried, and stays or is taken back.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`bundle`] | the file that an update is, verified as it comes and once more before it is written |
//! | [`download`] | a bundle from a server, which goes on where its line was cut |
//! | [`key`] | the keys by which a machine takes updates |
//! | [`machine`] | the machine: its board, the version that runs, where things are, the lock |
//! | [`install`] | receives a bundle, and has systemd-sysupdate write it |
//! | [`check`] | one look at the trial, and what a user may do about it |
//! | [`reports`] | what the kept determinism reports say of a version |
//! | [`boot`] | what is known of one boot of a version on trial |
//! | [`gate`] | the rule: a version stays, is taken back, or is not decided yet, with the reason in one sentence |
//! | [`loader`] | the boot loader's kernel images: which version starts next, which is kept, and which is given up |
//! | [`trial`] | the trial's file: what was seen so far, kept over restarts and power cuts |
//!
//! `docs/update.md` has the rule for people, with how often it is wrong.
//!
//! # What it does not do
//! It writes no partition: systemd-sysupdate does, by the transfer files of `conf/base`. It restarts no machine: a robot may be in the middle of
//! something. It starts no measurement: each boot measures itself.
#![forbid(unsafe_code)]

use std::io;
use std::path::PathBuf;

use horus::journal::{Entry, Priority};
use thiserror::Error;

pub mod boot;
pub mod bundle;
pub mod check;
pub mod download;
pub mod gate;
pub mod install;
pub mod key;
pub mod loader;
pub mod machine;
pub mod reports;
pub mod trial;

#[cfg(test)]
mod testing;

/// Why nothing was done. What was there before stays.
#[derive(Debug, Error)]
pub enum UpdateError {
    /// The bundle is not taken.
    #[error(transparent)]
    Bundle(#[from] bundle::BundleError),
    /// No signature can be verified.
    #[error(transparent)]
    Key(#[from] key::KeyError),
    /// The boot partition.
    #[error(transparent)]
    Loader(#[from] loader::LoaderError),
    /// The trial's file.
    #[error(transparent)]
    Trial(#[from] trial::TrialError),
    /// Another process has the lock.
    #[error("another update is being installed or looked at: try again when it is done (`horus update status`)")]
    Busy,
    /// A version is on trial.
    #[error(
        "version {0} is on trial, and the slot of another one holds what comes back: `horus update confirm` or `horus update rollback` ends the trial first"
    )]
    OnTrial(String),
    /// Another version starts next, from the slot that would be written.
    #[error(
        "{0} starts with the next restart, and is in the slot that an update would take: restart first (`systemctl reboot`)"
    )]
    RestartFirst(String),
    /// What would start has no system: an installation was cut off that had begun to take its slot.
    #[error(
        "version {other}, which would start, has no system in a slot any more: version {version} stays. Install an update"
    )]
    NoSystem {
        /// The version that stays.
        version: String,
        /// The other one.
        other: String,
    },
    /// No version is.
    #[error("no version is on trial: there is nothing to confirm or to hold")]
    NoTrial,
    /// It has not run yet.
    #[error("version {0} has not been started yet: restart the machine, and confirm it when it runs")]
    NotStarted(String),
    /// The image does not say for which board it is.
    #[error(
        "{0} has no VARIANT_ID, by which an update is told from one for another board: this image takes no updates. Flash a newer one"
    )]
    NoBoard(PathBuf),
    /// Nothing says which version runs.
    #[error("neither the kernel's command line nor {0} says which version runs: is this a HORUS image?")]
    NoVersion(PathBuf),
    /// systemd-sysupdate is not there.
    #[error(
        "this image has no {0}, which writes updates: it takes none (docs/update.md says which images do). Flash a newer one"
    )]
    NoWriter(PathBuf),
    /// systemd-sysupdate failed.
    #[error("version {version} was not written: {reason}. `journalctl -u horus-update-install` has more")]
    NotWritten {
        /// The version.
        version: String,
        /// What it said last.
        reason: String,
    },
    /// It wrote something that does not start.
    #[error(
        "version {version} was written, and the boot loader would start {first} nevertheless: the one that runs stays. Install it again; `ls /boot/EFI/Linux` shows what is there"
    )]
    NotNext {
        /// The version.
        version: String,
        /// What is first.
        first: String,
    },
    /// A file of ours cannot be kept.
    #[error("cannot keep {path}: {cause}; `df -h /var` shows whether the disk is full")]
    Unkept {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Says in the journal what became of a version.
fn tell(message_id: &str, priority: Priority, version: &str, text: &str) {
    Entry::new(message_id, priority, text).field("HORUS_VERSION", version).send_or_print();
}
