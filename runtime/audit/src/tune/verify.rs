//! `horus tune verify`: the audit by the rules of the profile, and which of its findings only wait for a restart.

use std::collections::BTreeMap;
use std::path::Path;

use super::conf::{RULES, name_of};
use super::snapshot::{Index, Snapshot};
use crate::auditor::run;
use crate::boot::Boot;
use crate::kernel::CommandLine;
use crate::load::load;
use crate::outcome::{Outcome, Status};
use crate::root::{Root, Steps, Thing};
use crate::text::table;

/// Audits `root` by the rules of the profile in `conf`: the outcome, and all of it as text.
///
/// # Errors
/// When the snapshot cannot be read.
pub fn verify(root: &Root, conf: &Path, colour: bool) -> Result<(Outcome, String), String> {
    let rules = conf.join(RULES);
    let outcome = run(root.top(), &rules);
    let mut text = table(&outcome, &Boot::read(root.top()), false, colour);
    text += "\n";
    text += &match Index::load(root)? {
        None => "The profile is not applied: 'horus tune apply' does it.\n".to_owned(),
        Some(index) => applied(root, &index, &outcome, &rules)?,
    };
    Ok((outcome, text))
}

/// What the snapshot adds to the audit.
fn applied(root: &Root, index: &Index, outcome: &Outcome, rules: &Path) -> Result<String, String> {
    let mut text = String::new();
    for path in changed(root, index)? {
        text += &format!("{path}: somebody changed or removed it since apply; 'horus tune apply' writes it again\n");
    }
    let pending = pending(root, index);
    let loaded = load(rules);
    let knobs: BTreeMap<&str, &[String]> =
        loaded.rules.iter().map(|rule| (rule.id.as_str(), rule.proves.as_slice())).collect();
    let waits = |id: &str| {
        let of_start = |knob: &String| {
            pending.as_ref().is_some_and(|pending| pending.contains(knob) || knob.starts_with("service:"))
        };
        knobs.get(id).is_some_and(|knobs| knobs.iter().any(of_start))
    };
    let failed = outcome.rules.iter().filter(|rule| rule.status == Status::Fail);
    let waiting: Vec<&str> = failed.map(|rule| rule.id.as_str()).filter(|id| waits(id)).collect();
    text += &match (&pending, waiting.as_slice()) {
        (None, _) => "The profile is applied, and this kernel was started with all of its parameters.\n".to_owned(),
        (Some(missing), waiting) if is_same_boot(root, index) => format!(
            "The profile is applied. {} kernel parameters wait for a restart, and so do these rules: {}.\n",
            missing.len(),
            if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") }
        ),
        (Some(missing), _) => format!(
            "The profile is applied, and the machine was restarted, but its kernel was started without {}. Does the boot loader read \
             what 'horus tune apply' changed?\n",
            missing.join(", ").replace("cmdline:", "")
        ),
    };
    Ok(text)
}

/// The parameters that the running kernel does not have, as `cmdline:NAME`; none where it has all.
fn pending(root: &Root, index: &Index) -> Option<Vec<String>> {
    let running = CommandLine::parse(&root.text("/proc/cmdline").unwrap_or_default());
    let is_missing = |parameter: &&String| {
        let wanted = parameter.split_once('=').map(|(_, value)| value);
        running.get(name_of(parameter)) != Some(wanted)
    };
    let missing: Vec<String> =
        index.parameters.iter().filter(is_missing).map(|word| format!("cmdline:{}", name_of(word))).collect();
    (!missing.is_empty()).then_some(missing)
}

fn is_same_boot(root: &Root, index: &Index) -> bool {
    root.text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim() == index.boot_id
}

/// The paths that hold neither what apply wrote nor anything of ours.
fn changed(root: &Root, index: &Index) -> Result<Vec<String>, String> {
    if root.is_live() && !rustix::process::geteuid().is_root() {
        return Ok(Vec::new()); // the originals are readable by root alone
    }
    let steps = Steps::new(None);
    let snapshot = Snapshot::open(root, &steps)?;
    let is_changed = |path: &str| {
        let entry = index.entries.iter().find(|entry| entry.path == path).expect("it is one of them");
        let now = root.read(path).unwrap_or(Thing::Absent);
        !snapshot.is_ours(entry, &now).unwrap_or(false)
    };
    Ok(index.entries.iter().map(|entry| entry.path.clone()).filter(|path| is_changed(path)).collect())
}
