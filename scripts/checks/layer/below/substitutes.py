"""Reads meta-horus/tests/substitutes: what stands in for what in a build with --substitutes."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.paths import REPOSITORY

LAYER = REPOSITORY / "meta-horus" / "tests" / "substitutes"
SECTION = re.compile(r"^# --- (.*?) -+$")
ASSIGNMENT = re.compile(r'^(?:export )?([\w/.:${}@+-]+(?:\[\w+\])?)\s*(\??[+.:]?=\+?|=)\s*"(.*)"$')


@dataclass(frozen=True)
class Setting:
    """One assignment of conf/substitutes.conf, and the heading of its part of the file."""

    section: str
    variable: str
    operator: str
    value: str


@dataclass(frozen=True)
class Stand:
    """A recipe of the layer that is built in place of another one."""

    name: str
    version: str
    instead_of: str
    wanted: str
    why: str


class Unreadable(Exception):
    """A file of the layer has a line that is none of the usual forms."""


def sources(layer: Path = LAYER) -> dict:
    """sources.toml: by recipe, what it is made of."""
    return tomllib.loads((layer / "sources.toml").read_text())


def settings(layer: Path = LAYER) -> list:
    """Every assignment of conf/substitutes.conf."""
    found, section = [], ""
    text = re.sub(r"\\\n", " ", (layer / "conf" / "substitutes.conf").read_text())
    for line in text.splitlines():
        if heading := SECTION.match(line):
            section = heading[1]
        elif line and not line.startswith(("#", "require ")):
            # A word of several lines is one line here; what BitBake makes of blanks, it makes of one.
            assignment = ASSIGNMENT.match(re.sub(r"\s+", " ", line).strip())
            if not assignment:
                raise Unreadable(f"conf/substitutes.conf: '{line[:80]}' is no assignment of the usual form: NAME = \"VALUE\"")
            found.append(Setting(section, assignment[1], assignment[2], assignment[3].strip()))
    return found


def natives(layer: Path = LAYER) -> list:
    """The native recipes that the machine's own programs stand in for."""
    text = (layer / "conf" / "machine-natives.inc").read_text()
    return sorted(re.search(r'^HORUS_MACHINE_NATIVES = "([^"]*)"', text, re.MULTILINE)[1].replace("\\", " ").split())


def stands(layer: Path = LAYER) -> list:
    """The recipes of other versions: each tells in its DESCRIPTION what it stands in for, and why."""
    found = []
    for path in sorted(layer.glob("recipes-*/*/*.bb")):
        text = path.read_text()
        told = re.search(r'^DESCRIPTION = "Stands in for (\S+) (\S+), (.*?)\.?"$', text, re.MULTILINE)
        version = re.search(r'^PV = "(.*)"$', text, re.MULTILINE)
        if told:
            found.append(Stand(path.stem.partition("_")[0], version[1] if version else "1.0", told[1], told[2], re.sub("^whose ", "its ", told[3])))
    return found


def appends(layer: Path = LAYER) -> list:
    """Recipes that are changed by an append, each with the append's first words."""
    found = []
    for path in sorted(layer.glob("recipes-*/*/*.bbappend")):
        first = path.read_text().splitlines()[:1]
        found.append((path.stem.replace("_%", "").replace("%", ""), first[0].removeprefix("#").strip() if first and first[0].startswith("#") else "changed"))
    return found
