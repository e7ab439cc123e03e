"""Runs cargo-deny over the workspace, building it first where it is missing: python3 -m horus_appliance.deny CHECK…"""

import os
import subprocess
import sys
from pathlib import Path

from .checks import SKIP_STATUS
from .console import detail
from .paths import BUILD, RUNTIME

VERSION = "0.20.2"


def ensure() -> Path:
    """The cargo-deny of VERSION. A build takes some minutes and is kept in cargo's own home for every clone."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    root = home / "horus-tools" / f"cargo-deny-{VERSION}"
    program = root / "bin" / "cargo-deny"
    if not program.exists():
        detail(f"building cargo-deny {VERSION} (several minutes, once a machine)")
        install = ["cargo", "install", "--quiet", "--locked", "--root", str(root), f"cargo-deny@{VERSION}"]
        subprocess.run(install, env={**os.environ, "CARGO_TARGET_DIR": str(BUILD / "cargo-deny")}, check=True)
    return program


def main(checks: list) -> int:
    program = ensure()
    if "advisories" in checks:
        fetched = subprocess.run([program, "fetch", "db"], cwd=RUNTIME, capture_output=True, text=True, check=False)
        if fetched.returncode != 0:
            print(f"SKIPPED until the advisory database can be reached (github.com): {fetched.stderr.strip()[-300:]}")
            return SKIP_STATUS
    # The graph holds a few crates in two versions, which cargo-deny shows as warnings.
    return subprocess.run([program, "--locked", "check", "--hide-inclusion-graph", *checks], cwd=RUNTIME, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
