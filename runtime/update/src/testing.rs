//! What this crate's tests and those of the command have in common, with a machine of this crate.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use ring::signature::Ed25519KeyPair;
use tempfile::TempDir;

pub use fixture::*;

use crate::machine::Machine;

/// A machine that runs 0.1.0, and takes updates by the key of `pair`.
pub fn machine(pair: &Ed25519KeyPair) -> (TempDir, Machine) {
    let root = root(pair);
    let machine = Machine::at(root.path());
    (root, machine)
}
