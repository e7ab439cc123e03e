//! Removes what killed processes left, and says what it found.

use std::fmt::Write;
use std::path::Path;

use horus_shm::directory::{Directory, Location};
use horus_shm::peers::clean::{Latched, clean_with};
use serde::Serialize;

use horus::outside::printable;

/// What was done.
#[derive(Debug, Serialize)]
pub struct Cleaned {
    /// Version of this structure.
    schema: &'static str,
    /// The directory that was found.
    directory: String,
    /// Topics that no living process used: gone.
    removed: Vec<String>,
    /// Topics in use.
    kept: Vec<String>,
    /// Topics that no living process uses, kept for who comes later.
    latched: Vec<String>,
    /// Dead subscribers that were taken out of topics in use.
    reaped: usize,
    /// Directories of virtual worlds whose tests were killed: gone.
    worlds: Vec<String>,
    /// What is called like a topic and could not be judged, each with the reason. It was left alone.
    pub problems: Vec<String>,
}

/// Cleans the directory of `location`, if it exists; `latched` says whether latched topics go too.
pub fn clean(location: &Location, directory: Option<&Directory>, latched: bool) -> Result<Cleaned, String> {
    let latched = if latched { Latched::Go } else { Latched::Stay };
    let found = directory
        .map(|directory| clean_with(directory, latched))
        .transpose()
        .map_err(|error| error.to_string())?
        .unwrap_or_default();
    let names = |paths: &[std::path::PathBuf]| {
        let mut names: Vec<_> = paths.iter().map(|path| name(path)).collect();
        names.sort();
        names
    };
    Ok(Cleaned {
        schema: "horus-topics-cleaned/1",
        directory: printable(&location.path().display().to_string()),
        removed: names(&found.removed),
        kept: names(&found.kept),
        latched: names(&found.latched),
        reaped: found.reaped,
        worlds: horus::world::sweep().iter().map(|path| printable(&path.display().to_string())).collect(),
        problems: found.unjudged.iter().map(|error| printable(&error.to_string())).collect(),
    })
}

fn name(path: &Path) -> String {
    printable(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// The same for people; problems are printed elsewhere.
pub fn text(cleaned: &Cleaned) -> String {
    let mut text = String::new();
    for (what, names) in [("removed", &cleaned.removed), ("kept, being used", &cleaned.kept)] {
        let _ = match names.as_slice() {
            [] => writeln!(text, "{what}: none"),
            names => writeln!(text, "{what}: {} ({})", names.len(), names.join(", ")),
        };
    }
    if !cleaned.latched.is_empty() {
        let (count, names) = (cleaned.latched.len(), cleaned.latched.join(", "));
        let _ = writeln!(
            text,
            "kept for who comes later (latched): {count} ({names}); `horus topic clean --latched` removes them"
        );
    }
    if cleaned.reaped > 0 {
        let _ = writeln!(text, "taken out of topics in use: {} dead subscribers", cleaned.reaped);
    }
    if !cleaned.worlds.is_empty() {
        let _ = writeln!(text, "virtual worlds of killed tests, removed: {}", cleaned.worlds.len());
    }
    if !cleaned.problems.is_empty() {
        let _ = writeln!(text, "left alone, for they could not be judged: {}", cleaned.problems.len());
    }
    text + &format!("in {}\n", cleaned.directory)
}
