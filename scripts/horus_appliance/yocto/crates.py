"""The crates of a Cargo.lock in the form in which BitBake fetches them: one `crate://` line and one checksum each.

BitBake has a task of its own for this (update_crates); it needs a build of Rust's sources first, and this needs nothing.
"""

import tomllib
from pathlib import Path

from horus_appliance.console import CannotRun, detail
from horus_appliance.paths import REPOSITORY, RUNTIME

RECIPES = REPOSITORY / "meta-horus" / "recipes-horus"
LISTS = {
    RUNTIME / "Cargo.lock": RECIPES / "horus" / "horus-crates.inc",
    RUNTIME / "bridge" / "Cargo.lock": RECIPES / "horus-bridge" / "horus-bridge-crates.inc",
    REPOSITORY / "benchmarks" / "Cargo.lock": RECIPES / "horus-benchmarks" / "horus-benchmarks-crates.inc",
}
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def packages(lock: Path) -> list:
    """Name, version and checksum of every crate that comes from crates.io, in the order of the lock file."""
    found = []
    for values in tomllib.loads(lock.read_text())["package"]:
        if "source" not in values:
            continue  # a member of the workspace
        if values["source"] != REGISTRY:
            raise CannotRun(
                f"{lock.relative_to(REPOSITORY)}: {values['name']} comes from {values['source']}, and the Yocto recipe fetches from "
                "crates.io only. Depend on a released version."
            )
        found.append((values["name"], values["version"], values["checksum"]))
    return found


def render(lock: Path) -> str:
    """The text of the recipe's list."""
    crates = packages(lock)
    lines = [f"# Made from {lock.relative_to(REPOSITORY)} by scripts/crates. Run that again when the lock file changes.", 'SRC_URI += "\\']
    lines += [f"    crate://crates.io/{name}/{version} \\" for name, version, _ in crates]
    lines += ['"', ""]
    lines += [f'SRC_URI[{name}-{version}.sha256sum] = "{checksum}"' for name, version, checksum in crates]
    return "\n".join(lines) + "\n"


def write(lock: Path, target: Path) -> None:
    """Writes the list beside its recipe."""
    target.write_text(render(lock))
    detail(f"{target.relative_to(REPOSITORY)}: {len(packages(lock))} crates")


def problems() -> list:
    """The lists that are not what their lock files say."""
    return [
        f"{target.relative_to(REPOSITORY)} does not agree with {lock.relative_to(REPOSITORY)}. Run scripts/crates and commit its result."
        for lock, target in LISTS.items() if not target.is_file() or target.read_text() != render(lock)
    ]  # fmt: skip
