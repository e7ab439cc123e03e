//! One look at the trial: at a boot, after a determinism run, or when a user asks. Each step of it may be cut off and done again.

use horus::journal::{Priority, id};

use crate::boot::{Excuse, Fault, Kind};
use crate::gate::Standing;
use crate::loader::{KernelImage, TRIES};
use crate::machine::Machine;
use crate::reports::{self, Known};
use crate::trial::{Trial, TrialError};
use crate::{UpdateError, tell};

/// Where updates stand. Its text is what a user reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// No trial goes on.
    None,
    /// The version is installed and starts with the next restart.
    Waiting(String),
    /// The version is being written, or that was cut off.
    Unfinished(String),
    /// The version runs on trial.
    Runs {
        /// Its version.
        version: String,
        /// What the gate says.
        standing: Standing,
        /// Whether a user holds it.
        is_held: bool,
    },
    /// The trial is over.
    Over(String),
}

impl State {
    /// The version that is on trial.
    pub fn on_trial(&self) -> Option<&str> {
        match self {
            Self::Waiting(version) | Self::Unfinished(version) | Self::Runs { version, .. } => Some(version),
            Self::None | Self::Over(_) => None,
        }
    }
}

/// Looks at the trial: takes down what this boot has to tell, and does what the gate says. `failed` are the units that systemd lists as failed.
///
/// # Errors
/// When something cannot be read or kept. Then nothing is decided.
pub fn check(machine: &Machine, failed: &[String]) -> Result<State, UpdateError> {
    let _lock = machine.lock()?;
    let Some(mut trial) = machine.trial().read()? else { return Ok(State::None) };
    let version = trial.new_version().to_owned();
    if machine.is_held() && machine.running()? == version {
        // What is seen meanwhile is not of the trial.
        machine.loader().renew(&version)?;
        return state(machine);
    }
    if !trial.begin(&machine.running()?, &machine.boot_id()) {
        return elsewhere(machine, &trial);
    }
    machine.loader().renew(&version)?;
    take_down(machine, &mut trial, failed);
    machine.trial().write(&trial)?;
    let standing = trial.standing();
    let state = State::Runs { version: version.clone(), standing: standing.clone(), is_held: false };
    match standing {
        Standing::Good { .. } => {
            machine.loader().keep(&version)?;
            return over(
                machine,
                id::UPDATE_KEPT,
                Priority::Info,
                &version,
                format!("version {version} stays: {standing}"),
            );
        }
        Standing::Back { .. } => {
            machine.loader().give_up(&version)?;
            let text =
                format!("version {version} goes, and {} starts with the next restart: {standing}", trial.old_version());
            return over(machine, id::UPDATE_BACK, Priority::Warning, &version, text);
        }
        Standing::Hold { .. } => tell(id::UPDATE_HELD, Priority::Warning, &version, &state.to_string()),
        Standing::OnTrial { .. } => tell(id::UPDATE_TRIAL, Priority::Info, &version, &state.to_string()),
    }
    Ok(state)
}

/// Where updates stand, without a change to anything.
///
/// # Errors
/// When something cannot be read.
pub fn state(machine: &Machine) -> Result<State, UpdateError> {
    let Some(trial) = machine.trial().read()? else { return Ok(State::None) };
    let version = trial.new_version().to_owned();
    if machine.running()? != version {
        // The trial is written down before the kernel image is.
        let is_there = machine.loader().images()?.iter().any(|image| image.version == version && !image.is_given_up());
        return Ok(if is_there { State::Waiting(version) } else { State::Unfinished(version) });
    }
    Ok(State::Runs { version, standing: trial.standing(), is_held: machine.is_held() })
}

/// A user ends the trial: the version stays.
///
/// # Errors
/// When no version is on trial and runs, or the boot partition does not take it.
pub fn confirm(machine: &Machine) -> Result<State, UpdateError> {
    let _lock = machine.lock()?;
    let running = machine.running()?;
    let version = match known(machine)? {
        Some(trial) => trial.new_version().to_owned(),
        // A version whose trial was lost is counted by the boot loader nevertheless.
        None => {
            let is_counted = |image: &KernelImage| image.version == running && image.tries.is_some();
            machine.loader().images()?.iter().any(is_counted).then_some(running.clone()).ok_or(UpdateError::NoTrial)?
        }
    };
    if running != version {
        return Err(UpdateError::NotStarted(version));
    }
    machine.loader().keep(&version)?;
    over(
        machine,
        id::UPDATE_KEPT,
        Priority::Info,
        &version,
        format!("version {version} stays: a user has confirmed it"),
    )
}

/// A user takes a version back: the one on trial, else the one that runs. The other one starts with the next restart.
///
/// # Errors
/// When there is no other one, or the boot partition does not take it.
pub fn rollback(machine: &Machine) -> Result<State, UpdateError> {
    let _lock = machine.lock()?;
    let trial = known(machine)?;
    let version = match &trial {
        Some(trial) => trial.new_version().to_owned(),
        None => machine.running()?,
    };
    let images = machine.loader().images()?;
    if trial.is_some() && !images.iter().any(|image| image.version == version) {
        return over(machine, id::UPDATE_BACK, Priority::Warning, &version, unfinished(&version));
    }
    let other = images.into_iter().find(|image| image.version != version && !image.is_given_up());
    // Where there is none, `give_up` says so.
    let other = other.map(|image| image.version).unwrap_or_default();
    if !other.is_empty() && !machine.has_system(&other) {
        return Err(UpdateError::NoSystem { version, other });
    }
    machine.loader().give_up(&version)?;
    let when = if machine.running()? == other { "runs on" } else { "starts with the next restart" };
    let text = format!("version {version} is taken back by a user: {other} {when}");
    over(machine, id::UPDATE_BACK, Priority::Warning, &version, text)
}

/// The version on trial does not run.
fn elsewhere(machine: &Machine, trial: &Trial) -> Result<State, UpdateError> {
    let version = trial.new_version();
    let images = machine.loader().images()?;
    let text = match images.iter().find(|image| image.version == version) {
        None => unfinished(version),
        Some(image) if image.is_given_up() => format!("version {version} went: {}", why(image, &trial.standing())),
        Some(_) => return Ok(State::Waiting(version.to_owned())),
    };
    over(machine, id::UPDATE_BACK, Priority::Warning, version, text)
}

fn unfinished(version: &str) -> String {
    format!("version {version} was not completely installed when that was cut off: install it again")
}

/// The trial, for a user who decides: of one whose file is damaged, nothing is known.
fn known(machine: &Machine) -> Result<Option<Trial>, UpdateError> {
    match machine.trial().read() {
        Err(TrialError::Damaged { .. }) => Ok(None),
        read => Ok(read?),
    }
}

/// Why a version was given up before the machine could say so.
fn why(image: &KernelImage, standing: &Standing) -> String {
    match standing {
        Standing::Back { .. } => standing.to_string(),
        _ if image.is_rejected() => "a user has taken it back".to_owned(),
        _ => {
            format!("the boot loader started it {TRIES} times in a row, and it never reached its programs")
        }
    }
}

/// What this boot has to tell.
fn take_down(machine: &Machine, trial: &mut Trial, failed: &[String]) {
    let report = reports::of_boot(machine.root(), &machine.boot_id());
    let mut faults: Vec<(Kind, String)> = failed.iter().map(|unit| reports::of_unit(unit)).collect();
    faults.extend(report.iter().flat_map(reports::failures));
    if !faults.is_empty() {
        let before = Known::of(machine.root(), trial.old_version());
        for (kind, name) in faults {
            let has_failed = before.failed.contains(&(kind, name.clone()));
            // A rule that the old version has never passed says nothing of the new one.
            let is_as_before = has_failed || kind == Kind::Rule && !before.passed.contains(&name);
            let excuse = is_as_before.then_some(Excuse::AsBefore);
            trial.fault(Fault { kind, name, excuse });
        }
    }
    if let Some(report) = report {
        trial.report(reports::outcome(&report));
    }
}

/// The trial ends. What the boot loader does was changed before: a machine that ends here ends the trial in its next boot.
fn over(
    machine: &Machine,
    message_id: &str,
    priority: Priority,
    version: &str,
    text: String,
) -> Result<State, UpdateError> {
    machine.set_last(&text)?;
    machine.hold(false)?;
    machine.trial().remove()?;
    tell(message_id, priority, version, &text);
    Ok(State::Over(text))
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("no update is on trial"),
            Self::Waiting(version) => {
                write!(f, "version {version} is installed and starts with the next restart, on trial")
            }
            Self::Unfinished(version) => {
                write!(
                    f,
                    "version {version} is being written, or that was cut off: `horus update rollback` forgets it then"
                )
            }
            Self::Runs { version, standing, is_held: false } => write!(f, "version {version} is {standing}"),
            Self::Runs { version, standing, is_held: true } => {
                write!(f, "version {version} is held by a user, so nothing is decided; it is {standing}")
            }
            Self::Over(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
