"""Debian packages of the image's release in a folder of their own, unpacked and not installed, for this machine's processor or for another one."""

import fcntl
import subprocess
from pathlib import Path

from horus_appliance.console import detail
from horus_appliance.host import debian, system
from horus_appliance.host.architecture import Architecture
from horus_appliance.paths import BUILD

# Where a program of a tree finds its loader.
BASE = "base-files"


def ensure(name: str, architecture: Architecture, packages: tuple) -> Path:
    """Makes the tree of this name when it is missing or has other packages."""
    system.install_packages()
    if architecture.foreign:
        system.ensure_command(emulator(architecture), "qemu-user")
    BUILD.mkdir(parents=True, exist_ok=True)
    place, wanted = BUILD / name, " ".join((BASE, *packages))
    stamp = place / "usr" / "share" / "horus-packages"
    with (BUILD / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side
        if not stamp.is_file() or stamp.read_text() != wanted:
            detail(f"unpacking {packages[0]} for {architecture.name} (about 20 seconds, once a clone)")

            def write_stamp(partial: Path) -> None:
                file = partial / stamp.relative_to(place)
                subprocess.run(system.as_root(["tee", str(file)]), input=wanted, stdout=subprocess.DEVNULL, text=True, check=True)

            debian.make_tree(place, [BASE, *packages], "extract", BUILD / f"{name}.log", write_stamp, architecture.debian_name)
    return place


def emulator(architecture: Architecture) -> str:
    """Runs programs of another processor on this one."""
    return f"qemu-{architecture.machine}"


def emulate(architecture: Architecture, tree: Path, program: str, environment: dict) -> list:
    """The words before the arguments of a program in a tree, which is run by the emulator with these variables."""
    given = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    return [emulator(architecture), "-L", str(tree), *given, str(tree / program)]
