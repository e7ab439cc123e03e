"""Lets systemd verify every unit of conf/, laid out as on an appliance: python3 -m checks.conf.units.

systemd reads a mistake in a unit as a line that is not there; only its log says so, on a machine that is not looked at.
Exit status: 0 all are fine, 1 one is not, 2 this machine cannot tell.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from horus_appliance.console import ApplianceFailed, CannotRun, detail, run_command
from horus_appliance.host import system
from horus_appliance.paths import CONF

import horus_conf

SYSTEM_UNITS = "usr/lib/systemd/system"
SUFFIXES = (".service", ".timer", ".mount", ".automount", ".target", ".path", ".socket", ".slice")

# Programs that units call and others bring: the Yocto package, which the package with the unit has to depend on.
FOREIGN_PROGRAMS = {
    "usr/lib/systemd/systemd-journald": "systemd",
    "usr/lib/systemd/systemd-logind": "systemd",
    "usr/sbin/agetty": "util-linux-agetty",
    "usr/sbin/sshd": "openssh-sshd",
    "usr/sbin/wpa_supplicant": "wpa-supplicant",
    "usr/sbin/nvpmodel": "tegra-nvpmodel",
    "usr/bin/jetson_clocks": "tegra-tools-jetson-clocks",
}
# What a template starts for the instance that names() gives it.
INSTALLED_PROGRAMS = ("var/lib/horus/nodes/ttyS0/ttyS0",)
# In every image, so no recipe names it.
ALWAYS_THERE = {"systemd"}
# Units to which a drop-in of ours belongs and which this machine may lack: what the drop-in relies on.
FOREIGN_UNITS = {
    "systemd-resolved.service": "[Unit]\nDescription=Network Name Resolution\n[Service]\nType=notify\nExecStart=/usr/bin/sh\n",
    "systemd-timesyncd.service": "[Unit]\nDescription=Network Time Synchronization\n[Service]\nType=notify\nExecStart=/usr/bin/sh\n",
    "nvpmodel.service": "[Unit]\nDescription=NVIDIA power model setup\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/sbin/nvpmodel\n",
}


def trees() -> list:
    """Every rootfs of conf/, grouped as images have them: the common ones, then each board with them."""
    common = [place for place, target in map(horus_conf.tree_place, horus_conf.all_trees()) if target == Path()]
    boards = sorted(CONF.glob("machine/*/rootfs"))
    return [common, *([*common, board] for board in boards)]


def lay_out(sources: list, root: Path) -> list:
    """Puts the trees and what they need of a system below `root`; returns the names of our units and of units with drop-ins."""
    shutil.copytree("/usr/lib/systemd/system", root / SYSTEM_UNITS, symlinks=True)
    for link in ("bin", "sbin", "lib"):
        (root / link).symlink_to(f"usr/{link}")
    names = set()
    for source in sources:
        shutil.copytree(source, root, dirs_exist_ok=True)
        for path in (source / SYSTEM_UNITS).rglob("*"):
            unit = path.parent.name.removesuffix(".d") if path.suffix == ".conf" else path.name
            if unit.endswith(SUFFIXES):
                names.add(unit.replace("@.", "@ttyS0."))
    for name in names:
        if name in FOREIGN_UNITS:
            (root / SYSTEM_UNITS / name).write_text(FOREIGN_UNITS[name])
    for program in [*(program.path for program in horus_conf.programs()), *FOREIGN_PROGRAMS, *INSTALLED_PROGRAMS, "usr/bin/sh"]:
        path = root / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
    return sorted(names)


def complaints(sources: list) -> tuple:
    """How many units there are, and what systemd says against them."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        names = lay_out(sources, root)
        command = ["systemd-analyze", "verify", f"--root={root}", "--man=no", "--recursive-errors=no", *names]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        plain = [Path(name.partition("@")[0]).stem for name in names]  # without instance, as messages about a template have them
        said = [line.replace(str(root), "") for line in done.stderr.splitlines() if any(re.search(rf"\b{re.escape(name)}", line) for name in plain)]
        if done.returncode != 0 and not said:
            said = done.stderr.splitlines()[-5:] or [f"systemd-analyze ended with status {done.returncode} and said nothing"]
        return len(names), said


def packages_needed(tree: Path) -> set:
    """The Yocto packages whose programs the units of a rootfs call."""
    needed = set()
    for path in [*tree.rglob("*.service"), *tree.rglob("*.service.d/*.conf")]:
        for program in re.findall(r"^Exec\w+=[-+!@:]*(/\S+)", path.read_text(), re.MULTILINE):
            merged = re.sub(r"^/(s?bin|lib)/", r"/usr/\1/", program).lstrip("/")  # /usr is merged everywhere
            needed.add(FOREIGN_PROGRAMS.get(merged, "systemd"))
    return needed - ALWAYS_THERE


def main() -> int:
    if not shutil.which("systemd-analyze"):
        system.install(["systemd"])
    if not Path("/usr/lib/systemd/system/multi-user.target").exists():
        raise CannotRun("this machine has systemd-analyze and none of systemd's own units. Install the package systemd completely.")
    failures = []
    for sources in trees():
        count, said = complaints(sources)
        where = f"conf/machine/{sources[-1].parent.name}" if sources[-1].is_relative_to(CONF / "machine") else "conf"
        detail(f"{where}: {count} units verified")
        failures += [f"{where}: {line}" for line in said]
    if failures:
        raise ApplianceFailed("systemd has something against these units:\n  " + "\n  ".join(failures))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
