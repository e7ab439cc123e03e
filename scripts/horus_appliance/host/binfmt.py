"""Has the kernel of this machine run programs of another architecture, by qemu-user, while an image is built.

Packages have scripts of their own that run inside the image's tree. The kernel's table of program formats (binfmt_misc) is one
for the whole machine: an entry of another program that does the same is used as it is, and ours goes when the build is over.
"""

import subprocess
from contextlib import contextmanager
from pathlib import Path

from horus_appliance.console import CannotRun, detail
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import Architecture, CannotCross

TABLE = Path("/proc/sys/fs/binfmt_misc")
ENTRY = "horus-{}"
NO_TABLE = (
    "building for {} runs programs of its packages, which needs the kernel's binfmt_misc at "
    f"{TABLE}, and it cannot be mounted here:\n{{}}\n"
    "Load it on the machine's own system (modprobe binfmt_misc), give a container the right to mount it (--privileged), "
    "or build on a machine with such a processor."
)


@contextmanager
def foreign_programs(architecture: Architecture):
    """Programs of `architecture` run on this machine, also inside of other trees, until the end of the block."""
    if not architecture.foreign or works(architecture):
        yield
        return
    mount_table(architecture)
    if works(architecture):
        yield
        return
    register(architecture)
    try:
        yield
    finally:
        subprocess.run(system.as_root(["tee", str(TABLE / ENTRY.format(architecture.name))]), input="-1", text=True,
                       stdout=subprocess.DEVNULL, check=False)  # fmt: skip


def works(architecture: Architecture) -> bool:
    """Whether an entry for this architecture is there that also holds inside of other trees (flag F: the interpreter was
    opened when it was registered)."""
    wanted = entry_of(architecture)[4].replace("\\x", "")
    for path in TABLE.glob("*"):
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue  # `register` can only be written
        fields = dict(line.partition(" ")[::2] for line in lines)
        if lines[:1] == ["enabled"] and fields.get("magic") == wanted and "F" in fields.get("flags:", ""):
            return True
    return False


def mount_table(architecture: Architecture) -> None:
    """Mounts the kernel's table where it is not."""
    if (TABLE / "register").exists():
        return
    done = subprocess.run(
        system.as_root(["mount", "-t", "binfmt_misc", "binfmt_misc", str(TABLE)]), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotCross(NO_TABLE.format(architecture.name, done.stderr.strip()))


def register(architecture: Architecture) -> None:
    """Adds our entry: Debian's own description of the format, with the builder's emulator."""
    detail(f"programs of {architecture.name} run by qemu-user for the time of the build")
    empty, _, kind, offset, magic, mask, emulator, flags = entry_of(architecture)
    name = ENTRY.format(architecture.name)
    line = ":".join([empty, name, kind, offset, magic, mask, f"{builder.tree(architecture)}{emulator}", flags])
    done = subprocess.run(
        system.as_root(["tee", str(TABLE / "register")]), input=line, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or not works(architecture):
        raise CannotRun(
            f"the kernel refused this machine's emulator for {architecture.name} ({done.stderr.strip()}). Look whether an old "
            f"entry is in its way (ls {TABLE}); it goes away with: echo -1 > {TABLE}/{name}"
        )


def entry_of(architecture: Architecture) -> list:
    """The parts of the line with which Debian registers the emulator of this architecture."""
    path = builder.tree(architecture) / "usr/lib/binfmt.d" / f"qemu-{architecture.machine}.conf"
    return path.read_text().strip().split(":")
