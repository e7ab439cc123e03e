//! A program of a robot.toml on its way to a machine: built for it, or sent as it is.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use horus::app::Installation;
use horus::outside::Word;
use horus_launch::{Entry, Manifest};

use super::project::Project;
use super::tool::Tool;

/// The settings of a program of nodes, in its folder.
const SETTINGS: &str = "node.toml";

/// What is sent of a program.
pub struct Member {
    /// Its name in robot.toml.
    pub name: String,
    /// Its node.toml, if it has one.
    pub settings: Option<String>,
    /// What its file is called on the machine.
    pub file: String,
    /// Where that comes from.
    pub source: Source,
}

/// Where a program's file comes from.
pub enum Source {
    /// It is built.
    Built(Project),
    /// It is there.
    File(PathBuf),
}

impl Member {
    /// Finds out what `entry` is. Nothing is built yet.
    pub fn of(manifest: &Manifest, entry: &Entry) -> Result<Self, String> {
        let base = manifest.folder().map_err(|mistake| mistake.to_string())?;
        let (folder, name) = (base.join(&entry.run), entry.name.clone());
        if entry.run.is_empty() || !folder.is_dir() {
            let start = manifest.start(entry).map_err(|mistake| mistake.to_string())?;
            let path = start.script.unwrap_or(start.command);
            return Ok(Self { name, settings: None, file: word(&path)?, source: Source::File(path) });
        }
        let settings = folder.join(SETTINGS);
        if !settings.is_file() {
            // The sentence of who starts it here.
            return Err(manifest.start(entry).err().map_or_else(String::new, |mistake| mistake.to_string()));
        }
        if ["Cargo.toml", "CMakeLists.txt", "pyproject.toml"].iter().any(|file| folder.join(file).is_file()) {
            let project = Project::read(&folder)?;
            let (settings, file) = (Some(project.settings.clone()), project.name.clone());
            return Ok(Self { name, settings, file, source: Source::Built(project) });
        }
        let installation = Installation::read(&settings).map_err(|error| error.to_string())?;
        let program = installation
            .program
            .ok_or_else(|| format!("{} names no program: add the line program = \"NAME\"", settings.display()))?;
        let text = std::fs::read_to_string(&settings).map_err(|error| format!("{}: {error}", settings.display()))?;
        let path = folder.join(&program);
        if path.is_file() {
            return Ok(Self { name, settings: Some(text), file: word(&path)?, source: Source::File(path) });
        }
        if folder.join("main.py").is_file() {
            let version = "0".to_owned();
            let project =
                Project { name: program.clone(), version, settings: text.clone(), tool: Tool::Python, folder };
            return Ok(Self { name, settings: Some(text), file: program, source: Source::Built(project) });
        }
        // A project of no tool that builds for another machine says so itself.
        Project::read(&folder)
            .map(|_| unreachable!("it has no file of a tool"))
            .map_err(|reason| format!("{}: {reason}", folder.display()))
    }
}

/// A file's name, if it can be one on the machine.
fn word(path: &Path) -> Result<String, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.parse::<Word>().map(|_| name).map_err(|error| format!("{}: {error}", path.display()))
}

/// Refuses a program that was built for another processor than `machine`'s, as `uname -m` names it.
pub fn ensure_processor(path: &Path, machine: &str) -> Result<(), String> {
    let mut head = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if read.is_err() || !head.starts_with(b"\x7fELF") {
        return Ok(()); // a script, whatever its length
    }
    // Both processors have the least byte first: ELF's e_machine (elf.h).
    let built_for = match u16::from_le_bytes([head[18], head[19]]) {
        62 => "x86_64",
        183 => "aarch64",
        _ => "another processor",
    };
    match built_for == machine {
        true => Ok(()),
        false => Err(format!(
            "{} is built for {built_for}, and the machine is {machine}: let `run` name the folder of its project, which is built for the machine",
            path.display()
        )),
    }
}
