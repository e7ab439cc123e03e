//! One look at the trial: at a boot, after a determinism run, or when a user asks. Each step of it may be cut off and done again.

use horus::journal::{Priority, id};

use crate::boot::{Excuse, Fault, Kind};
use crate::gate::Standing;
use crate::loader::{KernelImage, TRIES};
use crate::machine::Machine;
use crate::reports::{self, Known};
use crate::trial::Trial;
use crate::{UpdateError, tell};

/// Where updates stand. Its text is what a user reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// No trial goes on.
    None,
    /// The version is installed and starts with the next restart.
    Waiting(String),
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
            Self::Waiting(version) | Self::Runs { version, .. } => Some(version),
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
    if !trial.begin(&machine.running()?, &machine.boot_id()) {
        return elsewhere(machine, &trial);
    }
    machine.loader().renew(&version)?;
    take_down(machine, &mut trial, failed);
    machine.trial().write(&trial)?;
    let (standing, is_held) = (trial.standing(), machine.is_held());
    let state = State::Runs { version: version.clone(), standing: standing.clone(), is_held };
    match standing {
        _ if is_held => {}
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
        return Ok(State::Waiting(version));
    }
    Ok(State::Runs { version, standing: trial.standing(), is_held: machine.is_held() })
}

/// A user ends the trial: the version stays.
///
/// # Errors
/// When no version is on trial and runs, or the boot partition does not take it.
pub fn confirm(machine: &Machine) -> Result<State, UpdateError> {
    let _lock = machine.lock()?;
    let trial = machine.trial().read()?.ok_or(UpdateError::NoTrial)?;
    let version = trial.new_version().to_owned();
    if machine.running()? != version {
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
    let version = match machine.trial().read()? {
        Some(trial) => trial.new_version().to_owned(),
        None => machine.running()?,
    };
    machine.loader().give_up(&version)?;
    let next =
        machine.loader().images()?.into_iter().next().map_or_else(|| "another one".to_owned(), |image| image.version);
    let text = match machine.running()? == next {
        true => format!("version {version} is taken back by a user: {next} runs on"),
        false => format!("version {version} is taken back by a user: {next} starts with the next restart"),
    };
    over(machine, id::UPDATE_BACK, Priority::Warning, &version, text)
}

/// The version on trial does not run.
fn elsewhere(machine: &Machine, trial: &Trial) -> Result<State, UpdateError> {
    let version = trial.new_version();
    let images = machine.loader().images()?;
    let text = match images.iter().find(|image| image.version == version) {
        None => format!("version {version} was not completely installed when the machine ended: install it again"),
        Some(image) if image.is_given_up() => format!("version {version} went: {}", why(image, &trial.standing())),
        Some(_) => return Ok(State::Waiting(version.to_owned())),
    };
    over(machine, id::UPDATE_BACK, Priority::Warning, version, text)
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
        let before = Known::of(machine.root(), trial.old_version()).failed;
        for (kind, name) in faults {
            let excuse = before.contains(&(kind, name.clone())).then_some(Excuse::AsBefore);
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
    machine.trial().remove()?;
    machine.hold(false)?;
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
