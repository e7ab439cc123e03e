"""The checkouts of upstream layers that scripts/check-layer works with: are they there, and are they what they should be."""

from dataclasses import dataclass
from pathlib import Path
import re
import subprocess

from horus_appliance.console import CannotRun
from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto.kas import LOCK_COMMAND

LOCK = REPOSITORY / "kas.lock.yml"
SERIES = "wrynose"


@dataclass(frozen=True)
class Source:
    """One upstream repository: where it comes from and how its checkout is told from another folder."""

    name: str
    url: str
    branch: str
    marker: str  # a file that only this repository has
    says: str  # what that file says when the release is the right one


SOURCES = [
    Source("bitbake", "https://git.openembedded.org/bitbake", "2.18", "lib/bb/__init__.py", r'__version__ = "2\.18\.'),
    Source("openembedded-core", "https://git.openembedded.org/openembedded-core", SERIES, "meta/conf/layer.conf", rf'LAYERSERIES_CORENAMES = "{SERIES}"'),
    Source("meta-yocto", "https://git.yoctoproject.org/meta-yocto", SERIES, "meta-yocto-bsp/conf/layer.conf", rf'LAYERSERIES_COMPAT_yoctobsp = ".*\b{SERIES}\b'),
    Source("meta-raspberrypi", "https://github.com/agherzan/meta-raspberrypi", SERIES, "conf/layer.conf", rf'LAYERSERIES_COMPAT_raspberrypi = ".*\b{SERIES}\b'),
    Source("meta-tegra", "https://github.com/OE4T/meta-tegra", SERIES, "conf/layer.conf", rf'LAYERSERIES_COMPAT_tegra = ".*\b{SERIES}\b'),
]  # fmt: skip


def require(layers: Path) -> dict:
    """The commit of each checkout by its name, or an end that says which is missing or wrong and what to do."""
    if not layers.is_dir():
        raise CannotRun(f"{layers} is no directory. Give the one that holds {', '.join(source.name for source in SOURCES)}.")
    problems, commits = [], {}
    for source in SOURCES:
        problem = complaint(source, layers / source.name)
        if problem:
            problems.append(problem)
        else:
            commits[source.name] = commit(layers / source.name)
    for source in SOURCES:
        pinned, found = pins()[source.name], commits.get(source.name)
        if found and found != pinned:
            problems.append(
                f"{layers / source.name} is at {found[:12]}, and {LOCK.name} pins {pinned[:12]}: {to_the_pin(source, layers / source.name)}\n"
                f"    (or, to test newer layers, pin them first: {LOCK_COMMAND})"
            )
    if problems:
        raise CannotRun("\n".join(["the layers are not what meta-horus is made for:", *(f"  - {problem}" for problem in problems)]))
    return commits


def complaint(source: Source, checkout: Path) -> str:
    """What is wrong with a checkout and its remedy; empty when nothing is."""
    clone = f"git init --quiet {checkout} && {to_the_pin(source, checkout)}"
    if not checkout.exists():
        return f"{checkout} is missing: {clone}"
    try:
        text = (checkout / source.marker).read_text()
    except OSError:
        return f"{checkout} is not {source.name} (it has no {source.marker}): remove it, then {clone}"
    if not re.search(source.says, text):
        return f"{checkout} is not of the release '{source.branch}' ({source.marker} says otherwise): {to_the_pin(source, checkout)}"
    return ""


def to_the_pin(source: Source, checkout: Path) -> str:
    """The commands that bring a checkout, also a shallow or an empty one, to the commit of the lock file."""
    pinned = pins()[source.name]
    return f"git -C {checkout} fetch --depth 1 {source.url} {pinned} && git -C {checkout} checkout --quiet {pinned}"


def commit(checkout: Path) -> str:
    """The commit of a checkout; empty where it is an unpacked archive."""
    command = ["git", "-c", f"safe.directory={checkout.resolve()}", "-C", str(checkout), "rev-parse", "HEAD"]
    if not (checkout / ".git").exists():
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def pins() -> dict:
    """The commit of each repository in kas.lock.yml."""
    return dict(re.findall(r"^ {4}(\S+):\n {6}commit: ([0-9a-f]{40})$", LOCK.read_text(), re.MULTILINE))
