"""How large an image is: its system partition, what a download of it takes, and its packages."""

import json
import struct
import subprocess

from horus_appliance.host import system
from horus_appliance.image.mkosi import Image

SECTOR = 512
ROOT = "horus-root"
# zstd's -19 saves two megabytes more and takes minutes.
LEVEL = "-10"


def root_bytes(image: Image) -> int:
    """The size of the system partition, from the disk's GUID partition table (UEFI specification, 5.3)."""
    with image.disk.open("rb") as disk:
        disk.seek(SECTOR)
        header = disk.read(92)
        first, count, length = struct.unpack_from("<QII", header, 72)
        disk.seek(first * SECTOR)
        entries = [disk.read(length) for _ in range(count)]
    for entry in entries:
        start, end = struct.unpack_from("<QQ", entry, 32)
        if entry[56:128].decode("utf-16-le").rstrip("\0") == ROOT:
            return (end - start + 1) * SECTOR
    raise ValueError(f"{image.disk} has no partition {ROOT}")


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
    return f"system partition {root_bytes(image) / 1e6:.0f} MB, compressed image {compressed_bytes(image) / 1e6:.0f} MB"
