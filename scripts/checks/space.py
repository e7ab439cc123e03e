"""How much disk the whole suite takes, asked before its first check: on a full disk, checks fail that have found nothing."""

import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.paths import BENCHMARKS, OUT, REPOSITORY, RUNTIME

# All that the checks build, fetch and keep.
FOLDERS = (OUT, RUNTIME / "target", RUNTIME / "bridge" / "target", BENCHMARKS / "target")
# What these held after a run of all checks from a clean clone (2026-11-26): 10 GiB in runtime/target, 9.6 in out and 1.1 in runtime/bridge/target.
# The last line of each such run tells it anew.
HELD_BYTES = 20.7 * 1024**3
# For what lies beside them while it runs: the caches of cargo and rustup, and /tmp. Not measured, but rounded up.
BESIDE_BYTES = 2.3 * 1024**3


def held(folders: tuple = FOLDERS) -> int:
    """How many bytes of the disk these folders take. `du` counts a file of two names once, as cargo makes them."""
    there = [str(folder) for folder in folders if folder.exists()]
    if not there:
        return 0
    # It ends badly where it may not look into a folder of root's, and counts the rest.
    said = subprocess.run(["du", "--summarize", "--total", "--block-size=1", *there], capture_output=True, text=True, check=False).stdout
    return int(said.splitlines()[-1].split()[0])


def require(folders: tuple = FOLDERS, directory: Path = REPOSITORY) -> None:
    """Refuses to start a run of all checks that would fill the disk. What earlier runs left there is not built again, and so not asked for again."""
    already, free = held(folders), shutil.disk_usage(directory).free
    missing = HELD_BYTES + BESIDE_BYTES - already - free
    if missing > 0:
        raise CannotRun(
            f"the whole suite needs {gib(HELD_BYTES + BESIDE_BYTES)} of disk: its folders hold {gib(already)} of it, {directory} has {gib(free)} free, and "
            f"{gib(missing)} are missing. Free some space, or clone the repository onto a larger disk. "
            "./scripts/test --changed runs what a change can break, and --only TEXT runs single checks: neither asks for so much."
        )


def gib(size: float) -> str:
    return f"{size / 1024**3:.1f} GiB"
