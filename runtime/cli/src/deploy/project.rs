//! The project in a folder: what cargo and `node.toml` say of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use horus::app::Installation;
use serde::Deserialize;

/// What is deployed.
pub struct Project {
    /// The program, which is named as its package and as `node.toml` says.
    pub name: String,
    pub version: String,
    /// Where cargo leaves programs.
    pub target: PathBuf,
    /// `node.toml` as it goes to the machine: with the version.
    pub settings: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

impl Project {
    /// Reads that in `folder`.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let manifest = folder.join("Cargo.toml");
        let (package, target) = package(&manifest)?;
        let file = folder.join("node.toml");
        let installation = Installation::read(&file).map_err(|error| error.to_string())?;
        let program = installation.program.unwrap_or_default();
        if program != package.name {
            return Err(format!(
                "{}: program = \"{program}\" has to be the package of Cargo.toml, which is \"{}\"",
                file.display(),
                package.name
            ));
        }
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let settings = match installation.version {
            Some(_) => text,
            // Before the first line, so before all tables.
            None => format!("version = \"{}\"\n{text}", package.version),
        };
        Ok(Self { name: package.name, version: package.version, target, settings })
    }
}

fn package(manifest: &Path) -> Result<(Package, PathBuf), String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(manifest);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("{} is no project of cargo: run this where `horus new` made one", manifest.display()));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let path = manifest.canonicalize().map_err(|error| format!("{}: {error}", manifest.display()))?;
    let found = metadata.packages.into_iter().find(|package| package.manifest_path == path);
    let package = found
        .ok_or_else(|| format!("{} is a workspace: run this in the folder of one of its packages", path.display()))?;
    Ok((package, metadata.target_directory))
}
