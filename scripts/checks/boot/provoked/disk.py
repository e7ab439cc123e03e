"""A disk for a virtual machine with what breaks deadlines there: a script, and programs of nodes that no image holds."""

import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import X86_64, Architecture
from horus_appliance.image import runtime
from horus_appliance.paths import BUILD, RUNTIME, cargo_target

DISK = "horus-provoked"  # its serial number, by which the guest finds it
PROGRAMS = ("provoked", "cycle_cost")
# What the script has it run as.
NODES = ("minor", "major", "storm")
SCRIPT = Path(__file__).with_name("provoke")


def make_disk(architecture: Architecture) -> Path:
    """Builds the programs and puts all on a disk."""
    step("building the programs that break deadlines")
    arguments, more = runtime.cross(architecture) if architecture.foreign else ([], {})
    command = ["cargo", "build", "--release", "--locked", "--package", "horus-nodes", "--target-dir", str(cargo_target()), *arguments]
    command += [word for program in PROGRAMS for word in ("--example", program)]
    if subprocess.run(command, cwd=RUNTIME, env={**runtime.clean_environment(), **more}, check=False).returncode != 0:
        raise CannotRun("the programs do not build; the compiler's message is above.")
    made = cargo_target() / (architecture.cross.target if architecture.foreign else "") / "release/examples"
    staged = BUILD / DISK / architecture.name
    system.remove_tree(staged)
    staged.mkdir(parents=True)
    shutil.copy(SCRIPT, staged / SCRIPT.name)
    for program in PROGRAMS:
        shutil.copy(made / program, staged / program)
    disk = staged.with_suffix(".raw")
    disk.unlink(missing_ok=True)
    subprocess.run(builder.command(X86_64, ["mkfs.erofs", "--quiet", str(disk), str(staged)]), check=True, stdout=subprocess.DEVNULL)
    return disk
