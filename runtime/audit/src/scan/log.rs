//! The kernel's own log of this boot.

use super::{listed, named};
use crate::facts::Facts;
use crate::tree::{Tree, Unread};
use crate::value::Found;

const LOG: &str = "/dev/kmsg";

/// Parameters of the command line that the kernel did not know and handed to init: a typing error shows here.
///
/// Names in `ignore` are meant for init or for the boot loader. The line is printed once, early: when the log no longer
/// holds the start of the boot, its absence means nothing.
pub fn unknown_parameters(tree: &Tree, _facts: &Facts, ignore: &[String]) -> Result<Found, Unread> {
    let log = tree.text(LOG)?;
    let line = log.lines().find_map(|line| line.split_once("Unknown kernel command line parameters \""));
    let unknown = match line {
        Some((_, rest)) => rest.split('"').next().unwrap_or_default(),
        None if log.contains(";Linux version ") => "",
        None => return Err(Unread(format!("{LOG} no longer holds the start of this boot"))),
    };
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
    let (known, odd): (Vec<_>, Vec<_>) =
        unknown.split_whitespace().partition(|parameter| listed(ignore, &name(parameter)));
    let note = (!known.is_empty()).then(|| format!("{} meant for init left out", known.len()));
    Ok(Found { note, ..Found::findings(odd.into_iter().map(named).collect()) })
}
