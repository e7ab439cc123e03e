"""What the Debian image and the one that BitBake built have in common, and where they differ: figures of both, and a table of them."""

import re
import struct
from pathlib import Path

from horus_appliance.console import ApplianceFailed
from horus_appliance.determinism import arms
from horus_appliance.image import sizes
from horus_appliance.image.mkosi import Image

SEED, SECONDS = 1, 10
# Fields of ext4's superblock (fs/ext4/ext4.h): blocks, free blocks and the block size's exponent over 1024, from byte 1024 on.
EXT4_SUPERBLOCK, EXT4_MAGIC = 1024, 0xEF53
# What Debian counts as one package more than once in another form, or BitBake splits off, is left as it is: names are listed beside the counts.
ROWS = {
    "packages": "packages", "kernel": "kernel", "system_bytes": "system in its slot, MB", "compressed_bytes": "compressed image, MB", "audit_score": "audit",
    "boot_instructions": "boot to the first tick, thousand million instructions", "samples": "node-load at 1 kHz in virtual time: samples",
    "misses": "misses", "p50_ns": "median, ns", "p99_ns": "p99, ns", "max_ns": "maximum, ns",
}  # fmt: skip


def figures(image: Image, packages: list) -> dict:
    """Boots an image in virtual time, and puts what it measured beside its size and its packages."""
    boot = arms.boot(arms.ARMS["rt-tuned"], image, SEED, SECONDS, faster=False)
    load = boot["rates"][arms.RATE][arms.PHASE]
    return {
        "image": image.name, "packages": sorted(packages), "kernel": boot["release"], "system_bytes": system_bytes(image),
        "compressed_bytes": sizes.compressed_bytes(image), "audit_score": boot["audit_score"], "boot_instructions": boot["boot_instructions"],
        "valid": boot["valid"], "invalid_reasons": boot["invalid_reasons"],
        **{name: load[name] for name in ("samples", "misses", "p50_ns", "p99_ns", "max_ns")},
    }  # fmt: skip


def system_bytes(image: Image) -> int:
    """What the system takes in its slot, whichever of the two file systems it has."""
    start, _ = sizes.partition(image.disk, image.system_label)
    with image.disk.open("rb") as disk:
        disk.seek(start + EXT4_SUPERBLOCK)
        block = disk.read(64)
    blocks, free, exponent, magic = struct.unpack("<4xI4xI8xI28xH", block[:58])
    return (blocks - free) * (1024 << exponent) if magic == EXT4_MAGIC else sizes.root_bytes(image)


def packages_of_manifest(folder: Path) -> list:
    """The packages that BitBake installed, from the manifest beside its image: a line of name, architecture and version each."""
    found = sorted(folder.glob("horus-image-*.rootfs.manifest"))
    if not found:
        raise ApplianceFailed(f"{folder} holds no manifest of horus-image. Build it: ./scripts/image yocto")
    return [line.split()[0] for line in found[-1].read_text().splitlines() if line.strip()]


def shown(name: str, value) -> str:
    """A figure as the table has it."""
    if name == "packages":
        return str(len(value))
    if name.endswith("_bytes"):
        return f"{value / 1e6:.0f}"
    if name == "boot_instructions":
        return f"{value / 1e9:.2f}" if value else "-"
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", str(value)) if isinstance(value, int) else str(value)


def table(debian: dict, yocto: dict) -> str:
    """Markdown, a row a figure."""
    rows = [f"| {title} | {shown(name, debian[name])} | {shown(name, yocto[name])} |" for name, title in ROWS.items()]
    return "\n".join(["| | Debian recipe | BitBake |", "|---|---|---|", *rows]) + "\n"
