//! `horus node install|remove|start|stop`: nodes that users bring, on the appliance.
//!
//! A new version is checked, put in the place of the old one, started and watched. When it does not become ready, the old one comes back.
//!
//! Exit status: 0 it runs, 1 it does not and what was there before runs again, 2 nothing was changed.

pub mod idle;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::journal::{Entry, Priority, id};
use horus_shm::directory::Location;

use super::check;
use crate::installed::package::{Package, title};
use crate::installed::store::Store;
use crate::installed::{generator, package, store, systemd};
use crate::robot;

/// Nothing was changed.
const UNCHANGED: u8 = 2;

/// Command line of `horus node install`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder with node.toml and the program, or - for a tar archive of both on standard input
    source: PathBuf,
    /// Say what is wrong with what is installed in this folder, for its unit
    #[arg(long, hide = true)]
    explain: bool,
    #[command(flatten)]
    place: Place,
}

/// Where nodes are installed.
#[derive(clap::Args)]
pub struct Place {
    /// The machine's files are below this directory, and no unit is started
    #[arg(long, value_name = "DIR", hide = true)]
    root: Option<PathBuf>,
}

/// Command line of `horus node remove|start|stop`.
#[derive(clap::Args)]
pub struct Named {
    /// The node's name, which is that of its program
    name: String,
    #[command(flatten)]
    place: Place,
}

/// Command line of `horus node generate`, which is systemd's.
#[derive(clap::Args)]
pub struct Generate {
    /// Where units go
    directory: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// What is done to an installed node.
#[derive(Clone, Copy)]
pub enum Change {
    Remove,
    Start,
    Stop,
}

impl Place {
    fn store(&self) -> Store {
        Store::at(self.root())
    }

    fn root(&self) -> &Path {
        self.root.as_deref().unwrap_or(Path::new("/"))
    }

    /// Whether systemd runs what is installed there.
    fn is_live(&self) -> bool {
        self.root.is_none()
    }
}

/// Runs `horus node install`.
pub fn run(args: &Args, location: Result<Location, String>) -> ExitCode {
    if args.explain {
        return explain(&args.source);
    }
    let (store, is_live) = (args.place.store(), args.place.is_live());
    let received = store.lock().and_then(|lock| {
        settle_store(&store)?;
        let received = receive(args, &store, location);
        if received.is_err() {
            store.refuse_incoming()?;
        }
        Ok((lock, received?))
    });
    let (_lock, package) = match received {
        Ok(received) => received,
        Err(reason) => return failed(&reason, UNCHANGED),
    };
    match try_out(&store, &package, is_live) {
        Ok(()) => {
            say(&format!("{} {}", package.title(), if is_live { "is ready" } else { "is installed" }));
            ExitCode::SUCCESS
        }
        Err(reason) => failed(&reason, 1),
    }
}

/// Takes what is to be installed, and checks it as far as that goes before it runs.
fn receive(args: &Args, store: &Store, location: Result<Location, String>) -> Result<Package, String> {
    let place = store.incoming()?;
    let package = match args.source.as_os_str() == "-" {
        true => package::from_archive(std::io::stdin().lock(), &place)?,
        false => package::from_folder(&args.source, &place)?,
    };
    package::ensure_interpreter(&place.join(&package.name), args.place.root())?;
    if robot::has(args.place.root(), &package.name) {
        return Err(format!(
            "{name} is a program of the robot that is installed: give this one another name, or change it in robot.toml and deploy the robot",
            name = package.name
        ));
    }
    if args.place.is_live() {
        say(&check::admitted(&place.join(store::SETTINGS), location)?);
    }
    Ok(package)
}

/// Puts the new version on trial; when it fails, the old one comes back.
fn try_out(store: &Store, package: &Package, is_live: bool) -> Result<(), String> {
    let name = &package.name;
    let old = store.installation(name);
    store.start_trial(name)?;
    let outcome = if is_live { systemd::reload().and_then(|()| systemd::restart(name)) } else { Ok(()) };
    let Err(reason) = outcome else {
        store.confirm(name)?;
        tell(Priority::Info, name, format!("node {} is installed", package.title()));
        return Ok(());
    };
    let reason = format!("{} {reason}", package.title());
    let had_any = store.roll_back(name)?;
    let _ = systemd::stop(name); // it may be waiting for its next start
    systemd::reload()?;
    let after = match had_any {
        false => format!("{name} is not installed"),
        true => match systemd::restart(name) {
            Ok(()) => format!("{} runs again", title(name, old.as_ref())),
            Err(again) => format!("{} is back and {again}", title(name, old.as_ref())),
        },
    };
    tell(Priority::Error, name, format!("node {reason}; {after}"));
    Err(format!("{reason}\n{after}"))
}

/// Removes, starts or stops a node.
pub fn change(args: &Named, change: Change) -> ExitCode {
    ended(try_to(change, &args.name, &args.place))
}

fn try_to(change: Change, name: &str, place: &Place) -> Result<(), String> {
    let store = place.store();
    let _lock = store.lock()?;
    if robot::has(place.root(), name) {
        return Err(format!(
            "{name} is a program of the robot: `horus robot start` and `stop` are for it, and a group of its own"
        ));
    }
    if !store.names().iter().any(|installed| installed == name) {
        return Err(format!("no node {name} is installed; there are: {}", store.names().join(", ")));
    }
    match change {
        Change::Start => systemd::restart(name).map_err(|reason| format!("{name} {reason}")),
        Change::Stop => systemd::stop(name),
        Change::Remove => {
            if place.is_live() {
                systemd::stop(name)?;
            }
            store.remove(name)?;
            tell(Priority::Info, name, format!("node {name} is removed"));
            if place.is_live() { systemd::reload() } else { Ok(()) }
        }
    }
}

/// Runs `horus node generate`: nothing in it may fail the boot.
pub fn generate(args: &Generate) -> ExitCode {
    let nodes = generator::generate(&args.place.store(), &args.directory);
    ended(nodes.and(robot::generate(args.place.root(), &args.directory)))
}

/// Runs `horus node settle`: at boot, when `/var` is there. What was cut off is undone; then all nodes start.
pub fn settle(place: &Place) -> ExitCode {
    ended(settle_and_start(place))
}

fn settle_and_start(place: &Place) -> Result<(), String> {
    let store = place.store();
    let lock = store.lock()?;
    settle_store(&store)?;
    let robot = robot::settle(place.root.as_deref())?;
    drop(lock);
    let nodes = (!store.names().is_empty()).then_some(generator::TARGET);
    let targets: Vec<_> = nodes.into_iter().chain(robot).collect();
    if place.is_live() && !targets.is_empty() {
        systemd::reload()?;
        targets.into_iter().try_for_each(systemd::start_without_waiting)?;
    }
    Ok(())
}

/// Undoes what was cut off, and tells of it.
fn settle_store(store: &Store) -> Result<(), String> {
    for name in store.settle()? {
        let back = match store.installation(&name) {
            Some(installation) => format!("{} is back", title(&name, Some(&installation))),
            None => "it is not installed".to_owned(),
        };
        let text = format!("node {name} was being replaced when the machine or the installation was cut off; {back}");
        tell(Priority::Warning, &name, text);
    }
    Ok(())
}

/// What is wrong with an installed node; the process that its unit runs in its place.
fn explain(folder: &Path) -> ExitCode {
    let settings = folder.join(store::SETTINGS);
    let reason = match horus::app::Installation::read(&settings) {
        Err(error) => error.to_string(),
        Ok(installation) => format!(
            "{}: the line program = \"{}\" does not name the folder that it is in; install it with `horus node install`",
            settings.display(),
            installation.program.unwrap_or_default()
        ),
    };
    failed(&format!("this node does not start: {reason}"), 1)
}

fn tell(priority: Priority, name: &str, text: String) {
    Entry::new(id::NODE_INSTALLED, priority, text).field("HORUS_NODE", name).send_or_print();
}

/// The listener may be gone, with the connection that this came by; the work goes on.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn ended(result: Result<(), String>) -> ExitCode {
    result.map_or_else(|reason| failed(&reason, 1), |()| ExitCode::SUCCESS)
}

fn failed(reason: &str, status: u8) -> ExitCode {
    for line in reason.lines() {
        let _ = writeln!(std::io::stderr(), "{}", horus::outside::printable(line));
    }
    ExitCode::from(status)
}
