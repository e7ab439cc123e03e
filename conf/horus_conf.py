"""Reads conf/ for the builders of images: what an image consists of (image.toml), and its kernel command line.

Python's standard library only, 3.11 or newer: BitBake, mkosi's recipe and the installer beside this file import it as it is.
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

CONF = Path(__file__).resolve().parent
DESCRIPTION = "image.toml"
# What systemd calls a partition that an update may take (sysupdate.d(5)).
EMPTY_SLOT = "_empty"


class BadConf(Exception):
    """Something in conf/, or something asked of it, is wrong; the message says what to do."""


@dataclass(frozen=True)
class Program:
    """A program of the runtime: where it is installed, and cargo's names of it."""

    path: str
    package: str
    name: str


@dataclass(frozen=True)
class Vendor:
    """Who answers for an image; empty is what is not said."""

    name: str
    security: str
    support_until: str

    def os_release(self) -> dict:
        """What is said of it in os-release(5); the contact is a field of ours."""
        said = {"VENDOR_NAME": self.name, "HORUS_SECURITY_CONTACT": self.security, "SUPPORT_END": self.support_until}
        return {field: value for field, value in said.items() if value}


@dataclass(frozen=True)
class Board:
    """A folder of conf/machine."""

    name: str
    machines: list  # Yocto's MACHINE; the first is that of the board's kas file
    architecture: str  # as mkosi calls it
    firmware: str  # uefi, raspberrypi or tegra: the form of its Yocto image

    @property
    def machine(self) -> str:
        return self.machines[0]


def description() -> dict:
    """image.toml, read anew each time: a build server outlives a change."""
    try:
        return tomllib.loads((CONF / DESCRIPTION).read_text())
    except (OSError, ValueError) as error:
        raise BadConf(f"conf/{DESCRIPTION} cannot be read ({error}). Correct it, or restore it from git.") from error


def vendor() -> Vendor:
    """Who answers for the images."""
    try:
        said = Vendor(**description()["vendor"])
    except (KeyError, TypeError) as error:
        raise BadConf(f"conf/{DESCRIPTION}: [vendor] has name, security and support_until, and nothing else ({error}). Leave empty what is not known.") from error
    for field, value in said.os_release().items():
        if not isinstance(value, str) or re.search(r'["\\$`\x00-\x1f]', value):
            raise BadConf(f'conf/{DESCRIPTION}: {value!r} of [vendor] cannot be {field} of os-release. Write it in quotation marks, without " $ ` and \\.')
    if said.support_until and not is_day(said.support_until):
        raise BadConf(f"conf/{DESCRIPTION}: {said.support_until!r}, support_until of [vendor], is no day. Write it as 2031-12-31.")
    return said


def is_day(text: str) -> bool:
    """Whether it is a day in the one form whose order is that of texts."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def programs() -> list:
    """Every program of the runtime that is installed."""
    return [Program(path, **entry) for path, entry in description()["programs"].items()]


def cargo_arguments() -> list:
    """What `cargo build` is told to build them all."""
    packages = dict.fromkeys(program.package for program in programs())
    chosen = [word for program in programs() for word in ("--bin", program.name)]
    return [word for package in packages for word in ("--package", package)] + chosen


def module_arguments() -> list:
    """What `cargo build` is told to build the compiled part of the Python module."""
    return ["--package", description()["module"]["package"]]


def module_files(site: Path, target: Path) -> dict:
    """The files of the Python module by their paths on the appliance, below a folder that its Python looks into; `target` is where cargo
    left the compiled part."""
    module = description()["module"]
    folder = CONF.parent / module["folder"]
    place = site / folder.name
    files = {str(place / path.name): path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != ".so"}
    return {**files, str(place / module["extension"]): target / module["library"]}


def bridge_folder() -> Path:
    """The workspace of the bridge, in this repository."""
    return CONF.parent / description()["bridge"]["folder"]


def bridge_files(target: Path) -> dict:
    """The bridge by its path on the appliance; `target` is where cargo left it."""
    bridge = description()["bridge"]
    return {bridge["path"]: target / bridge["name"]}


def boards() -> dict:
    """Every board by its name."""
    return {name: Board(name, **entry) for name, entry in description()["boards"].items()}


def board_of(machine: str) -> str:
    """The name of the board that a MACHINE of Yocto is; empty for one that is none of ours."""
    return next((board.name for board in boards().values() if machine in board.machines), "")


def variants() -> dict:
    """The trees of each variant of the Debian recipe, by its name."""
    return {name: trees(options) for name, options in description()["variants"].items()}


def has_option(variant: str, option: str) -> bool:
    """Whether a variant of the Debian recipe has an option."""
    return option in description()["variants"][variant]


def profile(variant: str) -> str:
    """The profile of the Debian recipe that a variant is built with; empty for none."""
    return description()["profiles"].get(variant, "")


def trees(options: list = ()) -> list:
    """The trees of an image with these options."""
    found, changes = list(description()["image"]["trees"]), description()["options"]
    if unknown := set(options) - set(changes):
        raise BadConf(f"conf/{DESCRIPTION} has no option '{sorted(unknown)[0]}'; its options are {', '.join(changes)}.")
    removed = {tree for option in options for tree in changes[option].get("remove", [])}
    added = [tree for option in options for tree in changes[option].get("add", [])]
    return [tree for tree in dict.fromkeys(found + added) if tree not in removed]


def all_trees() -> list:
    """The trees of all images, with whatever options."""
    return trees([name for name, change in description()["options"].items() if "remove" not in change])


def tree_place(tree: str) -> tuple:
    """Where a tree's files lie, and below which path of the appliance they go."""
    place = description()["trees"].get(tree, {"from": f"{tree}/rootfs", "to": ""})
    return CONF / place["from"], Path(place["to"])


def tree_files(tree: str) -> dict:
    """The files of a tree by their paths on the appliance; `machine/BOARD` is the tree of a board, which most have not."""
    source, target = tree_place(tree)
    if not source.is_dir() and tree not in (f"machine/{board}" for board in boards()):
        raise BadConf(f"there is no folder {source}, of the tree '{tree}'. Correct the name, or restore the folder from git.")
    files = sorted(path for path in source.rglob("*") if path.is_file())
    return {str(target / path.relative_to(source)): path for path in files}


def cpu_split(board: str) -> dict:
    """The two CPU lists of a board, in the kernel's notation, from its one setting `housekeeping=0` or `0-K`.

    The isolated CPUs are all others: `K+1-N`, where the kernel itself reads N as the machine's last CPU, so that one
    image fits machines with any number of CPUs.
    """
    path = CONF / "machine" / board / "cpus"
    for number, line in numbered_lines(path):
        match = re.fullmatch(r"housekeeping=0(?:-(\d+))?", line)
        if not match:
            raise BadConf(f"{named(path)}:{number}: '{line}' is not understood. Write housekeeping=0, or a range that starts at 0, such as housekeeping=0-1.")
        return {"housekeeping": line.partition("=")[2], "isolated": f"{int(match[1] or 0) + 1}-N"}
    raise BadConf(f"{named(path)} has no setting. Write one line: housekeeping=0")


def kernel_command_line(board: str, tuned: bool, version: str) -> str:
    """All parameters of the board's image of this version: conf/base, then conf/machine/<board>, then, when tuned, conf/rt."""
    values = {**cpu_split(board), "version": version}
    return " ".join(parameter for path in command_line_files(board, tuned) for parameter in parameters(path, values))


def system_label(version: str) -> str:
    """The name of the partition that holds the system of this version: the one that its kernel command line names."""
    path = CONF / "base/kernel/cmdline"
    for _, line in numbered_lines(path):
        if line.startswith("root=PARTLABEL="):
            return line.removeprefix("root=PARTLABEL=").format(version=version)
    raise BadConf(f"{named(path)} has no line root=PARTLABEL=… that names the system's partition. Restore it from git.")


def command_line_files(board: str, tuned: bool) -> list:
    """The files with the parameters of the board's image, in their order."""
    files = [CONF / "base/kernel/cmdline", CONF / "machine" / board / "cmdline"]
    return [*files, CONF / "rt/kernel/cmdline"] if tuned else files


def parameters(path: Path, values: dict) -> list:
    """The kernel parameters of one file, one a line, with {housekeeping}, {isolated} and {version} filled in."""
    found = []
    for number, line in numbered_lines(path):
        try:
            found.append(line.format(**values))
        except (KeyError, ValueError, IndexError) as error:
            raise BadConf(f"{named(path)}:{number}: '{line}' has a placeholder other than {{housekeeping}}, {{isolated}} or {{version}}. Correct the line.") from error
        if re.search(r"\s", found[-1]):
            raise BadConf(f"{named(path)}:{number}: '{line}' holds more than one parameter. Write one a line.")
    return found


def numbered_lines(path: Path) -> list:
    """The lines of a conf file that say something, with their numbers; what follows '#' is the reason for people."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadConf(f"{named(path)} cannot be read ({error}). Restore it from git.") from error
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in stripped if line]


def named(path: Path) -> str:
    """A file of conf/ as people call it."""
    return str(path.relative_to(CONF.parent))
