//! What a machine was measured to do: the determinism run, its reports, what kept runs say together, and missed deadlines by culprit.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`config`] | what a run is told, by files |
//! | [`run`] | the order of a run: audit, self-test, phases, report |
//! | [`measure`] | the experiment: what runs on which CPU for how long, and the meters; what the machine is |
//! | [`record`] | the report: figures, whether it counts, the verdict, where it is kept, what kept ones say together |
//! | [`report`] | which report is shown, and two sets of them compared |
//! | [`watch`] | what the watch found in one boot |
//! | [`view`] | screen, journal, page, and the formats of other programs |
//! | [`blame`] | missed deadlines of the journal, joined to episodes by culprit |
//! | [`lock`], [`child`] | one run at a time; other programs, each with a limit |
//!
//! `docs/measuring.md` defines every figure.
//!
//! # What it does not do
//! - It judges no run whose conditions were not sound: such a report is stored, says why, and has no verdict.
//! - It states no quantile that the samples do not carry, and removes no outlier: both are the rules of `horus-measure`.
//! - It sets nothing on the machine but the policy and the CPUs of its own threads. Settings are the crate `horus-audit`'s business.
//! - It reads no command line. A run starts two helpers, its load and its echo, by subcommands of the program that it runs in:
//!   `determinism-load` and `determinism-echo`, which call [`measure::load::become_load`] and [`measure::echo::run`].
#![forbid(unsafe_code)]

pub mod blame;
pub mod child;
pub mod config;
mod jitter;
pub mod lock;
pub mod measure;
pub mod record;
pub mod report;
pub mod run;
pub mod view;
pub mod watch;
