"""The wheels for others, as docs/python.md has them built: python3 -m checks.languages.python_wheels.

One for x86-64 and one for 64-bit ARM, which run with the C library of other people's systems and with each Python from 3.11 on. The tests run with the one
for this machine on the image's Python, a newer one than that which runs the checks; the other one carries a message under qemu-user.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.languages import guides, python_tree
from horus_appliance.console import ApplianceFailed, Skipped, detail, run_command, step
from horus_appliance.host import elf, unpacked
from horus_appliance.languages import python_package, zig
from horus_appliance.host.architecture import ARCHITECTURES, Architecture
from horus_appliance.paths import BUILD

WORDS = "./scripts/wheel --target"
# Which machine and C library it is for is the same without optimising, which takes most of a build.
QUICK = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_DEBUG": "0", "CARGO_TARGET_DIR": str(BUILD / "python-wheels")}
LONGEST_SECONDS = 300
TALK = """
import platform, sys
import horus
from horus import _horus
from horus.messages import CmdVel, Imu
seen, sent = horus.Subscriber(CmdVel, "talk"), horus.Publisher(CmdVel, "talk")
sent.send(CmdVel(forward=0.5))
assert seen.recv() == CmdVel(forward=0.5)
assert _horus.decode_value(_horus.encode_value({"a": Imu()}))["a"]["stamp_ns"] == 0
print(f"{platform.machine()}, Python {sys.version.split()[0]}")
"""


def main() -> int:
    if not shutil.which("rustup"):
        raise Skipped("there is no rustup here, which brings Rust's library for the other machine; https://rustup.rs has it")
    with tempfile.TemporaryDirectory() as folder:
        wheels = build(Path(folder) / "wheels")
        for architecture in ARCHITECTURES.values():
            site = Path(folder) / architecture.name
            shutil.unpack_archive(wheels[architecture.machine], site, "zip")
            (talk if architecture.foreign else run_tests)(architecture, site)
    print("the wheels for both machines are for other people's systems, and work with the image's Python")
    return 0


def build(place: Path) -> dict:
    """The guide's commands, but for the folder of the wheels and the optimising; gives the wheels by their machines."""
    step("the wheels for both machines, by the commands of docs/python.md")
    guides.run(guides.commands("python.md", WORDS).replace("--out dist", f"--out {place}"), QUICK)
    wheels = {machine: wheel_of(place, machine) for machine in elf.MACHINES}
    for machine, wheel in wheels.items():
        shutil.unpack_archive(wheel, place / machine, "zip")
        module = next((place / machine / "horus").glob("_horus*.so"))
        if elf.machine_of(module) != machine:
            raise ApplianceFailed(f"the wheel for {machine} has a module for '{elf.machine_of(module)}'")
    detail(" ".join(wheel.name for wheel in wheels.values()))
    return wheels


def wheel_of(place: Path, machine: str) -> Path:
    """The wheel for a machine, which has to be for any Python from 3.11 on and for a C library no newer than the oldest that is promised."""
    wheels = list(place.glob(f"*/horus_rt-*-cp311-abi3-manylinux_2_*_{machine}.whl"))
    oldest = int(zig.GLIBC.partition(".")[2])
    if len(wheels) != 1 or any(int(minor) > oldest for minor in re.findall(r"manylinux_2_(\d+)_", wheels[0].name)):
        raise ApplianceFailed(f"there is no wheel for {machine} and glibc {zig.GLIBC}, but {sorted(path.name for path in place.rglob('*.whl'))}")
    return wheels[0]


def run_tests(architecture: Architecture, site: Path) -> None:
    """All tests of the package, with the image's Python."""
    tree = python_tree.ensure(architecture, "python3-numpy", "python3-msgpack")
    tests = python_package.BINDING / "tests"
    step(f"the tests on {run(tree, ['-c', TALK], [site], site)}")
    run(tree, ["-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", tests], [site, python_package.BINDING.parent], site)


def talk(architecture: Architecture, site: Path) -> None:
    """A program sends itself a message under the emulator."""
    tree = python_tree.ensure(architecture)
    step("a message through the other machine's wheel")
    detail(f"{run(tree, ['-c', TALK], [], site)} under {unpacked.emulator(architecture)}")


def run(tree: python_tree.Tree, arguments: list, sees: list, site: Path) -> str:
    """Runs Python with a package, on topics of its own; gives what it said."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        command = tree.command(arguments, sees, {"PYTHONPATH": site, "HORUS_SHM_DIR": topics, "HOME": topics})
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST_SECONDS, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"{tree.architecture.name}: Python ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-4000:]}")
    skipped = re.findall(r"skipped=\d+", done.stderr)
    if skipped:
        detail(f"{skipped[0]} of the tests")
    return done.stdout.strip()


if __name__ == "__main__":
    run_command(main)
