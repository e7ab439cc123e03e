"""The boards that scripts/check-layer goes through, as kas.yml and the fragments of meta-horus/kas describe them."""

import re
from dataclasses import dataclass
from pathlib import Path

from .console import CannotRun
from .paths import REPOSITORY

FRAGMENTS = REPOSITORY / "meta-horus" / "kas"


@dataclass(frozen=True)
class Board:
    """One build: a board, perhaps with options."""

    name: str  # its folder in conf/machine
    machine: str  # MACHINE of its layer
    layers: tuple  # below the directory of checkouts
    options: tuple = ()
    settings: str = ""  # what the options add to local.conf

    @property
    def title(self) -> str:
        return "+".join((self.name, *self.options))


# Which recipe and variable carry the kernel command line: the board's own place for it.
UEFI_COMMAND_LINE = ("horus-image", "UKI_CMDLINE")
COMMAND_LINES = {
    "generic-x86-64": UEFI_COMMAND_LINE,
    "qemux86-64": UEFI_COMMAND_LINE,
    "qemuarm64": UEFI_COMMAND_LINE,
    "raspberrypi4": ("rpi-cmdline", "CMDLINE"),
    "raspberrypi5": ("rpi-cmdline", "CMDLINE"),
    "jetson-orin-nano": ("l4t-launcher-extlinux", "UBOOT_EXTLINUX_KERNEL_ARGS"),
    "jetson-agx-orin": ("l4t-launcher-extlinux", "UBOOT_EXTLINUX_KERNEL_ARGS"),
}
# What UEFI boards have besides conf/'s parameters: oe-core's initial RAM disk reads them, and no other system has it.
INITRAMFS_PARAMETERS = " roottimeout=30 init_fatal_reboot"
KERNELS = {
    "generic-x86-64": "linux-yocto-rt",
    "qemux86-64": "linux-yocto-rt",
    "qemuarm64": "linux-yocto-rt",
    "raspberrypi4": "linux-raspberrypi",
    "raspberrypi5": "linux-raspberrypi",
    "jetson-orin-nano": "linux-noble-nvidia-tegra-rt",
    "jetson-agx-orin": "linux-noble-nvidia-tegra-rt",
}
# Options are checked on the board that takes all of them; those that exclude each other in builds of their own.
OPTION_SETS = [("dev", "secure", "sdk", "cve"), ("untuned",)]
# What an option needs besides where there is no network: cve asks for the newest lists, and which those are only a server knows.
OFFLINE = {
    "cve": "".join(f'SRCREV:pn-sbom-cve-check-update-{name}-native:forcevariable = "{"0" * 40}"\n' for name in ("cvelist", "nvd")),
}  # fmt: skip


def own_parameters(board: str) -> str:
    """What a board's Yocto image has on its command line behind what conf/ says."""
    return INITRAMFS_PARAMETERS if COMMAND_LINES[board] == UEFI_COMMAND_LINE else ""


def boards() -> list:
    """Every board without options, then the default one with each set of options."""
    default = Board("generic-x86-64", value(REPOSITORY / "kas.yml", "machine"), ("openembedded-core/meta", "meta-yocto/meta-yocto-bsp"))
    plain = [default]
    for name in list(COMMAND_LINES)[1:]:
        fragment = FRAGMENTS / f"{name}.yml"
        layers = tuple(re.findall(r"^  (meta-\S+):\n    url:", fragment.read_text(), re.MULTILINE))
        plain.append(Board(name, value(fragment, "machine"), ("openembedded-core/meta", *layers)))
    return plain + [
        Board(default.name, default.machine, default.layers, options, "".join(settings(option) + OFFLINE.get(option, "") for option in options))
        for options in OPTION_SETS
    ]


def value(path: Path, key: str) -> str:
    """A setting at the left edge of one of our kas files, which keep this form."""
    found = re.search(rf"^{key}: (\S+)$", path.read_text(), re.MULTILINE)
    if not found:
        raise CannotRun(f"{path.relative_to(REPOSITORY)} has no line '{key}: …'. Restore it from git.")
    return found[1]


def settings(option: str) -> str:
    """What an option adds to local.conf: the block of its local_conf_header."""
    path = FRAGMENTS / f"{option}.yml"
    block = re.search(r"^local_conf_header:\n  \S+: \|\n((?: {4}.*\n|\n)+)", path.read_text(), re.MULTILINE)
    if not block:
        raise CannotRun(f"{path.relative_to(REPOSITORY)} has no local_conf_header of the usual form. Restore it from git.")
    return re.sub(r"^ {4}", "", block[1], flags=re.MULTILINE)
