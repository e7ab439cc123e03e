//! The boot's part: reads `horus.toml` of the boot partition and writes what follows from it below /run. Whatever goes wrong is told, to the
//! journal, to the console and to the user that asks later; the machine goes on with what it has.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus_audit::boot::SETTINGS;

use super::boot_partition::BootPartition;
use super::file::{Settings, load};
use super::outputs::{PATHS, outputs};
use super::{NAME, file};

/// Where the boot partition is while it is read.
const PLACE: &str = "run/horus/boot";

/// What an editor of another system makes of the file's name where it hides what stands behind the dot.
const MISNAMED: &str = "horus.toml.txt";

/// Runs it for a machine, or for a directory that stands for one.
pub fn run(root: &Path) -> ExitCode {
    let mut told = Told { root: root.to_owned(), lines: Vec::new() };
    match find_and_read(root, &mut told) {
        Ok(settings) => apply(root, &settings.unwrap_or_default(), &mut told),
        Err(reason) => told.warn(&format!("{NAME} of the boot partition is not used: {reason}")),
    }
    told.keep();
    ExitCode::SUCCESS
}

/// The settings of the boot partition; nothing where it has none.
fn find_and_read(root: &Path, told: &mut Told) -> Result<Option<Settings>, String> {
    let place = root.join(PLACE);
    let mounted = if root == Path::new("/") { Some(BootPartition::mount(&place)?) } else { None };
    let directory = mounted.as_ref().map_or(place.as_path(), BootPartition::path);
    let path = directory.join(NAME);
    if !path.exists() {
        if directory.join(MISNAMED).exists() {
            told.warn(&format!("the boot partition has a file {MISNAMED}, which is not read: call it {NAME}"));
        }
        return Ok(None);
    }
    let (settings, problems) = load(&path)?;
    for file::Problem { line, message } in &problems {
        told.warn(&format!("{NAME}:{line}: {message}"));
    }
    Ok(Some(settings))
}

fn apply(root: &Path, settings: &Settings, told: &mut Told) {
    let outputs = outputs(settings);
    // What an earlier run left of a section that is gone: a key that was taken out opens nothing.
    for path in PATHS.iter().filter(|path| outputs.iter().all(|output| output.path != **path)) {
        let path = root.join(path);
        if path.exists()
            && let Err(error) = fs::remove_file(&path)
        {
            told.warn(&format!("{} cannot be removed: {error}", path.display()));
        }
    }
    for output in outputs {
        let path = root.join(output.path);
        if let Err(error) = write(&path, output.mode, &output.text) {
            told.warn(&format!("{} cannot be written: {error}", path.display()));
        }
    }
    if let Some(name) = &settings.hostname
        && root == Path::new("/")
        && let Err(error) = rustix::system::sethostname(name.0.as_bytes())
    {
        told.warn(&format!("the host name {} cannot be set: {error}", name.0));
    }
    for line in settings.describe() {
        println!("<6>{NAME}: {line}");
    }
}

/// In one step, so that a program that reads it finds all of it.
fn write(path: &Path, mode: u32, text: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        // Readable by all: systemd's programs run as users of their own. What is secret is so by its own mode.
        fs::DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
    }
    let new = path.with_extension("new");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&new)?;
    file.write_all(text.as_bytes())?;
    fs::rename(new, path)
}

/// What a user has to know.
struct Told {
    root: PathBuf,
    lines: Vec<String>,
}

impl Told {
    /// To the journal as a warning, and to the console.
    fn warn(&mut self, text: &str) {
        eprintln!("<4>{text}");
        let console = fs::OpenOptions::new().write(true).open(self.root.join("dev/console"));
        if let Ok(mut console) = console {
            let _ = writeln!(console, "HORUS: {text}");
        }
        self.lines.push(text.to_owned());
    }

    /// For `horus doctor`, the report and the greeting.
    fn keep(&self) {
        let path = self.root.join(SETTINGS.trim_start_matches('/'));
        let kept = if self.lines.is_empty() {
            fs::remove_file(&path).or(Ok(()))
        } else {
            write(&path, 0o644, &(self.lines.join("\n") + "\n"))
        };
        if let Err(error) = kept {
            eprintln!("<4>{} cannot be written: {error}", path.display());
        }
    }
}
