"""Trees of Debian packages, made by mmdebstrap."""

import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.host import system

RELEASE = "trixie"


def make_tree(target: Path, packages: list, variant: str, log: Path, finish=lambda partial: None, architecture: str = "", release: str = RELEASE) -> None:
    """Puts packages and what they need into a tree of their own: `extract` unpacks them only, `apt` makes a small system of them.

    They are for this machine, unless Debian's name of another `architecture` is given. A `release` that is not finished has lists that run out in days, which
    a mirror that stands still does not renew: their date is not asked for, their signature is. A tree with its final name is a complete one: `finish` is called with it before it gets that.
    """
    system.require_mirror()
    partial = target.with_suffix(".partial")
    system.remove_tree(partial)
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [
        "mmdebstrap", f"--variant={variant}", f"--include={','.join(packages)}",
        *([f"--architectures={architecture}"] if architecture else []), *(['--aptopt=Acquire::Check-Valid-Until "false"'] if release != RELEASE else []),
        '--aptopt=APT::Install-Recommends "false"', f"--keyring={system.KEYRING}",
        release, str(partial), system.MIRROR,
    ]  # fmt: skip
    with log.open("w") as output:
        done = subprocess.run(system.as_root(command), stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise CannotRun(f"mmdebstrap could not make a tree of {', '.join(packages)}:\n{tail(log)}\nFull log: {log}")
    finish(partial)
    system.remove_tree(target)  # not before its successor is there
    subprocess.run(system.as_root(["mv", str(partial), str(target)]), check=True)


def tail(log: Path, lines: int = 25) -> str:
    """The last lines of a log, for an error message."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
