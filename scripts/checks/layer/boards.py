"""The builds that scripts/check-layer goes through: every board of conf/image.toml, and the options that are files of meta-horus/kas."""

import re
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto.kas import DEFAULT_BOARD, FRAGMENTS

import horus_conf


@dataclass(frozen=True)
class Form:
    """What the Yocto images of all boards of one firmware have in common."""

    kernel: str
    command_line: tuple  # recipe and variable that carry it: the board's own place for it
    overrides: str  # before the MACHINE's own name
    types: tuple = ("wic.zst", "wic.bmap")
    parameters: str = ""  # behind those of conf/


FORMS = {
    # What UEFI boards have besides conf/'s parameters, oe-core's initial RAM disk reads, and no other system has it.
    "uefi": Form("linux-yocto-rt", ("horus-image", "UKI_CMDLINE"), "", parameters=" roottimeout=30 init_fatal_reboot"),
    "raspberrypi": Form("linux-raspberrypi", ("rpi-cmdline", "CMDLINE"), "rpi:"),
    "tegra": Form("linux-noble-nvidia-tegra-rt", ("l4t-launcher-extlinux", "UBOOT_EXTLINUX_KERNEL_ARGS"), "tegra:", ("tegraflash-tar.zst",)),
}
# Options are checked on the board that takes all of them; those that exclude each other in builds of their own.
OPTION_SETS = [("dev", "python", "bridge", "secure", "sdk", "cve", "ptest"), ("untuned",)]
# What an option needs besides where there is no network: cve asks for the newest lists, and which those are only a server knows.
OFFLINE = {
    "cve": "".join(f'SRCREV:pn-sbom-cve-check-update-{name}-native:forcevariable = "{"0" * 40}"\n' for name in ("cvelist", "nvd")),
}  # fmt: skip


@dataclass(frozen=True)
class Build:
    """One build: a board, perhaps with options."""

    name: str  # the board's folder in conf/machine
    layers: tuple  # below the directory of checkouts
    options: tuple = ()
    settings: str = ""  # what the options add to local.conf

    @property
    def title(self) -> str:
        return "+".join((self.name, *self.options))

    @property
    def board(self) -> horus_conf.Board:
        return horus_conf.boards()[self.name]

    @property
    def form(self) -> Form:
        return FORMS[self.board.firmware]

    @property
    def trees(self) -> list:
        """The trees of conf/ in its image."""
        return horus_conf.trees([option for option in self.options if option in horus_conf.description()["options"]])


def overrides(machine: str) -> str:
    """What a MACHINE's layer adds to OVERRIDES, lowest first."""
    board = horus_conf.boards().get(horus_conf.board_of(machine))
    return f"{'qemuall:' if machine.startswith('qemu') else ''}{FORMS[board.firmware].overrides if board else ''}{machine}"


def builds() -> list:
    """Every board without options, then the default one with each set of options."""
    core = "openembedded-core/meta"
    plain = {DEFAULT_BOARD: Build(DEFAULT_BOARD, (core, "meta-yocto/meta-yocto-bsp"))}
    for name in horus_conf.boards():
        if name != DEFAULT_BOARD:
            layers = re.findall(r"^  (meta-\S+):\n    url:", (FRAGMENTS / f"{name}.yml").read_text(), re.MULTILINE)
            plain[name] = Build(name, (core, *layers))
    with_options = [
        Build(DEFAULT_BOARD, plain[DEFAULT_BOARD].layers, options, "".join(settings(option) + OFFLINE.get(option, "") for option in options))
        for options in OPTION_SETS
    ]
    return [*plain.values(), *with_options]


def settings(option: str) -> str:
    """What an option adds to local.conf: the block of its local_conf_header."""
    return header(FRAGMENTS / f"{option}.yml")


def header(path: Path) -> str:
    """What a kas file adds to local.conf."""
    block = re.search(r"^local_conf_header:\n  \S+: \|\n((?: {4}.*\n|\n)+)", path.read_text(), re.MULTILINE)
    if not block:
        raise CannotRun(f"{path.relative_to(REPOSITORY)} has no local_conf_header of the usual form. Restore it from git.")
    return re.sub(r"^ {4}", "", block[1], flags=re.MULTILINE)
