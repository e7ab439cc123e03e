//! Writes the tables that are made of results: `table.md` of every committed run, and those between markers in documents.
//!
//! `tables DIRECTORY` writes the `table.md` of that run only, and prints it; the directories `languages` and `gateway` of a run have one of their own.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use horus_benchmarks::transport::Failure;
use horus_benchmarks::{document, gateway, languages, results};

/// Makes the `table.md` of a folder.
type OfRun = fn(&Path) -> Result<String, Failure>;
/// Folders of a run that have tables of their own.
const FOLDERS: [(&str, OfRun); 2] = [(languages::FOLDER, languages::of_run), (gateway::FOLDER, gateway::of_run)];

/// Every file that is made of results, with what it has to hold.
fn all(repository: &Path) -> Result<Vec<(PathBuf, String)>, Box<dyn Error + Send + Sync>> {
    let mut files = Vec::new();
    for run in fs::read_dir(repository.join("benchmarks/results"))? {
        let run = run?.path();
        for (folder, of_run) in FOLDERS {
            let folder = run.join(folder);
            if folder.is_dir() {
                files.push((folder.join("table.md"), of_run(&folder)?));
            }
        }
        // A run of these programs alone has nothing else.
        if has_reports(&run)? {
            files.push((run.join("table.md"), document::of_run(&results::read(&run)?)?));
        }
    }
    let mut generated = 0;
    for folder in ["", "docs", "benchmarks"] {
        for entry in fs::read_dir(repository.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let (text, count) = document::fill(&fs::read_to_string(&path)?, repository)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                generated += count;
                files.push((path, text));
            }
        }
    }
    if generated == 0 { Err("no document has a generated table".into()) } else { Ok(files) }
}

fn has_reports(run: &Path) -> Result<bool, std::io::Error> {
    Ok(fs::read_dir(run)?.flatten().any(|entry| entry.path().extension().is_some_and(|extension| extension == "json")))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    if let Some(directory) = std::env::args().nth(1) {
        let directory = Path::new(&directory);
        let text = match FOLDERS.iter().find(|(folder, _)| directory.ends_with(folder)) {
            Some((_, of_run)) => of_run(directory)?,
            None => document::of_run(&results::read(directory)?)?,
        };
        fs::write(directory.join("table.md"), &text)?;
        println!("{text}");
        return Ok(());
    }
    for (path, text) in all(&repository())? {
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(&path, text)?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_what_its_results_make_it() {
        for (path, text) in all(&repository()).unwrap() {
            let there = fs::read_to_string(&path).unwrap_or_default();
            assert!(there == text, "{} is not up to date: run 'cargo run --bin tables' in benchmarks/", path.display());
        }
    }
}
