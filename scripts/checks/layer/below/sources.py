"""The checkouts of upstream layers that scripts/check-layer works with: each is at the commit that kas.lock.yml pins."""

import re
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto.kas import FRAGMENTS, LOCK_COMMAND

LOCK = REPOSITORY / "kas.lock.yml"


def pins() -> dict:
    """The commit of each repository in kas.lock.yml."""
    return dict(re.findall(r"^ {4}(\S+):\n {6}commit: ([0-9a-f]{40})$", LOCK.read_text(), re.MULTILINE))


def urls() -> dict:
    """The address of each repository that some kas file names."""
    files = [REPOSITORY / "kas.yml", *FRAGMENTS.glob("*.yml")]
    return dict(found for file in files for found in re.findall(r"^  (\S+):\n    url: (\S+)$", file.read_text(), re.MULTILINE))


def require(layers: Path, names: list | None = None) -> None:
    """Ends with what is missing or wrong and what to do, unless every checkout, or those of `names`, is the pinned one."""
    problems = []
    for name, pinned in pins().items():
        if names is not None and name not in names:
            continue
        checkout = layers / name
        fetch = f"git -C {checkout} fetch --depth 1 {urls()[name]} {pinned} && git -C {checkout} checkout --quiet {pinned}"
        found = commit(checkout)
        if not found:
            problems.append(f"{checkout} is no git checkout: git init --quiet {checkout} && {fetch}")
        elif found != pinned:
            problems.append(f"{checkout} is at {found[:12]}, and {LOCK.name} pins {pinned[:12]}: {fetch}\n    (or, to test newer layers, pin them first: {LOCK_COMMAND})")
    if problems:
        raise CannotRun("\n".join(["the layers are not what meta-horus is made for:", *(f"  - {problem}" for problem in problems)]))


def commit(checkout: Path) -> str:
    """The commit of a checkout; empty where it is none."""
    if not (checkout / ".git").exists():
        return ""
    command = ["git", "-c", f"safe.directory={checkout.resolve()}", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
