//! Updates of the appliance: whether a version on trial stays, or the old one comes back.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`boot`] | what is known of one boot of a version on trial |
//! | [`gate`] | the rule: a version stays, is taken back, or is not decided yet, with the reason in one sentence |
//! | [`loader`] | the boot loader's kernel images: which version starts next, which is kept, and which is given up |
//! | [`trial`] | the trial's file: what was seen so far, kept over restarts and power cuts |
//!
//! `docs/update.md` has the rule for people, with how often it is wrong.
//!
//! # What it does not do
//! It installs nothing and starts no measurement. It does not look at the machine either: its caller says what failed, and why
//! what failed may not be the version's fault.
#![forbid(unsafe_code)]

pub mod boot;
pub mod gate;
pub mod loader;
pub mod trial;
