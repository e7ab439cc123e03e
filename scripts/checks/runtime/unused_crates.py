"""Finds crates that a manifest names and no source uses, by cargo-machete: python3 -m checks.runtime.unused_crates.

One that is there for another reason stands in its manifest's `ignored` with that reason. cargo-machete is built where it is missing: half a minute
of two CPUs, once a clone.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from horus_appliance.console import ApplianceFailed, Skipped, detail, follow, run_command
from horus_appliance.host import system
from horus_appliance.paths import BENCHMARKS, BUILD, RUNTIME

VERSION = "0.9.2"


def machete() -> Path:
    """The program, built from crates.io with the versions of its own lock file."""
    place = BUILD / f"cargo-machete-{VERSION}"
    program = place / "bin" / "cargo-machete"
    if not program.exists():
        system.require_rust()
        detail(f"building cargo-machete {VERSION} from crates.io")
        with tempfile.TemporaryDirectory() as target:
            command = ["cargo", "install", "--quiet", "--locked", "--debug", "--version", VERSION, "--root", place, "--target-dir", target, "cargo-machete"]
            environment = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "none", "RUSTFLAGS": ""}
            done = subprocess.run(command, cwd=RUNTIME, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"cargo-machete cannot be built, maybe because crates.io does not answer: {done.stderr.strip()[-300:]}")
    return program


def main() -> int:
    # The bridge, the fuzzers and the rivals are found below these. Cargo says what a crate of another name is called in sources.
    status, lines = follow([machete(), "--with-metadata", RUNTIME, BENCHMARKS], show=".")
    if status != 0 or any("is actually used" in line for line in lines):
        raise ApplianceFailed("crates are named and not used, or used and called unused; see above. Take them out of the manifest.")
    return 0


if __name__ == "__main__":
    run_command(main)
