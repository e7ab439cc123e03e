"""Lays out, in a directory of its own, all that goes over the distribution's packages to make them the appliance: from conf/ and
cargo's programs, or from packages that another builder made of the same."""

import subprocess
import sys
from pathlib import Path

from horus_appliance.console import CannotRun, detail, step
from horus_appliance.host import system
from horus_appliance.host.architecture import Architecture
from horus_appliance.image import keys, runtime
from horus_appliance.paths import BUILD, CONF


# Where Debian's Python looks for modules of packages.
SITE = "usr/lib/python3/dist-packages"


def stage(trees: list, built: runtime.Built, architecture: Architecture, name: str) -> Path:
    """The overlay from trees of conf/ and what cargo left in a directory, laid out by conf/'s installer."""
    overlay = BUILD / "overlay" / name
    system.remove_tree(overlay)
    parts = [*trees, f"machine/{architecture.board}"]
    module = ["--module", built.module, "--site", SITE] if built.module else []
    bridge = ["--bridge", built.bridge] if built.bridge else []
    subprocess.run([sys.executable, CONF / "install", "--destdir", overlay, "--programs", built.programs, *module, *bridge, *parts], check=True)
    return overlay


def add_keys(overlay: Path, public: list) -> None:
    """Puts the keys by which the image takes updates into it; with none, it takes none."""
    folder = overlay / keys.KEYS
    if public:
        subprocess.run(system.as_root(["install", "-D", "--mode=644", f"--target-directory={folder}", *map(str, public)]), check=True)


def stage_packages(trees: list, directory: Path, architecture: Architecture, name: str) -> Path:
    """The overlay from the packages of a directory (such as BitBake's deploy/deb), unpacked as they are."""
    found = find_packages(trees, directory, architecture)
    step(f"unpacking {len(found)} packages of {directory} in place of conf/ and cargo's programs")
    overlay = BUILD / "overlay" / name
    system.remove_tree(overlay)
    overlay.mkdir(parents=True)
    for package in found:
        detail(str(package.relative_to(directory)))
        command = system.as_root(["dpkg-deb", "--extract", str(package), str(overlay)])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotRun(f"{package} cannot be unpacked: {done.stderr.strip()}\nBuild it again.")
    # The root of a tree that BitBake packed is everybody's to write; a package manager leaves the directories that are there alone.
    subprocess.run(system.as_root(["chmod", "755", str(overlay)]), check=True)
    return overlay


def find_packages(trees: list, directory: Path, architecture: Architecture) -> list:
    """The packages that make an image of these trees, one of each name, below `directory`."""
    kinds = ("all", architecture.debian_name)
    wanted = ["horus", "horus-board", *(f"horus-conf-{tree}" for tree in trees)]
    found = []
    for name in wanted:
        files = sorted(path for kind in kinds for path in directory.rglob(f"{name}_*_{kind}.deb"))
        if not files:
            raise CannotRun(
                f"{directory} has no package '{name}' for {architecture.debian_name} or for all ({name}_VERSION_{kinds[1]}.deb). "
                f"Build it: bitbake {'horus-conf' if name.startswith('horus-conf') else name}, with PACKAGE_CLASSES = \"package_deb\"."
            )
        if len(files) > 1:
            several = "\n".join(f"    {path.relative_to(directory)}" for path in files)
            raise CannotRun(f"{directory} has more than one package '{name}':\n{several}\nName a directory with one of each, for one board.")
        found += files
    return found
