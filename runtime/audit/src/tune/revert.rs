//! `horus tune revert`: everything as the snapshot says it was, and the snapshot last.
//!
//! What was changed since is not lost. A file of the profile is renamed and named before the original comes back. A boot
//! loader's file, which kernel packages change too, keeps those changes: only our parameters are taken out.

use std::io;

use super::boot::{self, GRUB_DROP_IN};
use super::commands;
use super::report::Report;
use super::snapshot::{self, Entry, Role, Snapshot};
use crate::live::{self, KeptValue};
use crate::root::{Bytes, Root, Steps, Thing};

/// Restores the machine.
///
/// # Errors
/// When the snapshot cannot be read: nothing was changed then.
pub fn revert(root: &Root, steps: &Steps, report: &Report) -> Result<(), String> {
    let snapshot = Snapshot::open(root, steps)?;
    let stayed =
        |error| format!("{}: {error}; nothing is applied any more, remove this directory", snapshot::DIRECTORY);
    if !snapshot.is_stored() {
        snapshot.remove().map_err(stayed)?; // with what an apply left that was killed before it changed anything
        report.say("Nothing is applied: nothing to restore.");
        return Ok(());
    }
    for one in snapshot.index.entries.iter().rev() {
        entry(root, one, &snapshot, steps, report);
    }
    new_command_lines(root, &snapshot, steps, report);
    for kept in &snapshot.index.values {
        value(root, kept, report);
        steps.reached();
    }
    for directory in snapshot.index.directories.iter().rev() {
        // One that holds something of others by now stays.
        let _ = root.place(directory).and_then(std::fs::remove_dir);
        steps.reached();
    }
    commands::reload_units(root, report);
    commands::switch(root, "start", &snapshot.index.stopped, report);
    if snapshot.index.entries.iter().any(|entry| entry.path == GRUB_DROP_IN) {
        commands::update_grub(root, report);
    }
    if report.failures() > 0 {
        report.say("Not everything could be restored: the snapshot stays. Follow the remedies above and revert again.");
        return Ok(());
    }
    snapshot.remove().map_err(stayed)?;
    report.say("Everything is restored. Kernel parameters and settings that exist once a CPU leave with a restart.");
    Ok(())
}

/// Restores one path.
pub fn entry(root: &Root, entry: &Entry, snapshot: &Snapshot, steps: &Steps, report: &Report) {
    let path = &entry.path;
    let done = || -> io::Result<()> {
        root.clean_up(path)?;
        let (now, before) = (root.read(path)?, snapshot.before(entry)?);
        if now == before {
            return Ok(());
        }
        let is_known = now.holds_same(&before) || snapshot.is_ours(entry, &now)?;
        match (entry.role, &now) {
            (Role::Boot, Thing::Absent) => {
                report.say(&format!("{path}: somebody removed it since apply; it stays away"));
                return Ok(());
            }
            (Role::Boot, Thing::File(file)) if !is_known => {
                without_ours(root, path, file, &snapshot.index.parameters, steps)?;
                report.say(&format!("{path}: somebody changed it since apply; only our parameters were taken out"));
                return Ok(());
            }
            (Role::Ours, now) if !is_known && *now != Thing::Absent => {
                let kept = root.keep_aside(path, steps)?;
                report.say(&format!("{path}: somebody changed it since apply; it is kept as {kept}"));
            }
            _ => {}
        }
        root.write(path, &before, steps)?;
        report.change(path, now.words(), before.words());
        Ok(())
    };
    if let Err(error) = done() {
        report.cannot(path, error, "make it writable, or move it out of the way");
    }
}

/// Boot entries of kernels that were installed after apply, which took our parameters over.
fn new_command_lines(root: &Root, snapshot: &Snapshot, steps: &Steps, report: &Report) {
    let is_known = |path: &str| snapshot.index.entries.iter().any(|entry| entry.path == path);
    for path in boot::files(root).iter().filter(|path| !is_known(path)) {
        let Ok(Thing::File(file)) = root.read(path) else { continue };
        let text = String::from_utf8_lossy(&file.bytes);
        if !snapshot.index.parameters.iter().all(|word| text.split_whitespace().any(|other| other == word)) {
            continue;
        }
        match without_ours(root, path, &file, &snapshot.index.parameters, steps) {
            Ok(()) => report.say(&format!("{path}: made since apply; our parameters were taken out")),
            Err(error) => report.cannot(path, error, "take our parameters out by hand"),
        }
    }
}

fn without_ours(root: &Root, path: &str, file: &Bytes, ours: &[String], steps: &Steps) -> io::Result<()> {
    let text = boot::edited(path, &String::from_utf8_lossy(&file.bytes), ours, &[]);
    if text.as_bytes() == file.bytes {
        return Ok(());
    }
    root.write(path, &Thing::File(Bytes { bytes: text.into_bytes(), ..file.clone() }), steps)
}

fn value(root: &Root, kept: &KeptValue, report: &Report) {
    let now = live::read(root, &kept.path).unwrap_or_default();
    match live::restore(root, kept) {
        Ok(()) if now == kept.before => {}
        Ok(()) => report.change(&kept.name, now, &kept.before),
        Err(error) => {
            report.cannot(&kept.name, error, &format!("write '{}' to {}, or restart", kept.before.trim(), kept.path))
        }
    }
}
