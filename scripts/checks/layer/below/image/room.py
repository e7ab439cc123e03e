"""What disk and how many hours the whole image wants, told and looked at before it begins."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.host import system
from horus_appliance.yocto import kas

GIB = 1024**3
LEAST = 5 * GIB  # also where nearly all is there: a kernel is unpacked, an image is put together


@dataclass(frozen=True)
class Want:
    """What one kind of build takes from nothing to the image."""

    bytes: int
    cpu_hours: float  # of all CPUs together


# Not measured: what other Yocto images of this size report. Most of it are the compilers, GCC, LLVM and Rust.
PLAIN = Want(kas.BUILD_BYTES, 30)
# Without the compilers, and without the programs that run on the machine alone. Measured on 2026-11-25: 16 GB for the build and 2 GB for downloads
# and cache, and 92 CPU minutes of tasks (docs/data/yocto/cpu-seconds.csv); BitBake's own work comes to them.
SUBSTITUTES = Want(25 * GIB, 2)


def want(substitutes: bool) -> Want:
    """What this build takes."""
    return SUBSTITUTES if substitutes else PLAIN


def held(folder: Path) -> int:
    """Bytes that a folder holds already, of earlier runs."""
    said = subprocess.run(system.as_root(["du", "--summarize", "--one-file-system", "--block-size=1", str(folder)]), capture_output=True, text=True, check=False)
    return int(said.stdout.split()[0]) if said.stdout else 0


def hours(wanted: Want, cpus: int) -> str:
    """How long it takes, in words that promise no minute."""
    found = wanted.cpu_hours / cpus
    return f"{found:.0f} hours" if found >= 1.5 else "an hour" if found >= 0.75 else "half an hour"


def announcement(wanted: Want, there: int, cpus: int) -> str:
    """What is said before it begins."""
    kept = f", of which {there / 1e9:.0f} GB are there," if there > 1e9 else ""
    return f"from nothing this takes about {wanted.bytes / 1e9:.0f} GB of disk{kept} and about {hours(wanted, cpus)} on {cpus} CPUs; a later run goes on where this one ends"


def require(folder: Path, wanted: Want) -> str:
    """What is to be said; refuses a disk that would be full half-way."""
    there, free = held(folder), shutil.disk_usage(folder).free
    missing = max(wanted.bytes - there, LEAST)
    if free < missing:
        raise CannotRun(
            f"{folder} has {free / 1e9:.0f} GB free, and the image wants about {missing / 1e9:.0f} GB more. Free some space, or name a folder on a larger disk: --work FOLDER"
        )
    return announcement(wanted, there, os.cpu_count() or 1)
