//! The tuning of the image on another Linux, from the same files of `conf/`, and back exactly.
//!
//! In reading order: `conf` (what the files want) -> `cpus` (which CPUs) -> `boot` (where the kernel command line stands) -> `plan`
//! (what becomes of it on this machine) -> `snapshot` (what was there before) -> `apply`, `verify`, `revert`. Beside them: `commands` (other
//! programs), `report` (a line a knob). Below them: [`crate::root`] (files) and `live` (values of the running kernel).
//!
//! No value of the profile stands in this code: a change in `conf/` is a change of what it applies.

mod apply;
mod boot;
mod commands;
mod conf;
mod cpus;
mod plan;
mod report;
mod revert;
mod snapshot;
mod verify;

use std::path::Path;

use conf::Conf;
pub use cpus::Choice;
pub use report::Report;

use crate::outcome::Outcome;
use crate::root::{Root, Steps};
use crate::tree::Tree;

/// Brings the machine of `root` to the profile in `conf`, or only says what would change. Without `conf` it is that of this machine.
///
/// # Errors
/// Why nothing was done.
pub fn apply(
    root: &Root,
    conf: Option<&Path>,
    chosen: &Choice,
    steps: &Steps,
    report: &Report,
    only_say: bool,
) -> Result<(), String> {
    may_change(root, only_say)?;
    let tree = Tree::open(root.top()).map_err(|unread| unread.0)?;
    let conf = Conf::read(&conf::directory(conf)?, cpus::board(&tree, chosen))?;
    let split = cpus::split(&tree, &conf, chosen)?;
    apply::apply(root, &tree, &conf, &split, steps, report, only_say)
}

/// Audits the machine of `root` by the rules of the profile, and says which findings only wait for a restart: outcome and text.
///
/// # Errors
/// When there is no profile, or the snapshot cannot be read.
pub fn verify(root: &Root, conf: Option<&Path>, colour: bool) -> Result<(Outcome, String), String> {
    verify::verify(root, &conf::directory(conf)?, colour)
}

/// Restores everything that [`apply`] changed from its snapshot.
///
/// # Errors
/// Why nothing was done.
pub fn revert(root: &Root, steps: &Steps, report: &Report) -> Result<(), String> {
    may_change(root, false)?;
    revert::revert(root, steps, report)
}

/// Whether `root` is a machine that may be changed by whom we are.
fn may_change(root: &Root, only_looks: bool) -> Result<(), String> {
    if is_appliance(root) {
        return Err(
            "this is the HORUS image, which is tuned already and read-only; 'horus doctor' audits it".to_owned()
        );
    }
    if root.is_live() && !only_looks && !rustix::process::geteuid().is_root() {
        return Err("this changes settings of the whole machine: run it as root, with sudo".to_owned());
    }
    Ok(())
}

/// Our image says `IMAGE_ID=horus`, whichever recipe made it.
fn is_appliance(root: &Root) -> bool {
    let release = ["/etc/os-release", "/usr/lib/os-release"].iter().find_map(|path| root.text(path));
    release.is_some_and(|text| text.lines().any(|line| line.replace('"', "") == "IMAGE_ID=horus"))
}
