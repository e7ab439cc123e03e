"""What a disk would start after a power cut: the entry that the boot loader chooses, whether each byte of it is there, and its system's.

systemd-boot starts the newest version whose tries are not used up. It reads the version in a kernel image, which is that of its name here, and
verifies nothing. So a version that it chooses has to be whole.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from checks.boot import slots
from horus_appliance.flash import settings
from horus_appliance.image import mkosi, sizes
from horus_appliance.image.bundle import digest

import horus_conf

ENTRY = re.compile(r"^(horus_([0-9.]+)(?:\+([0-9]+)(?:-[0-9]+)?)?\.efi)$")
CHUNK = 1 << 20


@dataclass(frozen=True)
class Version:
    """What a version's two parts are, by their SHA-256."""

    kernel: str
    root: str
    bytes: int  # of the root


def started(disk: Path, image: mkosi.Image, versions: dict) -> tuple:
    """The version that a disk starts, and what is wrong with it, in words; `versions` are those that may be there, by their numbers."""
    files = [line.rpartition("/")[2] for line in settings.mtools(disk, "mdir", ["-b"], ["::/EFI/Linux/"]).splitlines()]
    names = [ENTRY.match(file) for file in files if file.lower().endswith(".efi")]
    if None in names:
        return "", f"a kernel image has another name than an update gives: {files}"
    # One whose tries are used up comes behind all others.
    entries = sorted((found[3] != "0", tuple(map(int, found[2].split("."))), found[1], found[2]) for found in names)
    copy = disk.with_name("kernel")
    for *_, file, number in reversed(entries):
        settings.mtools(disk, "mcopy", ["-n", "-o"], [f"::/EFI/Linux/{file}", str(copy)])
        # Where it reads no version, there is no entry.
        if copy.stat().st_size:
            break
    else:
        return "", "no kernel image is there"
    if number not in versions:
        return number, "it is none that was installed"
    if digest(copy) != versions[number].kernel:
        return number, f"its kernel image {file} is not whole"
    places = [start for name, start, _ in slots.layout(disk, image) if name == horus_conf.system_label(number)]
    if len(places) != 1:
        return number, f"{len(places)} partitions are named {horus_conf.system_label(number)}"
    if root_digest(disk, places[0] * sizes.SECTOR, versions[number].bytes) != versions[number].root:
        return number, "its system is not whole"
    return number, ""


def root_digest(disk: Path, start: int, left: int) -> str:
    digest = hashlib.sha256()
    with disk.open("rb") as stream:
        stream.seek(start)
        while left and (data := stream.read(min(CHUNK, left))):
            digest.update(data)
            left -= len(data)
    return digest.hexdigest()
