//! Installing: a bundle is received and verified, and then written into the slot that does not run.
//!
//! The two are apart, so that another process than the user's does what takes long. [`receive`] fills a folder. [`apply`] verifies it once more,
//! begins the trial, and has systemd-sysupdate write system and kernel image. Whatever ends this process or the machine, the version that runs is
//! not touched. The new one starts only when its kernel image has its name, which comes last.

use std::io::Read;
use std::process::Command;

use horus::journal::{Priority, id};

use crate::bundle::{self, Bundle, Rules};
use crate::loader::KernelImage;
use crate::machine::Machine;
use crate::reports::Known;
use crate::trial::Trial;
use crate::{UpdateError, tell};

/// What writes a version into a slot, below the root.
const SYSUPDATE: &str = "usr/lib/systemd/systemd-sysupdate";
/// Where systemd-sysupdate finds the boot partition: the kernel's EFI variables, by which it would look, are not there under PREEMPT_RT.
const BOOT: (&str, &str) = ("SYSTEMD_ESP_PATH", "/boot");
/// What is kept free on the data partition, for the journal and for data of nodes.
const RESERVE: u64 = 32 << 20;

/// Receives a bundle: it is verified and on the disk when this returns. `told` hears how many bytes of its large files came so far.
///
/// # Errors
/// When it is not taken. What was received is removed then, and nothing else has changed.
pub fn receive(machine: &Machine, stream: impl Read, told: &mut dyn FnMut(u64)) -> Result<Bundle, UpdateError> {
    let _lock = machine.lock()?;
    let (board, running, keys) = (machine.board()?, machine.running()?, machine.keys()?);
    ensure_free(machine, &running)?;
    ensure_writer(machine)?;
    let folder = machine.clear_staged()?;
    let free = machine.free().map_err(|cause| UpdateError::Unkept { path: folder.clone(), cause })?;
    let rules = Rules { board: &board, running: &running, keys: &keys };
    let received = bundle::unpack(stream, &folder, &rules, free.saturating_sub(RESERVE), told);
    if received.is_err() {
        machine.remove_staged()?;
    }
    Ok(received?)
}

/// Installs what was received: it starts with the next restart, on trial.
///
/// # Errors
/// When it cannot be installed. The version that runs stays, and what was received is removed.
pub fn apply(machine: &Machine) -> Result<Bundle, UpdateError> {
    let _lock = machine.lock()?;
    let applied = try_apply(machine);
    machine.remove_staged()?;
    if let Err(error) = &applied {
        tell(id::UPDATE_INSTALLED, Priority::Error, "unknown", &format!("no update was installed: {error}"));
    }
    applied
}

fn try_apply(machine: &Machine) -> Result<Bundle, UpdateError> {
    let (board, running, keys) = (machine.board()?, machine.running()?, machine.keys()?);
    ensure_free(machine, &running)?;
    let rules = Rules { board: &board, running: &running, keys: &keys };
    let bundle = bundle::verify(&machine.staged(), &rules)?;
    let version = bundle.version.as_str();
    // The trial is there before the version can start. A hold was of another one.
    machine.hold(false)?;
    machine.trial().write(&Trial::new(&running, version, &Known::of(machine.root(), &running).tails))?;
    let written = write(machine, version).and_then(|()| starts(machine, version));
    if written.is_err() {
        // What may have its name already is not to start without a trial.
        let _ = machine.loader().give_up(version);
        machine.trial().remove()?;
    }
    written?;
    let text = format!(
        "version {version} is installed beside {running}, signed by {}: it starts with the next restart, on trial",
        bundle.signer
    );
    machine.set_last(&text)?;
    tell(id::UPDATE_INSTALLED, Priority::Info, version, &text);
    Ok(bundle)
}

/// Writes what is staged into the slot and onto the boot partition.
fn write(machine: &Machine, version: &str) -> Result<(), UpdateError> {
    // What is there by this name already, such as a version that was given up or a slot that was cut off, would be taken for the one to be written.
    sysupdate(machine, version, &["vacuum", "--instances-max=1"])?;
    sysupdate(machine, version, &["update", version])
}

/// Runs systemd-sysupdate, for the sake of a version.
fn sysupdate(machine: &Machine, version: &str, words: &[&str]) -> Result<(), UpdateError> {
    let program = machine.root().join(SYSUPDATE);
    let fail = |reason: String| UpdateError::NotWritten { version: version.to_owned(), reason };
    let output = Command::new(&program).arg("--verify=no").args(words).env(BOOT.0, BOOT.1).output();
    let output = output.map_err(|error| fail(format!("{}: {error}", program.display())))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let told: Vec<_> = said.lines().filter(|line| !line.starts_with("Imported ")).collect();
    eprintln!("{}", told.join("\n"));
    if output.status.success() {
        return Ok(());
    }
    let mut last: Vec<_> = said.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    last.reverse();
    Err(fail(horus::outside::printable(&last.join("; "))))
}

/// Whether the boot loader starts the version next: a program that says it wrote it may not have.
fn starts(machine: &Machine, version: &str) -> Result<(), UpdateError> {
    match machine.loader().images()?.into_iter().next() {
        Some(KernelImage { version: first, tries: Some(_) }) if first == version => Ok(()),
        first => Err(UpdateError::NotNext {
            version: version.to_owned(),
            first: first.map_or_else(|| "none".to_owned(), |image| image.version),
        }),
    }
}

/// Whether there is a program that can write what is received.
fn ensure_writer(machine: &Machine) -> Result<(), UpdateError> {
    let program = machine.root().join(SYSUPDATE);
    if program.exists() { Ok(()) } else { Err(UpdateError::NoWriter(program)) }
}

/// Whether the other slot is free: no version in it is on trial, or is what starts next in the place of the one that runs.
fn ensure_free(machine: &Machine, running: &str) -> Result<(), UpdateError> {
    if let Some(trial) = machine.trial().read()? {
        return Err(UpdateError::OnTrial(trial.new_version().to_owned()));
    }
    match machine.loader().images()?.into_iter().next() {
        Some(first) if first.version != running && !first.is_given_up() => {
            Err(UpdateError::RestartFirst(first.version))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
