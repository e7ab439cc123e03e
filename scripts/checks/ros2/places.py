"""What the checks of the bridge run with: a real ROS 2 from PyPI, the bridge, and a network that ends at this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import python, system
from horus_appliance.paths import BUILD, RUNTIME, SCRIPTS

BRIDGE = RUNTIME / "bridge"
# As on the appliance: the same build goes into its image.
PROGRAMS = BRIDGE / "target" / "release"
HORUS = RUNTIME / "target" / "release" / "horus"
# What carries multicast over the loopback, which DDS finds its peers by.
LOOPBACK = "ip link set lo up; ip link set lo multicast on; ip route add 224.0.0.0/4 dev lo; exec \"$@\""
# The Pythons for which there are wheels of ROS 2.
PYTHONS = ("python3.13", "python3.12", "python3.11")


def ros() -> Path:
    """An environment below out/build with a ROS 2, which is 175 MB; gives its Python."""
    here = f"python3.{sys.version_info.minor}"
    if here not in PYTHONS:
        raise CannotRun(f"ROS 2 has wheels for {', '.join(PYTHONS)}, and this is {here}: run this with one of those")
    return python.ensure(BUILD / "ros2", Path(__file__).with_name("requirements.txt")) / "python"


def programs() -> Path:
    """Builds the bridge, the other end of its checks, and `horus`, which starts it; gives the folder of the first two."""
    system.ensure_command("cc", "gcc")
    step("building the bridge")
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--bins", "--examples"], cwd=BRIDGE, check=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--package", "horus-cli"], cwd=RUNTIME, check=True)
    return PROGRAMS


def alone(module: str, *arguments) -> int:
    """Runs a module of the checks in a network of its own, with mounts of its own; gives its exit status."""
    for command, package in (("unshare", "util-linux"), ("ip", "iproute2")):
        if not shutil.which(command):
            system.install([package])
    own = ["unshare", "--net", "--mount"] if os.geteuid() == 0 else ["unshare", "--net", "--mount", "--map-root-user"]
    command = [*own, "sh", "-c", LOOPBACK, "sh", sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, cwd=SCRIPTS, check=False).returncode
