"""The image's Python in a folder of its own, unpacked and not installed: for this machine's processor, and for another under qemu-user.

Why not the machine's own Python: the image has another version, and what is built here has to run there.
"""

from dataclasses import dataclass
from pathlib import Path

from horus_appliance.host import system, unpacked
from horus_appliance.host.architecture import Architecture

PYTHON = ("python3-minimal", "libpython3-stdlib")


@dataclass(frozen=True)
class Tree:
    """Where it is."""

    place: Path
    architecture: Architecture

    def command(self, arguments: list, sees: list, environment: dict) -> list:
        """The command that runs Python with `arguments`; of this machine it sees the folders of `sees`, for reading, and /dev/shm."""
        given = {"PYTHONDONTWRITEBYTECODE": "1", **environment}
        if self.architecture.foreign:
            return [*unpacked.emulate(self.architecture, self.place, "usr/bin/python3", given), *arguments]
        # Where NumPy finds its libraries, which the scripts of their packages would have said.
        libraries = f"/usr/lib/{self.architecture.machine}-linux-gnu"
        given["LD_LIBRARY_PATH"] = f"{libraries}/blas:{libraries}/lapack"
        words = [word for name, value in given.items() for word in ("--setenv", name, str(value))]
        seen = [word for folder in sees for word in ("--ro-bind", folder, folder)]
        return system.as_root([
            "bwrap", "--die-with-parent", "--unshare-pid", "--ro-bind", self.place / "usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink",
            "usr/lib64", "/lib64", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys", "--tmpfs", "/tmp", *seen, "--clearenv",
            *words, "/usr/bin/python3", *arguments,
        ])  # fmt: skip


def ensure(architecture: Architecture, *packages: str, name: str = "") -> Tree:
    """Makes the tree when it is missing or has other packages than Python and these. One of another name is a tree beside the usual one."""
    return Tree(unpacked.ensure(f"python-{name or architecture.name}", architecture, (*PYTHON, *packages)), architecture)
