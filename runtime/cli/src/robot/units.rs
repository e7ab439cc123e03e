//! The units of a robot, which the generator makes: a service a program, a target a group, and one target for all of it.
//!
//! A program is `horus-node@NAME.service` as any installed node is, from the same template. A drop-in says what `robot.toml` says.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use horus::app::Installation;
use horus_launch::{Entry, Manifest, Ready, Restart, Start};
use horus_shm::directory::{NAMESPACE_VARIABLE, RENAME_VARIABLE};

use super::store::{FILE, Store};
use crate::installed::generator::{is_late, line, restart, rights};
use crate::installed::systemd::unit;

/// All programs of the robot.
pub const TARGET: &str = "horus-robot.target";

/// The target of a group.
pub fn target(group: &str) -> String {
    format!("horus-robot@{group}.target")
}

/// What the robot of a machine is, if it makes sense.
pub fn read(folder: &Path) -> Result<Manifest, String> {
    let manifest = Manifest::read(&folder.join(FILE)).map_err(|mistake| mistake.to_string())?;
    manifest.fits_units().map_err(|mistake| mistake.to_string())?;
    Ok(manifest)
}

/// Writes the units of what is installed into `directory`. Of a robot that makes no sense there are none; the boot tells why.
pub fn generate(store: &Store, directory: &Path) -> Result<(), String> {
    let Some(folder) = store.current() else { return Ok(()) };
    let Ok(manifest) = read(&folder) else { return Ok(()) };
    let mut files = vec![(PathBuf::from(format!("{TARGET}.d/50-robot.conf")), whole(&manifest))];
    for (group, members) in &manifest.groups {
        files.push((PathBuf::from(target(group)), of_a_group(&manifest, group, members)));
    }
    for entry in &manifest.entries {
        let Ok(start) = manifest.start(entry) else { continue };
        files
            .push((PathBuf::from(format!("{}.d/50-robot.conf", unit(&entry.name))), service(&manifest, entry, &start)));
    }
    for (file, text) in files {
        let place = directory.join(file);
        let made = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, text));
        made.map_err(|error| format!("{}: {error}", place.display()))?;
    }
    Ok(())
}

/// The robot's name and version, for people.
pub fn title(manifest: &Manifest) -> String {
    manifest.version.as_ref().map_or_else(|| "robot".to_owned(), |version| format!("robot {version}"))
}

fn whole(manifest: &Manifest) -> String {
    let mut text = "# Generated from robot.toml.\n[Unit]\n".to_owned();
    line(&mut text, "Description", format_args!("HORUS {}", title(manifest)));
    manifest.entries.iter().for_each(|entry| line(&mut text, "Wants", unit(&entry.name)));
    text
}

fn of_a_group(manifest: &Manifest, group: &str, members: &[usize]) -> String {
    let mut text = "# Generated from robot.toml.\n[Unit]\n".to_owned();
    line(&mut text, "Description", format_args!("HORUS {}, group {group}", title(manifest)));
    // With those before them, in one step of systemd: it keeps the order of what it starts together.
    for place in manifest.with_those_before(members) {
        line(&mut text, "Wants", unit(&manifest.entries[place].name));
    }
    text
}

fn service(manifest: &Manifest, entry: &Entry, start: &Start) -> String {
    let installation = start.settings.as_deref().map(Installation::read).and_then(Result::ok);
    let mut text = "# Generated from robot.toml.\n[Unit]\n".to_owned();
    line(&mut text, "Description", format_args!("HORUS {}, program {}", title(manifest), entry.name));
    line(&mut text, "PartOf", TARGET);
    let place = manifest.entries.iter().position(|known| known.name == entry.name);
    for (group, members) in &manifest.groups {
        if place.is_some_and(|place| members.contains(&place)) {
            line(&mut text, "PartOf", target(group));
        }
    }
    // Not Requires=: that would stop this program whenever the other one starts anew. Not Wants=: when its rule starts
    // this program anew, that would start what a person stopped. Those before it through others have a line, too: one of
    // these may have ended, and the order of stops is to stay.
    for place in manifest.with_those_before(&entry.after) {
        line(&mut text, "After", unit(&manifest.entries[place].name));
    }
    if installation.as_ref().is_some_and(is_late) {
        text += "# Drivers and network come later in a boot than a node that needs neither.\nAfter=basic.target\n";
    }
    text += "[Service]\n";
    line(&mut text, "Type", if entry.ready == Ready::Notify { "notify" } else { "exec" });
    text += "# A script says by another process that it is ready.\nNotifyAccess=all\n";
    text += &format!("ExecStart=\nExecStart={}\n", command(entry, start));
    text += &format!("WorkingDirectory={}\n", escaped(&program(start).parent().unwrap_or(Path::new("/")).display()));
    text += "Environment=\n";
    environment(entry, start).iter().for_each(|pair| text += &format!("Environment={}\n", quoted(pair)));
    if let Some(time) = entry.ready_within {
        line(&mut text, "TimeoutStartSec", format_args!("{}ms", time.as_millis().max(1)));
    }
    if installation.is_none() || entry.ready == Ready::Start {
        text += "# Only programs of nodes feed a watchdog.\nWatchdogSec=0\n";
    }
    let rule = match (entry.restart, &installation) {
        (Some(Restart::No), _) => "no",
        (Some(Restart::OnFailure), _) => "on-failure",
        (Some(Restart::Always), _) => "always",
        (None, Some(installation)) => restart(installation.restart),
        (None, None) => "on-failure",
    };
    line(&mut text, "Restart", rule);
    if !entry.is_optional {
        text += "# Who comes after it waits until it is ready, also when it fails at first.\nRestartMode=direct\n";
    }
    if let Some(installation) = &installation {
        rights(&mut text, installation);
    }
    text
}

/// The file that runs, whatever runs it.
fn program(start: &Start) -> &Path {
    start.script.as_ref().unwrap_or(&start.command)
}

fn command(entry: &Entry, start: &Start) -> String {
    // The file itself is no word in quotation marks: `start` begins with a slash, and the store's paths have words alone.
    let mut words = vec![escaped(&start.command.display())];
    words.extend(start.script.iter().map(|script| escaped(&script.display())));
    // A dollar would begin a variable.
    words.extend(entry.args.iter().map(|argument| quoted(argument).replace('$', "$$")));
    words.join(" ")
}

fn environment(entry: &Entry, start: &Start) -> Vec<String> {
    let mut pairs: Vec<_> = entry.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.extend(start.settings.iter().map(|settings| format!("HORUS_NODE_FILE={}", settings.display())));
    pairs.extend(entry.namespace.iter().map(|namespace| format!("{NAMESPACE_VARIABLE}={namespace}")));
    if !entry.rename.is_empty() {
        let renamed: Vec<_> = entry.rename.iter().map(|(from, to)| format!("{from}={to}")).collect();
        pairs.push(format!("{RENAME_VARIABLE}={}", renamed.join(",")));
    }
    // A program that prints is heard at once.
    if start.script.is_some() && !entry.env.contains_key("PYTHONUNBUFFERED") {
        pairs.push("PYTHONUNBUFFERED=1".to_owned());
    }
    pairs
}

/// A text as one word of a unit, as systemd.syntax(7) reads it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// A text of which systemd expands nothing.
fn escaped(text: &impl Display) -> String {
    text.to_string().replace('%', "%%")
}
