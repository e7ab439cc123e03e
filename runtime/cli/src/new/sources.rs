//! Where the sources of HORUS are on this machine: what a project in Rust depends on, and what `horus deploy` builds libhorus from.

use std::path::{Path, PathBuf};

/// Names the folder of the crate `horus`.
pub const VARIABLE: &str = "HORUS_SOURCE";
/// Where it was when this program was built; a build for another machine says where it is there.
const BUILT_FROM: &str = match option_env!("HORUS_BUILT_FROM") {
    Some(place) => place,
    None => concat!(env!("CARGO_MANIFEST_DIR"), "/../horus"),
};

/// The folder of the crate `horus`: the one that is given, or that of the sources that this program was built from.
pub fn find(given: Option<&Path>) -> Result<PathBuf, String> {
    let place = given.unwrap_or(Path::new(BUILT_FROM));
    match place.join("Cargo.toml").is_file() {
        true => place.canonicalize().map_err(|error| format!("{}: {error}", place.display())),
        false => Err(format!(
            "the crate horus is not in {}: give the folder runtime/horus of a copy of the HORUS sources with --horus, or in ${VARIABLE}",
            place.display()
        )),
    }
}
