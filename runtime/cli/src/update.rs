//! `horus update`: a new version of the system, tried before it stays.
//!
//! Exit status: 0 it was done, 1 something failed on the way, 2 nothing was changed.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command as Program, ExitCode, Stdio};

use horus::outside::printable;
use horus_audit::boot::UPDATE;
use horus_evidence::measure::machine::units;
use horus_update::bundle::Bundle;
use horus_update::check::{self, State};
use horus_update::download::{Download, is_url};
use horus_update::machine::Machine;
use horus_update::{UpdateError, install};
use serde_json::json;

use crate::deploy::remote::{Elsewhere, NO_CONNECTION, Remote};
use crate::output;

/// Nothing was changed.
const UNCHANGED: u8 = 2;
/// The unit that writes what was received: with the least weight, and on its own when the user's connection breaks.
const UNIT: &str = "horus-update-install.service";
/// What stands for standard input.
const STANDARD: &str = "-";
/// Progress is told for each so many bytes of an update.
const PART: u64 = 20_000_000;

/// Command line of `horus update`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    elsewhere: Elsewhere,
    /// The machine's files are below this directory, and no unit is started
    #[arg(long, value_name = "DIR", hide = true, global = true)]
    root: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Install an update beside the version that runs; it starts with the next restart, on trial
    Install {
        /// The update, as scripts/update-bundle makes it: a file, http://… or https://…, or - for standard input
        source: String,
        /// Restart the machine when it is installed
        #[arg(long)]
        restart: bool,
    },
    /// Say in one sentence where updates stand, and why
    Status {
        /// Write it as JSON
        #[arg(long)]
        json: bool,
    },
    /// End the trial: the version that runs stays
    Confirm,
    /// Take back the version on trial, or the one that runs; the other one starts with the next restart
    Rollback,
    /// Decide nothing until told otherwise, such as while the machine is moved or repaired
    Hold {
        /// Let the trial go on
        #[arg(long)]
        off: bool,
    },
    /// Write what was received into the slot that does not run; its unit runs this.
    #[command(hide = true)]
    Apply,
    /// Look at the trial; its unit runs this at boot and after a determinism run.
    #[command(hide = true)]
    Check,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    if let Some(remote) = args.elsewhere.remote() {
        return remote.and_then(|remote| elsewhere(args, &remote)).unwrap_or_else(|reason| failed(&reason, UNCHANGED));
    }
    let machine = Machine::at(args.root.as_deref().unwrap_or(Path::new("/")));
    match &args.command {
        Command::Install { source, restart } => {
            let is_live = args.root.is_none();
            match receive(&machine, source) {
                Ok(bundle) => installed(&machine, &bundle, is_live, *restart),
                Err(reason) => failed(&reason, UNCHANGED),
            }
        }
        Command::Status { json } => shown(status(&machine, *json)),
        Command::Confirm => ended(&machine, check::confirm(&machine)),
        Command::Rollback => ended(&machine, check::rollback(&machine)),
        Command::Hold { off } => match hold(&machine, !off) {
            Err(error) => failed(&error.to_string(), UNCHANGED),
            told => shown(told),
        },
        Command::Apply => match install::apply(&machine) {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => failed(&error.to_string(), 1),
        },
        Command::Check => match look(&machine) {
            // The journal has it.
            Ok(_) => {
                tell(&machine);
                ExitCode::SUCCESS
            }
            // The process that has the lock looks, or is looked after.
            Err(UpdateError::Busy) => ExitCode::SUCCESS,
            Err(error) => failed(&error.to_string(), 1),
        },
    }
}

/// The same on another machine.
fn elsewhere(args: &Args, remote: &Remote) -> Result<ExitCode, String> {
    let words: Vec<&str> = match &args.command {
        Command::Install { source, restart } => {
            let mut words = vec!["horus", "update", "install", "-"];
            words.extend(restart.then_some("--restart"));
            return send(remote, &words, source);
        }
        Command::Status { json } => ["horus", "update", "status"].into_iter().chain(json.then_some("--json")).collect(),
        Command::Confirm => vec!["horus", "update", "confirm"],
        Command::Rollback => vec!["horus", "update", "rollback"],
        Command::Hold { off } => ["horus", "update", "hold"].into_iter().chain(off.then_some("--off")).collect(),
        Command::Apply | Command::Check => return Err("its unit runs this, on the machine itself".to_owned()),
    };
    remote.exit_status(remote.run(&words.join(" "))?)
}

/// Sends an update to another machine; one from a server comes by way of this machine, which may have the better line.
fn send(remote: &Remote, words: &[&str], source: &str) -> Result<ExitCode, String> {
    let mut command = remote.command(words);
    let ended = match source {
        url if is_url(url) => {
            let mut download = Download::open(url, say)?;
            let mut child = started(command.stdin(Stdio::piped()).spawn())?;
            let mut pipe = child.stdin.take().ok_or("ssh has no standard input")?;
            // A machine that refuses it reads no further, and says why.
            let passed = io::copy(&mut download, &mut pipe);
            drop(pipe);
            match passed {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    eprintln!("horus update: {}", printable(&format!("{url}: {error}")));
                }
                _ => {}
            }
            child.wait()
        }
        STANDARD => command.stdin(Stdio::inherit()).status(),
        file => command.stdin(open(file)?).status(),
    };
    match started(ended)? {
        // What had arrived as a whole is being written.
        status if status.code() == Some(NO_CONNECTION) => {
            let host = remote.name();
            let told = format!(
                "no connection to {host}, or it broke off: `horus update status --host {host}` says what became of it"
            );
            Ok(failed(&told, 1))
        }
        status => remote.exit_status(status),
    }
}

fn started<T>(ended: io::Result<T>) -> Result<T, String> {
    ended.map_err(|error| format!("cannot start ssh: {error}"))
}

fn open(file: &str) -> Result<File, String> {
    File::open(file).map_err(|error| format!("cannot read {file}: {error}"))
}

/// Receives an update, and says how far it is.
fn receive(machine: &Machine, source: &str) -> Result<Bundle, String> {
    let source: Box<dyn Read> = match source {
        STANDARD => Box::new(io::stdin().lock()),
        url if is_url(url) => Box::new(Download::open(url, say)?),
        file => Box::new(open(file)?),
    };
    let mut said = 0;
    let mut told = |bytes: u64| {
        if bytes / PART > said {
            said = bytes / PART;
            say(&format!("received {} MB", bytes / 1_000_000));
        }
    };
    install::receive(machine, source, &mut told).map_err(|error| error.to_string())
}

/// Has what was received written.
fn installed(machine: &Machine, bundle: &Bundle, is_live: bool, restart: bool) -> ExitCode {
    say(&format!(
        "version {} is signed by {}; writing it into the slot that does not run",
        bundle.version, bundle.signer
    ));
    let written =
        if is_live { start(UNIT) } else { install::apply(machine).map(drop).map_err(|error| error.to_string()) };
    if let Err(reason) = written {
        return failed(&reason, 1);
    }
    tell(machine);
    let last = machine.last().unwrap_or_default();
    say(&last);
    if !restart {
        say("restart it when the robot may stand still: `systemctl reboot`");
        return ExitCode::SUCCESS;
    }
    match systemctl(&["--no-block", "reboot"]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => failed(&reason, 1),
    }
}

/// Starts a unit and waits for its end.
fn start(unit: &str) -> Result<(), String> {
    let told = format!("{unit} failed: `journalctl -u {unit} -n 20` says why; the version that runs stays");
    systemctl(&["start", unit]).map_err(|_| told)
}

fn systemctl(words: &[&str]) -> Result<(), String> {
    match Program::new("systemctl").args(words).stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("systemctl {} failed ({status})", words.join(" "))),
        Err(error) => Err(format!("cannot start systemctl: {error}")),
    }
}

/// Looks at the trial, with what failed on this machine.
fn look(machine: &Machine) -> Result<State, UpdateError> {
    // Without a trial nothing is asked of systemd.
    if machine.trial().read()?.is_none() {
        return Ok(State::None);
    }
    let failed: Vec<_> = match units::failed() {
        Ok(failed) => failed.into_iter().map(|unit| unit.unit).collect(),
        Err(reason) => {
            say(&format!("nothing is decided now, because it is not known which units failed: {reason}"));
            return check::state(machine);
        }
    };
    check::check(machine, &failed)
}

fn status(machine: &Machine, is_json: bool) -> Result<String, UpdateError> {
    let (running, state, last) = (machine.running()?, check::state(machine)?, machine.last());
    if is_json {
        let known: Vec<_> = machine.loader().images()?.iter().map(|image| image.name()).collect();
        let state = json!({"running": running, "state": state.to_string(), "on_trial": state.on_trial(), "last": last, "kernel_images": known});
        return Ok(format!("{state:#}\n"));
    }
    let last = last.filter(|_| state == State::None).map(|last| format!("; the last one: {last}")).unwrap_or_default();
    Ok(format!("version {running} runs; {state}{last}\n"))
}

fn hold(machine: &Machine, is_held: bool) -> Result<String, UpdateError> {
    let _lock = machine.lock()?;
    if machine.trial().read()?.is_none() {
        return Err(UpdateError::NoTrial);
    }
    machine.hold(is_held)?;
    let state = check::state(machine)?;
    Ok(format!("{state}\n"))
}

/// A step was done, or nothing was changed.
fn ended(machine: &Machine, state: Result<State, UpdateError>) -> ExitCode {
    match state {
        Ok(state) => {
            tell(machine);
            say(&state.to_string());
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error.to_string(), UNCHANGED),
    }
}

/// Leaves for greeting and `horus doctor` how the update stands; what is not written is said by `horus update status`.
fn tell(machine: &Machine) {
    let path = machine.root().join(UPDATE.trim_start_matches('/'));
    let _ = match check::state(machine) {
        Ok(State::None) => std::fs::write(&path, machine.last().map(|last| last + "\n").unwrap_or_default()),
        Ok(state) => std::fs::write(&path, format!("{state}\n")),
        Err(error) => std::fs::write(&path, format!("{error}\n")),
    };
}

fn shown(text: Result<String, UpdateError>) -> ExitCode {
    text.map_or_else(|error| failed(&error.to_string(), 1), |text| output::print("horus update", &text))
}

fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{}", printable(text));
}

fn failed(reason: &str, status: u8) -> ExitCode {
    eprintln!("horus update: {}", printable(reason));
    ExitCode::from(status)
}
