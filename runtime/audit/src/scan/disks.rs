//! Disks that do not belong to this system.

use super::named;
use crate::boot::{DATA, OTHER_DISKS};
use crate::facts::Facts;
use crate::tree::{Tree, Unread};
use crate::value::Found;

/// Partitions of other disks that carry our labels.
///
/// The boot writes the list only if there are any. That it looked at all is told by the state of the data partition, which
/// the same unit writes: without it, no list means nothing.
pub fn others(tree: &Tree, _facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    if !tree.text(DATA)?.lines().any(|line| line.starts_with("state=")) {
        return Err(Unread(format!("{DATA} holds no state: the boot has not looked at the disks")));
    }
    let Ok(list) = tree.text(OTHER_DISKS) else { return Ok(Found::findings(Vec::new())) };
    let partitions = list.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(Found::findings(partitions.map(named).collect()))
}
