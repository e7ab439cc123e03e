//! `horus tune apply`: the snapshot first, then files, values of the running kernel, and other programs.

use super::boot::GRUB_DROP_IN;
use super::conf::{Conf, name_of};
use super::cpus::Split;
use super::plan::{Item, Plan};
use super::report::Report;
use super::snapshot::{Index, Role, Snapshot};
use super::{commands, revert};
use crate::kernel::CommandLine;
use crate::live;
use crate::root::{Root, Steps, Thing};
use crate::tree::Tree;

/// Applies the profile, or says what would change.
///
/// # Errors
/// When the snapshot cannot be taken: nothing was changed then.
pub fn apply(
    root: &Root,
    tree: &Tree,
    conf: &Conf,
    split: &Split,
    steps: &Steps,
    report: &Report,
    only_say: bool,
) -> Result<(), String> {
    let earlier = Index::load(root)?.map(|index| index.parameters).unwrap_or_default();
    let plan = Plan::of(root, tree, conf, split, &earlier);
    if only_say {
        plan.items.iter().for_each(|item| say_item(root, item, report));
        plan.values.iter().for_each(|wanted| say_value(root, &wanted.name, &wanted.path, &wanted.value, report));
        say_rest(tree, &plan, report);
        report.say("Nothing was changed (--dry-run).");
        return Ok(());
    }
    let mut snapshot = Snapshot::open(root, steps)?;
    let items = take(root, &plan, &mut snapshot, report)
        .map_err(|error| format!("the snapshot could not be taken: {error}; nothing was changed"))?;
    let stale = stale(&snapshot, &plan);
    for item in &items {
        write(root, item, &snapshot, steps, report);
    }
    for entry in stale {
        revert::entry(root, &entry, &snapshot, steps, report);
    }
    for wanted in &plan.values {
        write_value(root, &wanted.name, &wanted.path, &wanted.value, report);
        steps.reached();
    }
    say_rest(tree, &plan, report);
    commands::reload_units(root, report);
    commands::switch(root, "stop", &plan.stopped, report);
    if items.iter().any(|item| item.path == GRUB_DROP_IN) {
        commands::update_grub(root, report);
    }
    report.say("Kernel parameters and the settings that exist once a CPU need a restart. 'horus tune verify' then audits this machine.");
    Ok(())
}

/// Notes everything that will change, on the medium; the items that can be written.
fn take<'p>(root: &Root, plan: &'p Plan, snapshot: &mut Snapshot, report: &Report) -> std::io::Result<Vec<&'p Item>> {
    let mut items = Vec::new();
    for item in &plan.items {
        match root.read(&item.path) {
            Ok(now) => {
                snapshot.remember(&item.path, item.role, &now, &item.thing)?;
                items.push(item);
            }
            Err(error) => report.cannot(&item.path, error, "move it out of the way and apply again"),
        }
    }
    for wanted in &plan.values {
        if !snapshot.index.values.iter().any(|kept| kept.path == wanted.path)
            && let Ok(kept) = live::keep(root, &wanted.name, &wanted.path)
        {
            snapshot.index.values.push(kept);
        }
    }
    for unit in commands::running(root, &plan.stopped) {
        if !snapshot.index.stopped.contains(&unit) {
            snapshot.index.stopped.push(unit);
        }
    }
    snapshot.index.parameters.clone_from(&plan.parameters);
    snapshot.index.boot_id = root.text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
    snapshot.commit()?;
    Ok(items)
}

/// Paths of an earlier profile that this one does not have.
fn stale(snapshot: &Snapshot, plan: &Plan) -> Vec<super::snapshot::Entry> {
    let is_planned = |path: &str| plan.items.iter().any(|item| item.path == path);
    snapshot.index.entries.iter().filter(|entry| !is_planned(&entry.path)).cloned().collect()
}

/// Writes one item. What was changed since an earlier apply is kept beside it.
fn write(root: &Root, item: &Item, snapshot: &Snapshot, steps: &Steps, report: &Report) {
    let done = || -> std::io::Result<()> {
        let now = root.read(&item.path)?;
        if now == item.thing {
            report.same(&item.path, now.words());
            return root.clean_up(&item.path);
        }
        let entry = snapshot.index.entries.iter().find(|entry| entry.path == item.path).expect("it was remembered");
        let is_known = snapshot.is_ours(entry, &now)? || snapshot.before(entry)?.holds_same(&now);
        if !is_known && item.role == Role::Ours && now != Thing::Absent {
            let kept = root.keep_aside(&item.path, steps)?;
            report.say(&format!("{}: somebody changed it since the last apply; it is kept as {kept}", item.path));
        }
        for directory in root.missing_above(&item.path) {
            root.make_directory(&directory)?;
            steps.reached();
        }
        root.write(&item.path, &item.thing, steps)?;
        report.change(&item.path, now.words(), item.thing.words());
        Ok(())
    };
    if let Err(error) = done() {
        report.cannot(&item.path, error, "make room or make it writable, and apply again");
    }
}

fn write_value(root: &Root, name: &str, path: &str, value: &str, report: &Report) {
    let done = || -> std::io::Result<()> {
        let now = live::read(root, path)?;
        if live::says(&now, value) {
            report.same(name, now);
            return Ok(());
        }
        live::write(root, path, &format!("{value}\n"))?;
        match live::says(&live::read(root, path)?, value) {
            true => report.change(name, now, value),
            false => return Err(std::io::Error::other("the kernel took it and shows another")),
        }
        Ok(())
    };
    if let Err(error) = done() {
        report.cannot(name, error, "its file takes effect at the next start, if this kernel lets it be changed at all");
    }
}

fn say_item(root: &Root, item: &Item, report: &Report) {
    match root.read(&item.path) {
        Ok(now) if now == item.thing => report.same(&item.path, now.words()),
        Ok(now) => report.change(&item.path, now.words(), item.thing.words()),
        Err(error) => report.cannot(&item.path, error, "move it out of the way"),
    }
}

fn say_value(root: &Root, name: &str, path: &str, value: &str, report: &Report) {
    match live::read(root, path) {
        Ok(now) if live::says(&now, value) => report.same(name, now),
        Ok(now) => report.change(name, now, value),
        Err(error) => report.cannot(name, error, "run as root"),
    }
}

/// Kernel parameters, against those of the running kernel; what this machine does not have; what a person has to do.
fn say_rest(tree: &Tree, plan: &Plan, report: &Report) {
    let running = CommandLine::parse(&tree.text("/proc/cmdline").unwrap_or_default());
    for parameter in &plan.parameters {
        let name = name_of(parameter);
        let wanted = parameter.split_once('=').map(|(_, value)| value);
        match running.get(name) {
            Some(value) if value == wanted => report.same(name, wanted.unwrap_or("set")),
            value => {
                let old = value.map_or("not set", |value| value.unwrap_or("set"));
                report.change(name, old, format!("{} (at the next start)", wanted.unwrap_or("set")));
            }
        }
    }
    for (knob, reason) in &plan.absent {
        report.absent(knob, reason);
    }
    for (knob, reason, remedy) in &plan.impossible {
        report.cannot(knob, reason, remedy);
    }
}
