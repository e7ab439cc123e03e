"""Reads the partition layouts (files/wic/*.wks.in) as wic does, and holds them against what conf/ says of partitions."""

import argparse
import configparser
import re
import shlex
from pathlib import Path

from horus_appliance.image import mkosi
from horus_appliance.paths import CONF

import horus_conf

# wic's own commands and options (wic 0.3, of Yocto 6.0); what is not here, wic would refuse in the last minute of a long build.
FLAGS = "active hidden mbr no-fstab-update no-table use-label use-uuid".split()
VALUES = """
    align change-directory exclude-path extra-filesystem-space extra-partition-space fixed-size fsoptions fspassno fstype fsuuid
    include-path label mkfs-extraopts offset ondisk ondrive overhead-factor part-name part-type rootfs-dir size source sourceparams
    system-id type uuid
""".split()
BOOTLOADER = "append configfile diskid ptable source timeout".split()
CHOICES = {
    "source": "bootimg_efi bootimg_partition bootimg_pcbios empty extra_partition rawcopy rootfs".split(),
    "fstype": "btrfs erofs ext2 ext3 ext4 f2fs none squashfs swap vfat".split(),
    "ptable": "gpt gpt-hybrid msdos".split(),
}


class Parser(argparse.ArgumentParser):
    """Raises what it refuses, instead of ending the program."""

    def __init__(self, flags: list, values: list):
        super().__init__(add_help=False, allow_abbrev=False)
        for name in flags:
            self.add_argument(f"--{name}", action="store_true")
        for name in values:
            self.add_argument(f"--{name}", choices=CHOICES.get(name), action="append" if name in ("exclude-path", "include-path") else "store")

    def error(self, message: str):
        raise ValueError(message)


def read(path: Path, variables: dict) -> tuple:
    """The partitions, the boot loader line and the problems of a layout; `variables` are BitBake's, for ${NAME}."""
    part, bootloader = Parser(FLAGS, VALUES), Parser([], BOOTLOADER)
    part.add_argument("mountpoint", nargs="?")
    known = {"part": part, "bootloader": bootloader}
    found, problems = {"part": [], "bootloader": []}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path.name}:{number}"
        for name in re.findall(r"\$\{(\w+)\}", line):
            if not variables.get(name):
                problems.append(f"{place}: ${{{name}}} is not set in the distribution's configuration")
        words = shlex.split(re.sub(r"\$\{(\w+)\}", lambda match: variables.get(match[1]) or "1M", line), comments=True)
        if words and words[0] not in known:
            problems.append(f"{place}: wic knows no command '{words[0]}'; write part or bootloader")
        elif words:
            try:
                found[words[0]].append(known[words[0]].parse_args(words[1:]))
            except ValueError as error:
                problems.append(f"{place}: {error}")
    if len(found["bootloader"]) != 1:
        problems.append(f"{path.name}: {len(found['bootloader'])} bootloader lines; there has to be one, which names the partition table")
    return found["part"], found["bootloader"][0] if found["bootloader"] else None, problems


def problems_of(path: Path, variables: dict) -> list:
    """What is wrong with a layout, in itself and for conf/."""
    partitions, bootloader, problems = read(path, variables)
    names = [part.part_name for part in partitions]
    for name in {name for name in names if names.count(name) > 1}:
        problems.append(f"{path.name}: partition name '{name}' stands twice, and root= finds partitions by it")
    for part in partitions:
        for size in (part.fixed_size, part.size):
            if size and not re.fullmatch(r"\d+[kKMGsS]?", size):
                problems.append(f"{path.name}: size '{size}' is not understood by wic; write it as 512M or 2G")
    if bootloader and bootloader.ptable == "msdos":
        problems.append(f"{path.name}: an MBR has no partition names, by which conf/base finds root and data; use gpt or gpt-hybrid")
    for label, file in sorted(wanted_labels().items()):
        if label not in names:
            problems.append(f"{path.name}: {file} names the partition '{label}', which is not in the layout")
    first, second = horus_conf.system_label(mkosi.version()), horus_conf.EMPTY_SLOT
    slots = [part for part in partitions if part.part_name in (first, second)]
    if [part.part_name for part in slots] != [first, second] or len({(part.fixed_size, part.part_type) for part in slots}) != 1:
        problems.append(f"{path.name}: there have to be two slots for the system, {first} and {second}, of one fixed size and one type, for updates")
    return problems + too_small(path, partitions)


def too_small(path: Path, partitions: list) -> list:
    """Partitions that are smaller than conf/'s definitions of the same place say: systemd-repart would refuse all that is asked of it."""
    definitions = sorted((CONF / "base/rootfs/usr/lib/repart.d").glob("*.conf"))
    if len(definitions) != len(partitions):
        return [f"{path.name}: {len(partitions)} partitions, and {len(definitions)} in conf/base's repart.d, which would make what it misses"]
    found = []
    for definition, part in zip(definitions, partitions, strict=True):
        least = minimum(definition)
        if part.fixed_size and size_bytes(part.fixed_size) < size_bytes(least):
            found.append(f"{path.name}: {part.part_name} has {part.fixed_size}, and {definition.name} wants {least}: systemd-repart would let nothing grow")
    return found


def minimum(definition: Path) -> str:
    """SizeMinBytes of a partition's definition for systemd-repart."""
    reader = configparser.ConfigParser(interpolation=None, strict=False)
    reader.optionxform = str
    reader.read_string(definition.read_text())
    return reader["Partition"]["SizeMinBytes"]


def size_bytes(text: str) -> int:
    """A size as wic and systemd-repart write it, in bytes; 0 for one that is not understood, of which problems_of tells."""
    match = re.fullmatch(r"(\d+)([kKMG])", text)
    return int(match[1]) * 1024 ** (" KMG".index(match[2].upper())) if match else 0


def wanted_labels() -> dict:
    """Partition names that conf/ relies on, and where."""
    found = {}
    script = CONF / "base/rootfs/usr/lib/horus/data-partition"
    for label in re.findall(r'^names="([\w-]+)', script.read_text(), re.MULTILINE):
        found[label] = str(script.relative_to(CONF.parent))
    return found | {horus_conf.system_label(mkosi.version()): "conf/base/kernel/cmdline"}
