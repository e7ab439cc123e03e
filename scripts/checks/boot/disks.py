"""What the boot tests do to a disk before it is booted."""

import os
import subprocess
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from horus_appliance.host import system
from horus_appliance.image.sizes import SECTOR, partition
from horus_appliance.paths import CONF

DATA_PARTITION = CONF / "base/rootfs/usr/lib/horus/data-partition"


@contextmanager
def mounted(file: Path):
    """Lets conf/base's data-partition mount the copy of a data partition, as a boot does; gives the state that it tells, and the place."""
    run = file.parent / "run"
    made = subprocess.run(["losetup", "--find", "--show", str(file)], capture_output=True, text=True, check=True)
    environment = {**os.environ, "HORUS_RUN": str(run), "HORUS_PARTITION": made.stdout.strip()}
    try:
        subprocess.run([DATA_PARTITION, "mount"], env=environment, check=True, capture_output=True)
        yield dict(line.split("=", 1) for line in (run / "data").read_text().splitlines()), run / "disk"
    finally:
        subprocess.run(["umount", "--quiet", run / "disk"], check=False)
        subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@contextmanager
def another(disk: Path):
    """A copy of a disk with the identity of another one, as that of another build has."""
    with tempfile.TemporaryDirectory(dir=disk.parent) as directory:
        copy = Path(directory) / "other.raw"
        subprocess.run(["cp", "--sparse=always", disk, copy], check=True)
        with copy.open("r+b") as file:
            for place in (SECTOR, copy.stat().st_size - SECTOR):  # both headers of the partition table (UEFI specification, 5.3.2)
                file.seek(place)
                header = bytearray(file.read(92))
                header[56:72] = bytes(16 * [0x5A])
                header[16:20] = bytes(4)
                header[16:20] = zlib.crc32(header).to_bytes(4, "little")
                file.seek(place)
                file.write(header)
        yield copy


def damage_superblock(disk: Path) -> None:
    """Random bytes over the first 64 KiB of the data partition."""
    start, _ = partition(disk, "horus-data")
    with disk.open("r+b") as stream:
        stream.seek(start)
        stream.write(os.urandom(64 * 1024))


def debugfs(disk: Path, commands: list) -> str:
    """What debugfs answers about the data partition of a disk; it may write."""
    system.ensure_command("debugfs", "e2fsprogs")
    start, _ = partition(disk, "horus-data")
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    done = subprocess.run(
        ["debugfs", "-w", "-f", "-", f"{disk}?offset={start}"], input="\n".join(commands), text=True, capture_output=True, check=True, env=environment
    )
    return done.stdout + done.stderr


def write_into_data(disk: Path, path: str, text: str) -> None:
    """Adds a file to the data partition, whose folders are made where they are missing."""
    *folders, name = path.split("/")
    with tempfile.NamedTemporaryFile("w") as source:
        source.write(text)
        source.flush()
        debugfs(disk, [line for folder in folders for line in (f"mkdir {folder}", f"cd {folder}")] + [f"write {source.name} {name}"])


def make_swap(disk: Path) -> None:
    """Something else than a file system of ours in the data partition: it begins as swap space does (mkswap(8), pages of 4 KiB)."""
    start, size = partition(disk, "horus-data")
    header = (1).to_bytes(4, "little") + (size // 4096 - 1).to_bytes(4, "little")
    with disk.open("r+b") as stream:
        stream.seek(start)
        stream.write(bytes(1024) + header + bytes(4096 - 1024 - len(header) - 10) + b"SWAPSPACE2")
