"""How large an image is: its system, what a download of it takes, and its packages."""

import json
import struct
import subprocess
from pathlib import Path

from horus_appliance.console import ApplianceFailed
from horus_appliance.host import system
from horus_appliance.image.mkosi import Image

SECTOR = 512
EROFS_SUPERBLOCK, EROFS_MAGIC = 1024, 0xE0F5E1E2
# zstd's -19 saves two megabytes more and takes minutes.
LEVEL = "-10"


def partition(disk: Path, name: str) -> tuple:
    """Where a partition of an image lies, as (first byte, bytes)."""
    command = ["partx", "--raw", "--noheadings", "--output", "NAME,START,SECTORS", str(disk)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (found,) = [line.split() for line in listing.splitlines() if line.split()[0] == name]
    return int(found[1]) * SECTOR, int(found[2]) * SECTOR


def root_bytes(image: Image) -> int:
    """The size of the system in its slot: what the superblock of its file system says (Documentation/filesystems/erofs.rst)."""
    start, _ = partition(image.disk, image.system_label)
    with image.disk.open("rb") as disk:
        disk.seek(start + EROFS_SUPERBLOCK)
        magic, exponent, blocks = struct.unpack("<I8xB23xI", disk.read(40))
    if magic != EROFS_MAGIC:
        raise ApplianceFailed(f"{image.disk}: the partition {image.system_label} holds no EROFS. Build the image again: ./scripts/image debian --fresh")
    return blocks << exponent


def compressed_bytes(image: Image) -> int:
    """What the image takes as a download; ./scripts/flash takes one with its block map beside it. Counted once an image."""
    memory = image.directory / "compressed.bytes"
    if not memory.is_file():
        system.ensure_command("zstd", "zstd")
        with subprocess.Popen(["zstd", "--quiet", LEVEL, "--threads=0", "--stdout", str(image.disk)], stdout=subprocess.PIPE) as process:
            size = sum(len(data) for data in iter(lambda: process.stdout.read(1 << 20), b""))
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, "zstd")
        memory.write_text(f"{size}\n")
    return int(memory.read_text())


def package_bytes(image: Image) -> dict:
    """The bytes of each package's files in the image, largest first (recipes/debian/mkosi.finalize.d/30-sizes)."""
    return json.loads((image.directory / "packages.json").read_text())


def describe(image: Image) -> str:
    """Both sizes, in one line."""
    return f"system {root_bytes(image) / 1e6:.0f} MB, compressed image {compressed_bytes(image) / 1e6:.0f} MB"
