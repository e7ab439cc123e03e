"""The image's Python in a folder of its own, unpacked and not installed: for this machine's processor, and for another under qemu-user.

Why not the machine's own Python: the image has another version, and what is built here has to run there.
"""

import fcntl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import detail
from horus_appliance.host import debian, system
from horus_appliance.host.architecture import Architecture
from horus_appliance.paths import BUILD

PYTHON = ("base-files", "libpython3-stdlib", "python3-minimal")


@dataclass(frozen=True)
class Tree:
    """Where it is."""

    place: Path
    architecture: Architecture

    def command(self, arguments: list, sees: list, environment: dict) -> list:
        """The command that runs Python with `arguments`; of this machine it sees the folders of `sees`, for reading, and /dev/shm."""
        python = self.place / "usr" / "bin" / "python3"
        libraries = f"/usr/lib/{self.architecture.machine}-linux-gnu"
        if self.architecture.foreign:
            given = {"PYTHONDONTWRITEBYTECODE": "1", **environment}
            words = [word for name, value in given.items() for word in ("-E", f"{name}={value}")]
            return [emulator(self.architecture), "-L", self.place, *words, python, *arguments]
        # Where NumPy finds its libraries, which the scripts of their packages would have said.
        given = {"PYTHONDONTWRITEBYTECODE": "1", "LD_LIBRARY_PATH": f"{libraries}/blas:{libraries}/lapack", **environment}
        words = [word for name, value in given.items() for word in ("--setenv", name, str(value))]
        seen = [word for folder in sees for word in ("--ro-bind", folder, folder)]
        return system.as_root([
            "bwrap", "--die-with-parent", "--unshare-pid", "--ro-bind", self.place / "usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink",
            "usr/lib64", "/lib64", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys", "--tmpfs", "/tmp", *seen, "--clearenv",
            *words, "/usr/bin/python3", *arguments,
        ])  # fmt: skip


def emulator(architecture: Architecture) -> str:
    """Runs programs of another processor on this one."""
    return f"qemu-{architecture.machine}"


def ensure(architecture: Architecture, *packages: str, name: str = "") -> Tree:
    """Makes the tree when it is missing or has other packages than Python and these. One of another name is a tree beside the usual one."""
    system.install_packages()
    if architecture.foreign:
        system.ensure_command(emulator(architecture), "qemu-user")
    BUILD.mkdir(parents=True, exist_ok=True)
    place, wanted = BUILD / f"python-{name or architecture.name}", " ".join([*PYTHON, *packages])
    stamp = place / "usr" / "share" / "horus-packages"
    with (BUILD / f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side
        if not stamp.is_file() or stamp.read_text() != wanted:
            detail(f"unpacking the image's Python for {architecture.name} (about 20 seconds, once a clone)")

            def write_stamp(partial: Path) -> None:
                file = partial / stamp.relative_to(place)
                subprocess.run(system.as_root(["tee", str(file)]), input=wanted, stdout=subprocess.DEVNULL, text=True, check=True)

            log = BUILD / f"{place.name}.log"
            debian.make_tree(place, [*PYTHON, *packages], "extract", log, write_stamp, architecture.debian_name)
    return Tree(place, architecture)
