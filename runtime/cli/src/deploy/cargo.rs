//! Projects in Rust: built for the processor of another machine, as one file that needs no library there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::tool::{Described, Tool, run};

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
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// What cargo says of the package of `manifest`.
pub fn describe(manifest: &Path) -> Result<Described, String> {
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
    let programs = package.targets.into_iter().filter(|target| target.kind.iter().any(|kind| kind == "bin"));
    Ok(Described {
        name: package.name,
        version: package.version,
        programs: programs.map(|program| program.name).collect(),
        tool: Tool::Cargo(metadata.target_directory),
    })
}

/// Builds the program of the project in `folder` and returns its file, which cargo leaves below `programs`.
pub fn build(name: &str, target: &str, folder: &Path, programs: &Path) -> Result<PathBuf, String> {
    ensure_standard_library(folder, target)?;
    let mut command = Command::new("cargo");
    command.current_dir(folder);
    command.args(["rustc", "--release", "--bin", name, "--target", target]);
    let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
    if target.ends_with("-musl") && std::env::var_os(&linker).is_none() {
        // Rust brings this one: no compiler for the other processor has to be installed.
        command.env(linker, "rust-lld");
    }
    // What only a debugger reads is most of the file, and would be sent each time.
    command.args(["--", "-Cstrip=symbols"]);
    run(&mut command)?;
    Ok(programs.join(target).join("release").join(name))
}

/// Rust's own library for that processor, in the Rust that `folder` is built with.
pub fn ensure_standard_library(folder: &Path, target: &str) -> Result<(), String> {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", target]).current_dir(folder).output();
    let output = asked.map_err(|error| format!("cannot start rustc: {error}; https://rustup.rs installs it"))?;
    let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if library.is_dir() {
        return Ok(());
    }
    println!("fetching Rust's library for {target}");
    let added = run(Command::new("rustup").args(["target", "add", target]).current_dir(folder));
    added.map_err(|error| format!("{error}: Rust's library for {target} is missing, and rustup is what fetches it"))
}
