//! What is received: the programs of a robot and its `robot.toml`, in a tar archive on standard input.
//!
//! ```text
//! robot.toml                        what `run` names is in the archive
//! programs/nav/node.toml            of a project
//! programs/nav/nav                  its program
//! programs/lights/lights.sh         a program as it is
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use horus::app::Installation;
use horus::outside::Word;
use horus_launch::{Entry, MOST_PROGRAMS, Manifest};

use super::store::{FILE, PROGRAMS};
use crate::installed::package::{MAX_PROGRAM_BYTES, MAX_SETTINGS_BYTES, ensure_interpreter, write};
use crate::installed::store::{SETTINGS, context};

/// The most bytes of all files together.
const MAX_BYTES: u64 = 1 << 30;
/// What runs a file of Python that is no program of its own.
const PYTHON: &str = "usr/bin/python3";

/// Takes the files out of the archive that `source` carries, into the empty folder `place`. An archive that breaks off is refused.
pub fn from_archive(source: impl Read, place: &Path) -> Result<(), String> {
    let cut_off = |error: io::Error| format!("the archive cannot be read: {error}. Nothing was changed; send it again");
    let mut archive = tar::Archive::new(source);
    let (mut seen, mut bytes) = (BTreeSet::new(), 0_u64);
    for entry in archive.entries().map_err(cut_off)? {
        let entry = entry.map_err(cut_off)?;
        let path = entry.path().map_err(cut_off)?.into_owned();
        let target = belongs(&path).ok_or_else(|| {
            format!(
                "{} does not belong into an archive of a robot: it holds {FILE}, and {PROGRAMS}/NAME with a program each",
                path.display()
            )
        })?;
        if !entry.header().entry_type().is_file() {
            return Err(format!("{} is no file: an archive of a robot holds files alone", path.display()));
        }
        if !seen.insert(target.clone()) {
            return Err(format!("{} is in the archive twice", path.display()));
        }
        if seen.len() > 2 * MOST_PROGRAMS + 1 {
            return Err(format!("the archive has more files than {MOST_PROGRAMS} programs have"));
        }
        bytes = bytes.saturating_add(entry.size());
        if bytes > MAX_BYTES {
            return Err(format!("the archive has more than {MAX_BYTES} bytes, which is the most that is taken"));
        }
        let is_text = target.ends_with(SETTINGS) || target.as_os_str() == FILE;
        let (limit, mode) = if is_text { (MAX_SETTINGS_BYTES, 0o644) } else { (MAX_PROGRAM_BYTES, 0o755) };
        let folder = place.join(target.parent().unwrap_or(Path::new("")));
        fs::create_dir_all(&folder).map_err(context("make", &folder))?;
        let size = entry.size();
        write(entry, size, limit, &place.join(&target), mode)?;
    }
    match seen.contains(Path::new(FILE)) {
        true => Ok(()),
        false => Err(format!("the archive has no {FILE}. Nothing was changed; send it again")),
    }
}

/// Where a file of an archive goes, if it has a place: by its names alone, so that no path leads out.
fn belongs(path: &Path) -> Option<PathBuf> {
    let parts = path.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let is_word = |name: &str| name.parse::<Word>().is_ok();
    match parts[..] {
        [file] if file == FILE => Some(PathBuf::from(file)),
        [programs, name, file] if programs == PROGRAMS && is_word(name) && is_word(file) => {
            Some(Path::new(PROGRAMS).join(name).join(file))
        }
        _ => None,
    }
}

/// Reads the version in folder `place`, and checks it against what the machine below `root` has.
pub fn check(place: &Path, root: &Path) -> Result<Manifest, String> {
    let manifest = Manifest::read(&place.join(FILE)).map_err(|mistake| mistake.to_string())?;
    manifest.fits_units().map_err(|mistake| mistake.to_string())?;
    for entry in &manifest.entries {
        let program = program(place, entry).map_err(|reason| format!("{}: {reason}", entry.name))?;
        if entry.is_optional {
            continue; // without its interpreter it does not become ready, and the others run without it
        }
        ensure_interpreter(&program, root).map_err(|reason| format!("{}: {reason}", entry.name))?;
        let is_python = program.extension().is_some_and(|extension| extension == "py");
        if is_python && root.join(PYTHON).symlink_metadata().is_err() {
            return Err(format!(
                "{} is written in Python, and this image has no /{PYTHON}: build the image with the option `python`. Nothing was changed",
                entry.name
            ));
        }
    }
    let names = fs::read_dir(place.join(PROGRAMS)).into_iter().flatten().flatten().map(|folder| folder.file_name());
    match names.into_iter().find(|name| !manifest.entries.iter().any(|entry| *name == *entry.name)) {
        Some(name) => Err(format!("{FILE} has no program {}, and a folder of it is there", name.display())),
        None => Ok(manifest),
    }
}

/// The file of a program, which is the only one in its folder but for its settings.
fn program(place: &Path, entry: &Entry) -> Result<PathBuf, String> {
    let own = Path::new(PROGRAMS).join(&entry.name);
    let folder = place.join(&own);
    let mut files: Vec<_> =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.file_name()).collect();
    files.retain(|file| file != SETTINGS);
    let [file] = &files[..] else {
        return Err("the archive ends before its program. Nothing was changed; send it again".to_owned());
    };
    let settings = folder.join(SETTINGS);
    let run = match settings.is_file() {
        false => own.join(file),
        true => {
            let installation = Installation::read(&settings).map_err(|error| error.to_string())?;
            let named = installation.program.unwrap_or_default();
            if *file != *named {
                return Err(format!("its node.toml names the program '{named}', and {} was sent", file.display()));
            }
            own
        }
    };
    match Path::new(&entry.run) == run {
        true => Ok(folder.join(file)),
        false => Err(format!("`run` leads to '{}', and its program is {}", entry.run, run.display())),
    }
}
