//! What a machine is set to: rules that prove each setting, what puts a failing rule right, and the same tuning for another Linux.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`run`], [`Auditor`] | rules from files, facts from a `/proc` and `/sys` tree, one verdict a rule: start here |
//! | [`boot`] | what the boot of an appliance left to tell |
//! | [`text`], [`journal`] | an outcome for people, and as entries of the journal |
//! | [`fix`] | writes what a failing rule wants into the running kernel, and reads the rule again |
//! | [`drift`] | which rule changed between two looks, and what the journal knows of it |
//! | [`tune`] | a Linux that is not our image brought to the profile of `conf/`, and back |
//! | [`supply`] | what a system is made of, who answers for it, and until when |
//! | [`root`] | files below a directory that stands for `/`: each is the old one or the new one |
//!
//! A rule is data (`conf/rt/audit/*.toml`), so that a knob and its proof change in one commit and no program has to be rebuilt. Its path:
//! `load` (file to [`Rule`]) -> `read` (where the value comes from) -> `scan` (the few values that need more than a file) -> `check`
//! (is it as expected) -> [`Outcome`].
//!
//! # What it does not do
//! - It measures nothing. What a machine makes of its settings is the business of the crate `horus-evidence`, which stands above it.
//! - It passes no rule whose value cannot be read: that one is NA, with a sentence that names the file.
//! - It reads nothing but the tree that it is given, so that a recorded tree gives the same answer on any machine.
//! - It changes a machine in [`fix`] and [`tune`] alone. No value of the profile stands in its code.
//! - It prints nothing and reads no command line: that is the command's.
#![forbid(unsafe_code)]

mod auditor;
pub mod boot;
mod check;
pub mod drift;
mod facts;
pub mod fix;
pub mod journal;
mod kernel;
mod live;
mod load;
mod outcome;
mod pattern;
mod read;
mod remedy;
pub mod root;
mod rule;
mod scan;
pub mod supply;
mod task;
pub mod text;
mod tree;
pub mod tune;
mod value;

pub use auditor::{Auditor, run};
pub use load::{Rules, load};
pub use outcome::{Machine, NOT_AUDITED, Outcome, RuleResult, Severity, Status};
pub use rule::Rule;
pub use tree::{Tree, Unread};
