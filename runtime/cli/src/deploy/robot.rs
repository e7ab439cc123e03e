//! `horus deploy robot.toml HOST`: all programs of a robot, as one version.
//!
//! What every program is, is known before one of them is built; all are built before one of them is sent.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::outside::printable;
use horus_launch::{Entry, Manifest};

use super::member::{Member, Source, ensure_processor};
use super::project::Project;
use super::remote::{Remote, text};
use super::{Args, build, follow};

/// Deploys the robot of `file` to `host`.
pub fn deploy(args: &Args, file: &Path, host: &str) -> Result<ExitCode, String> {
    let manifest = Manifest::read(file).map_err(|mistake| mistake.to_string())?;
    manifest.fits_units().map_err(|mistake| mistake.to_string())?;
    let (manifest, members) = those_that_can(&manifest, |entry, _| Member::of(&manifest, entry))?;
    let remote = Remote::new(host, &args.ssh)?;
    let machine = remote.machine()?;
    let (manifest, members) = those_that_can(&manifest, |_, place| {
        let member = &members[place];
        match &member.source {
            Source::Built(_) => Ok(member),
            Source::File(path) => ensure_processor(path, &machine).map(|()| member),
        }
    })?;
    let mut built = Vec::new();
    let (mut manifest, sent) = those_that_can(&manifest, |_, place| {
        let member = members[place];
        program(args, member, &machine, &mut built).map(|program| (member, program))
    })?;
    manifest.version.get_or_insert_with(version);
    for (entry, (member, _)) in manifest.entries.iter_mut().zip(&sent) {
        entry.run = match member.settings {
            Some(_) => format!("programs/{}", entry.name),
            None => format!("programs/{}/{}", entry.name, member.file),
        };
    }
    let status = remote.send("horus robot install -", &file.display().to_string(), |archive| {
        text(archive, "robot.toml", &manifest.to_toml())?;
        for (member, program) in &sent {
            let folder = format!("programs/{}", member.name);
            if let Some(settings) = &member.settings {
                text(archive, &format!("{folder}/node.toml"), settings)?;
            }
            archive.append_file(format!("{folder}/{}", member.file), &mut File::open(program)?)?;
        }
        Ok(())
    })?;
    let names: Vec<_> = manifest.entries.iter().map(|entry| entry.name.as_str()).collect();
    follow(args, &remote, status, &names)
}

/// The file of a program, which is built unless it is there; `built` is what was built before.
fn program<'a>(
    args: &Args,
    member: &'a Member,
    machine: &str,
    built: &mut Vec<(&'a Project, PathBuf)>,
) -> Result<PathBuf, String> {
    let project = match &member.source {
        Source::File(path) => {
            println!("{} is sent as it is", member.name);
            return Ok(path.clone());
        }
        Source::Built(project) => project,
    };
    let is_same = |other: &Project| (&other.folder, &other.name) == (&project.folder, &project.name);
    if let Some((_, path)) = built.iter().find(|(other, _)| is_same(other)) {
        return Ok(path.clone());
    }
    let path = build(args, project, machine)?;
    if built.iter().any(|(_, other)| *other == path) {
        let shown = path.display();
        return Err(format!(
            "another program was built as {shown}, too: unset CARGO_TARGET_DIR, or rename one of both"
        ));
    }
    built.push((project, path.clone()));
    Ok(path)
}

/// The entries for which `make` gives something, with that. What is optional is left out with a word; of all others every reason is told at once,
/// so that a person can mend them together.
fn those_that_can<T>(
    manifest: &Manifest,
    mut make: impl FnMut(&Entry, usize) -> Result<T, String>,
) -> Result<(Manifest, Vec<T>), String> {
    let (mut places, mut made, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for (place, entry) in manifest.entries.iter().enumerate() {
        match make(entry, place) {
            Ok(one) => {
                places.push(place);
                made.push(one);
            }
            Err(reason) if entry.is_optional => println!("{} is left out: {}", entry.name, printable(&reason)),
            Err(reason) => reasons.push(format!("{}: {reason}", entry.name)),
        }
    }
    match reasons.is_empty() {
        true if places.is_empty() => Err("no program is left to be deployed".to_owned()),
        true => Ok((manifest.only(&places), made)),
        false => Err(reasons.join("\n") + "\nnothing was sent"),
    }
}

/// The moment, for a file that says no version: `20261128T093000Z`.
fn version() -> String {
    horus::time::utc_now().replace(['-', ':'], "")
}
