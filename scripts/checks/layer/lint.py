"""Lets oelint-adv look over the recipes. What it may say is listed below with the reason; all else is a problem, and so is an entry
of the list that nothing matches any more."""

import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatch

from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto import tools
from horus_appliance.yocto.tools import LAYER

RELEASE = "wrynose"
SUFFIXES = (".bb", ".bbappend", ".inc", ".bbclass", ".conf")


@dataclass(frozen=True)
class Accepted:
    """A rule whose findings are right by the book and wrong here."""

    rule: str  # with * as wildcard
    files: str  # below meta-horus, with * as wildcard
    reason: str
    message: str = "*"


ACCEPTED = [
    Accepted("oelint.var.mandatoryvar.HOMEPAGE", "recipes-horus/*", "the project has no public address yet, and none is invented"),
    Accepted("oelint.var.suggestedvar.BUGTRACKER", "*", "the same"),
    Accepted("oelint.var.suggestedvar.CVE_PRODUCT", "*", "no CVE was ever filed against a product of this name, and another's must not match"),
    Accepted("oelint.var.suggestedvar.SECTION", "recipes-core/*", "an image or a group of packages is in no section of a package feed"),
    Accepted("oelint.var.bbclassextend", "recipes-horus/*", "the programs run on the appliance; a build has no use for them"),
    Accepted("oelint.file.underscores", "recipes-horus/*", "the version is that of the Rust workspace, read from there and not written a second time"),
    Accepted("oelint.vars.fileextrapaths", "recipes-horus/*", "the sources lie in this very repository, outside of the layer"),
    Accepted("oelint.vars.outofcontext", "recipes-horus/*", "the same", "FILESEXTRAPATHS*"),
    Accepted("oelint.vars.srcurifile", "recipes-horus/*crates.inc", "sources are local and come first, crates follow in a file that is generated"),
    Accepted("oelint.var.filesoverride", "recipes-horus/horus-*/*", "a package holds exactly the files of its tree of conf/, not the usual folders besides"),
    Accepted("oelint.vars.pkgspecific.*", "recipes-horus/horus-conf/*", "packages are named by ${PN}-TREE, which the linter does not expand"),
    Accepted("oelint.vars.specific", "recipes-horus/horus-conf/*", "the same"),
    Accepted("oelint.func.specific", "*.bbappend", "horus-os is the override of our distribution (DISTROOVERRIDES), which the linter does not read", "*horus-os*"),
    Accepted("oelint.vars.layerconf", "conf/layer.conf", "where the repository lies is known here only, and every recipe needs it", "HORUS_REPOSITORY*"),
    Accepted("oelint.vars.mispell", "dynamic-layers/raspberrypi/*", "a variable of meta-raspberrypi", "'CMDLINE'*"),
    Accepted("oelint.vars.mispell.unknown", "recipes-core/os-release/*", "variables of openembedded-core's os-release, and systemd's names of fields"),
    Accepted("oelint.vars.inconspaces", "conf/layer.conf", "BBFILES_DYNAMIC is a list over several lines, as in openembedded-core"),
    Accepted("oelint.vars.notneededspace", "conf/layer.conf", "the same"),
]  # fmt: skip


def files() -> list:
    """What is looked over: the layer without the layers of its own tests, which no build of a user reads."""
    return sorted(path for path in LAYER.rglob("*") if path.suffix in SUFFIXES and "tests" not in path.relative_to(LAYER).parts)


def findings(paths: list) -> list:
    """What oelint-adv says, as (file below meta-horus, line, rule, message)."""
    # homepageping asks the network for every address.
    command = [
        tools.ensure() / "oelint-adv", "--quiet", "--release", RELEASE, "--suppress", "oelint.vars.homepageping",
        "--messageformat", "{path}|{line}|{id}|{msg}", *paths,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    found = []
    for line in dict.fromkeys((done.stdout + done.stderr).splitlines()):
        if match := re.fullmatch(r".*meta-horus/(.+?)\|(\d+)\|(\S+?)\|(.*?)(?: \[branch:\w+\])?", line):
            found.append(match.groups())
        elif line.strip():
            found.append(("", "0", "oelint-adv itself", line))
    if not re.fullmatch("[01]", str(done.returncode)):
        found.append(("", "0", "oelint-adv itself", f"ended with status {done.returncode}"))
    return found


def matches(accepted: Accepted, finding: tuple) -> bool:
    path, _, rule, message = finding
    return fnmatch(rule, accepted.rule) and fnmatch(path, accepted.files) and fnmatch(message, accepted.message)


def judge(found: list, accepted: list) -> list:
    """The problems among the findings, and the entries of the list that are not needed."""
    problems = [
        f"meta-horus/{path}:{line}: {rule}: {message}" for path, line, rule, message in found
        if not any(matches(entry, (path, line, rule, message)) for entry in accepted)
    ]  # fmt: skip
    unused = [entry for entry in accepted if not any(matches(entry, finding) for finding in found)]
    return problems + [f"lint.py: nothing needs the entry {entry.rule} for {entry.files} any more. Remove it." for entry in unused]


def problems() -> list:
    return judge(findings(files()), ACCEPTED)
