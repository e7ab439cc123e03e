"""What the runtime's programs of an image were built of: the crates that cargo links into them, for the image's list of parts.

The recipe adds the distribution's packages (recipes/debian/mkosi.finalize.d/50-parts).
"""

import json
import subprocess
import tomllib
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.host import system
from horus_appliance.host.architecture import Architecture
from horus_appliance.paths import RUNTIME

import horus_conf

# Below the image's root; the recipe takes it up into the whole list, and away.
CRATES = "usr/share/horus/crates.json"
SEPARATOR = "\t"


def add_crates(overlay: Path, architecture: Architecture, python: bool, bridge: bool) -> None:
    """Leaves the crates of an image's programs in its overlay."""
    chosen = [(RUNTIME, horus_conf.cargo_arguments())]
    if python:
        chosen.append((RUNTIME, horus_conf.module_arguments()))
    if bridge:
        chosen.append((horus_conf.bridge_folder(), []))
    found = {}
    for workspace, arguments in chosen:
        found.update(crates(workspace, arguments, architecture))
    text = json.dumps([found[key] for key in sorted(found)], indent=1) + "\n"
    system.write_as_root(overlay / CRATES, text)


def crates(workspace: Path, arguments: list, architecture: Architecture) -> dict:
    """The crates that the chosen packages of a workspace link, as components of CycloneDX, by name and version."""
    # Macros run in the compiler, and are in no program.
    packages = [word for previous, word in zip(["", *arguments], arguments, strict=False) if "--package" in (previous, word)]
    command = [
        "cargo", "tree", "--locked", "--edges=normal,no-proc-macro", "--prefix=none", "--no-dedupe", f"--format={{p}}{SEPARATOR}{{l}}",
        f"--target={architecture.machine}-unknown-linux-gnu", *packages,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"cargo does not tell what {workspace.name} is built of:\n{done.stderr.strip()}")
    sums = checksums(workspace / "Cargo.lock")
    found = (component(line, sums) for line in done.stdout.splitlines() if line)
    return {(one["name"], one["version"]): one for one in found}


def component(line: str, sums: dict) -> dict:
    """One crate of cargo's output: `name v1.2.3 (/path/of/ours)`, and its licence."""
    about, licence = line.split(SEPARATOR)
    name, version = about.split()[:2]
    version = version.removeprefix("v")
    one = {"type": "library", "bom-ref": f"cargo:{name}@{version}", "name": name, "version": version}
    if licence:
        # As SPDX has it; crates that are old have a stroke.
        one["licenses"] = [{"expression": " OR ".join(part.strip() for part in licence.split("/"))}]
    if digest := sums.get((name, version)):
        one |= {"purl": f"pkg:cargo/{name}@{version}", "hashes": [{"alg": "SHA-256", "content": digest}]}
    return one


def checksums(lock: Path) -> dict:
    """What Cargo.lock says of each crate of the registry, by name and version."""
    packages = tomllib.loads(lock.read_text())["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in packages if "checksum" in package}
