"""A disk for a virtual machine with what breaks deadlines there: a script, and programs of nodes that no image holds."""

import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import X86_64
from horus_appliance.image import runtime
from horus_appliance.paths import BUILD, RUNTIME

DISK = "horus-provoked"  # its serial number, by which the guest finds it
PROGRAMS = ("provoked", "cycle_cost")
# What the script has it run as.
NODES = ("minor", "major", "storm")
SCRIPT = Path(__file__).with_name("provoke")


def make_disk() -> Path:
    """Builds the programs and puts all on a disk."""
    step("building the programs that break deadlines")
    command = ["cargo", "build", "--release", "--locked", "--package", "horus", "--target-dir", str(runtime.cargo_target())]
    command += [word for program in PROGRAMS for word in ("--example", program)]
    if subprocess.run(command, cwd=RUNTIME, env=runtime.clean_environment(), check=False).returncode != 0:
        raise CannotRun("the programs do not build; the compiler's message is above.")
    staged = BUILD / DISK
    system.remove_tree(staged)
    staged.mkdir(parents=True)
    shutil.copy(SCRIPT, staged / SCRIPT.name)
    for program in PROGRAMS:
        shutil.copy(runtime.cargo_target() / "release/examples" / program, staged / program)
    disk = staged.with_suffix(".raw")
    disk.unlink(missing_ok=True)
    subprocess.run(builder.command(X86_64, ["mkfs.erofs", "--quiet", str(disk), str(staged)]), check=True, stdout=subprocess.DEVNULL)
    return disk
