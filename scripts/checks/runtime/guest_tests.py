"""Builds the runtime's own tests for an architecture and puts them on a disk, to be run inside a virtual machine.

They run on a real kernel there, with its futexes, its /proc and two CPUs, which qemu-user has not. What they do not show is the
order of memory accesses: no emulator is as weakly ordered as the hardware; the loom models are what covers that.
"""

import json
import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import Architecture
from horus_appliance.image import runtime
from horus_appliance.paths import BUILD, REPOSITORY, RUNTIME, cargo_target

import horus_conf

PACKAGES = ["horus-sys", "horus-shm", "horus-measure", "horus", "horus-nodes"]
DISK = "horus-tests"  # the disk's serial number, by which the guest finds it
HERE = Path(__file__).resolve().parents[1] / "boot" / "guest"

# Folders that some tests read, at the paths where the compiler saw them.
READ_BY_TESTS = ["conf", "runtime/sys/src", "runtime/shm/src", "runtime/horus/src"]


def build(architecture: Architecture) -> dict:
    """Compiles the tests as `cargo test` does; returns the programs by their names."""
    step(f"building the tests of {' and '.join(PACKAGES)} for {architecture.name}")
    arguments, more = runtime.cross(architecture) if architecture.foreign else ([], {})
    what = [word for package in PACKAGES for word in ("--package", package)]
    command = ["cargo", "test", "--locked", "--no-run", "--lib", "--tests", *what, *arguments,
               "--target-dir", str(cargo_target()), "--message-format=json-render-diagnostics"]  # fmt: skip
    done = subprocess.run(command, cwd=RUNTIME, env={**runtime.clean_environment(), **more}, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun("the runtime's tests do not build; the compiler's message is above.")
    made = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        f"{Path(artifact['manifest_path']).parent.name}-{artifact['target']['name']}": Path(artifact["executable"])
        for artifact in made
        if artifact["reason"] == "compiler-artifact" and artifact["profile"]["test"] and artifact["executable"]
    }


def make_disk(architecture: Architecture) -> Path:
    """The disk: the tests, the nodes that some of them start, and the script that runs all of them."""
    tests, programs = build(architecture), runtime.build(architecture).programs
    staged = BUILD / DISK / architecture.name
    system.remove_tree(staged)
    for name, program in tests.items():
        put(program, staged / "tests/deps" / name)
    for program in horus_conf.programs():
        put(programs / program.name, staged / "tests" / program.name)
    put(HERE / "run-tests", staged / "run-tests")
    for folder in READ_BY_TESTS:
        shutil.copytree(REPOSITORY / folder, staged / str(REPOSITORY / folder).lstrip("/"))
    (staged / "folders").write_text("".join(f"{REPOSITORY / folder}\n" for folder in READ_BY_TESTS))
    disk = staged.with_suffix(".raw")
    disk.unlink(missing_ok=True)
    subprocess.run(builder.command(architecture, ["mkfs.erofs", "--quiet", str(disk), str(staged)]), check=True, stdout=subprocess.DEVNULL)
    return disk


def put(program: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(program, place)
