//! A version of the robot takes the place of another: checked, admitted as one, put on trial, and taken back as one.

use std::path::Path;

use horus::graph::Machine;
use horus::journal::{Entry as Told, Priority, id};
use horus_launch::{Asking, Manifest, Robot};

use super::store::{Candidate, FILE, Store};
use super::units::title;
use super::watch::Part;
use super::{Place, package, say, units};
use crate::installed::store::{Lock, Store as Nodes};
use crate::installed::systemd::{self, unit};
use crate::installed::user::{DESCRIPTION_LIMIT, user_of_nodes};

/// Why nothing was installed.
pub struct Failure {
    pub reason: String,
    /// Whether all is as it was; else the version before was started again.
    pub is_unchanged: bool,
}

impl Failure {
    fn unchanged(reason: String) -> Self {
        Self { reason, is_unchanged: true }
    }
}

/// Receives a version from standard input, and puts it in the place of the one that runs.
pub fn install(place: &Place) -> Result<(), Failure> {
    let store = place.store();
    let receive = || {
        let lock = lock(place, &store, Wanted::Running)?;
        let received = receive(place, &store);
        if received.is_err() {
            store.refuse_incoming()?;
        }
        Ok((lock, received?))
    };
    let (_lock, manifest) = receive().map_err(Failure::unchanged)?;
    try_out(place, &store, Candidate::Incoming, &manifest)
}

/// Puts the version before in the place of the one that runs.
pub fn go_back(place: &Place) -> Result<(), Failure> {
    let store = place.store();
    let find = || {
        let lock = lock(place, &store, Wanted::Running)?;
        let before = store.previous().ok_or("there is no version before the one that is installed")?;
        let manifest = package::check(&before, place.root())?;
        ensure_no_other(&manifest, place)?;
        admit(&before, place)?;
        Ok((lock, manifest))
    };
    let (_lock, manifest) = find().map_err(Failure::unchanged)?;
    try_out(place, &store, Candidate::Previous, &manifest)
}

/// Stops all programs, and removes all versions.
pub fn remove(place: &Place) -> Result<(), String> {
    let store = place.store();
    let _lock = lock(place, &store, Wanted::Stopped)?;
    let folder = store.current().ok_or_else(none)?;
    let manifest = units::read(&folder);
    if place.is_live() {
        stop(&manifest)?;
    }
    store.remove()?;
    let removed = manifest.as_ref().map_or_else(|_| "the robot".to_owned(), title);
    tell(Priority::Info, manifest.as_ref().ok(), format!("{removed} is removed"));
    if place.is_live() { systemd::reload() } else { Ok(()) }
}

/// Stops all programs of a version. Of one that cannot be read, each that runs is a part of the target.
fn stop(version: &Result<Manifest, String>) -> Result<(), String> {
    match version {
        Ok(manifest) => Part::whole(manifest).stop(),
        Err(_) => systemd::stop_target(units::TARGET),
    }
}

/// What a command wants of a robot that an installation which was cut off left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// That it runs again.
    Running,
    /// That it stands.
    Stopped,
}

/// At boot, and before a change: what was cut off goes back, which is told.
pub fn settle(place: &Place, store: &Store, wanted: Wanted) -> Result<(), String> {
    if !store.is_on_trial() {
        return store.tidy();
    }
    let read = || store.current().map(|folder| units::read(&folder));
    if place.is_live() && store.is_switched() {
        // Where the machine runs on, so do programs of the version that was on trial.
        let _ = read().as_ref().map(stop);
    }
    store.take_back()?;
    let manifest = read().and_then(Result::ok);
    let back =
        manifest.as_ref().map_or_else(|| "none is installed".to_owned(), |back| format!("{} is back", title(back)));
    let text = format!("the robot was being replaced when the machine or the installation was cut off; {back}");
    tell(Priority::Warning, manifest.as_ref(), text);
    if place.is_live() {
        systemd::reload()?;
        if manifest.is_some() && wanted == Wanted::Running {
            systemd::start_without_waiting(units::TARGET)?;
        }
    }
    store.forget_trial()?;
    store.refuse_incoming()
}

/// At boot: whether there is a robot to start. Of one that makes no sense, the journal says why.
pub fn is_startable(store: &Store) -> bool {
    match store.current().map(|folder| units::read(&folder)) {
        None => false,
        Some(Ok(_)) => true,
        Some(Err(reason)) => {
            tell(Priority::Error, None, format!("the robot does not start: {reason}"));
            false
        }
    }
}

/// Whether there is no robot.
pub fn none() -> String {
    "no robot is installed: `horus deploy robot.toml HOST` on a laptop brings one (docs/robot.md)".to_owned()
}

/// The lock, when what an installation left that was cut off has been put right.
pub fn lock(place: &Place, store: &Store, wanted: Wanted) -> Result<Lock, String> {
    // Nodes and the robot are installed one after the other: their programs are units of one kind.
    let lock = Nodes::at(place.root()).lock()?;
    settle(place, store, wanted)?;
    Ok(lock)
}

fn receive(place: &Place, store: &Store) -> Result<Manifest, String> {
    let folder = store.incoming()?;
    package::from_archive(std::io::stdin().lock(), &folder)?;
    let manifest = package::check(&folder, place.root())?;
    ensure_no_other(&manifest, place)?;
    admit(&folder, place)?;
    Ok(manifest)
}

/// Refuses a program that has the name of a node which is installed by itself.
fn ensure_no_other(manifest: &Manifest, place: &Place) -> Result<(), String> {
    let nodes = Nodes::at(place.root()).names();
    match manifest.entries.iter().find(|entry| nodes.contains(&entry.name)) {
        None => Ok(()),
        Some(entry) => Err(format!(
            "{name} is installed as a node by itself: remove that with `horus node remove {name}`, or give the program another name in robot.toml",
            name = entry.name
        )),
    }
}

/// Whether all programs together fit beside what runs and is not of the robot.
fn admit(folder: &Path, place: &Place) -> Result<(), String> {
    if !place.is_live() {
        return Ok(());
    }
    let robot = Robot::read(&folder.join(FILE), &[]).map_err(|mistake| mistake.to_string())?;
    let own = running(&place.store());
    let asking = Asking {
        user: user_of_nodes(),
        limit: DESCRIPTION_LIMIT,
        is_strict: true,
        leaves: &|process| is_of(process, &own),
        is_called_off: &|| false,
    };
    let verdict = robot.admit(&Machine::at(place.root()), &asking)?;
    verdict.sentence.iter().for_each(|sentence| say(sentence));
    verdict.notes.iter().for_each(|note| say(note));
    Ok(())
}

/// The units of the version that runs.
fn running(store: &Store) -> Vec<String> {
    let manifest = store.current().and_then(|folder| units::read(&folder).ok());
    manifest.iter().flat_map(|manifest| &manifest.entries).map(|entry| unit(&entry.name)).collect()
}

/// Whether a process is of one of these units.
fn is_of(process: u32, units: &[String]) -> bool {
    let groups = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    groups.lines().flat_map(|line| line.split('/')).any(|part| units.iter().any(|unit| unit == part))
}

/// Puts a version on trial; when a program of it does not become ready, the version before comes back.
fn try_out(place: &Place, store: &Store, candidate: Candidate, new: &Manifest) -> Result<(), Failure> {
    let old = store.current().map(|folder| units::read(&folder));
    // Before the old one stops: if this process is killed from now on, the next command or boot starts the old one again (`settle`).
    let number = store.begin_trial(candidate).map_err(|reason| {
        // A mark that could not be made to last, and what was received. What is left of them, the next command removes.
        let _ = store.forget_trial().and_then(|()| store.refuse_incoming());
        Failure::unchanged(reason)
    })?;
    if place.is_live()
        && let Some(old) = &old
        && let Err(reason) = stop(old)
    {
        // What of it has stopped starts again.
        let _ = match old {
            Ok(old) => Part::whole(old).start(&|_| ()),
            Err(_) => systemd::start_without_waiting(units::TARGET),
        };
        let _ = store.forget_trial(); // or the next command does
        let old = old.as_ref().map_or_else(|_| "the robot that is installed".to_owned(), title);
        return Err(Failure::unchanged(format!("{old} cannot be stopped: {reason}")));
    }
    let old = old.and_then(Result::ok);
    let changed = |reason: String| Failure { reason, is_unchanged: false };
    let switched = store.switch(number);
    let outcome = match (switched, place.is_live()) {
        (Err(reason), _) => Err(reason),
        (Ok(()), false) => Ok(()),
        (Ok(()), true) => systemd::reload().and_then(|()| Part::whole(new).start(&|text| say(text))),
    };
    let Err(reason) = outcome else {
        store.confirm().map_err(changed)?;
        let what = if place.is_live() { "is ready" } else { "is installed" };
        say(&format!("{} {what}: {}", title(new), programs(new)));
        tell(Priority::Info, Some(new), format!("{} is installed: {}", title(new), programs(new)));
        return Ok(());
    };
    if place.is_live() {
        let _ = Part::whole(new).stop(); // one of them may be waiting for its next start
    }
    let had_any = store.take_back().map_err(changed)?;
    let after = match (&old, had_any) {
        (Some(old), true) => back(place, old).map_err(changed)?,
        (None, true) => {
            if place.is_live() {
                systemd::reload().map_err(changed)?;
            }
            "the version before is back, and cannot be read: `horus robot list` says why".to_owned()
        }
        _ if place.is_live() => systemd::reload().map(|()| "no robot is installed".to_owned()).map_err(changed)?,
        _ => "no robot is installed".to_owned(),
    };
    // Last: if this process is killed before, the next command starts what comes back.
    store.forget_trial().map_err(changed)?;
    let reason = format!("{}: {reason}", title(new));
    tell(Priority::Error, Some(new), format!("{reason}; {after}"));
    Err(changed(format!("{reason}\n{after}")))
}

/// Starts what comes back.
fn back(place: &Place, old: &Manifest) -> Result<String, String> {
    if !place.is_live() {
        return Ok(format!("{} is back", title(old)));
    }
    systemd::reload()?;
    Ok(match Part::whole(old).start(&|_| ()) {
        Ok(()) => format!("{} runs again", title(old)),
        Err(again) => format!("{} is back, and {again}", title(old)),
    })
}

fn programs(manifest: &Manifest) -> String {
    let count = manifest.entries.len();
    format!("{count} program{}", if count == 1 { "" } else { "s" })
}

fn tell(priority: Priority, manifest: Option<&Manifest>, text: String) {
    let version = manifest.and_then(|manifest| manifest.version.as_deref()).unwrap_or("unknown");
    Told::new(id::ROBOT_INSTALLED, priority, text).field("HORUS_VERSION", version).send_or_print();
}
