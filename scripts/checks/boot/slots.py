"""Puts another version into the second slot of a disk, as an update would: the system, its label, and a kernel image that names it."""

import json
import re
import subprocess
from pathlib import Path

from horus_appliance.host import builder
from horus_appliance.image import pe, sizes
from horus_appliance.image.mkosi import Image
from horus_appliance.paths import CONF

import horus_conf

SECOND = 3  # the second slot's number among the partitions
CHUNK = 1 << 20


def fill_second(disk: Path, image: Image, version: str, parameters: str = "") -> None:
    """Copies the first slot's system into the second as `version`, whose kernel image gets `parameters` more.

    Only the names are of that version: the system says of itself what the image says.
    """
    copy_system(disk, image)
    label(disk, image, {SECOND: horus_conf.system_label(version)})
    start, _ = sizes.partition(disk, "horus-esp")
    run(image, ["mcopy", "-i", f"{disk}@@{start}", kernel_image(disk.parent, image, version, parameters), "::/EFI/Linux/"])


def label(disk: Path, image: Image, names: dict) -> None:
    """Names partitions by their numbers."""
    for number, name in names.items():
        run(image, ["sfdisk", "--quiet", "--part-label", disk, str(number), name])


def make_foreign(disk: Path, image: Image, number: int) -> None:
    """Makes a partition one of another system, by its type (swap)."""
    run(image, ["sfdisk", "--quiet", "--part-type", disk, str(number), "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F"])


def layout(disk: Path, image: Image) -> list:
    """The partitions of a disk as (name, first sector, sectors), as sfdisk tells them."""
    table = json.loads(run(image, ["sfdisk", "--json", disk]))["partitiontable"]
    return [(part["name"], part["start"], part["size"]) for part in table["partitions"]]


def grow(disk: Path, image: Image) -> None:
    """What systemd-repart does at boot, by the definitions that the image holds, on a disk that has room."""
    definitions = CONF / "base/rootfs/usr/lib/repart.d"
    run(image, ["systemd-repart", "--dry-run=no", "--no-pager", f"--definitions={definitions}", disk])


def copy_system(disk: Path, image: Image) -> None:
    """Copies the bytes of the first slot's file system into the second slot."""
    (source, _), (target, _), left = sizes.partition(disk, image.system_label), sizes.partition(disk, horus_conf.EMPTY_SLOT), sizes.root_bytes(image)
    with disk.open("r+b") as stream:
        while left:
            stream.seek(source)
            data = stream.read(min(CHUNK, left))
            stream.seek(target)
            stream.write(data)
            source, target, left = source + len(data), target + len(data), left - len(data)


def kernel_image(directory: Path, image: Image, version: str, parameters: str) -> Path:
    """Makes the unified kernel image of `version` out of the image's own, whose command line and version it changes.

    systemd-boot starts the newest of several, by the version that stands in the kernel image itself.
    """
    command_line = pe.section(image.unified_kernel, ".cmdline").replace(f"PARTLABEL={image.system_label}", f"PARTLABEL={horus_conf.system_label(version)}")
    release = directory / "os-release"
    release.write_text(re.sub(r"^IMAGE_VERSION=.*$", f'IMAGE_VERSION="{version}"', pe.section(image.unified_kernel, ".osrel"), flags=re.MULTILINE))
    made = directory / f"horus_{version}.efi"
    run(image, [
        "ukify", "build", f"--linux={image.kernel}", f"--initrd={image.initrd}", f"--os-release=@{release}",
        f"--cmdline={command_line} {parameters}", f"--output={made}",
    ])  # fmt: skip
    return made


def run(image: Image, command: list) -> str:
    """Runs a program of the builder, and gives what it printed."""
    done = subprocess.run(builder.command(image.architecture, [str(word) for word in command]), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed: {done.stderr or done.stdout}")
    return done.stdout
