//! Loops that others published their figures from, as they were, with HORUS in the same loops; each marked as such.

use std::process::ExitCode;

use horus_compare::{iceoryx, seed, seed_csharp, seed_tables};

fn main() -> ExitCode {
    let mut loops = seed_tables::loops();
    loops.extend(seed_csharp::loops());
    let status = seed::main(&loops);
    iceoryx::sweep();
    status
}
