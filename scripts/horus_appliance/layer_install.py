"""What the recipes of meta-horus install into an image, without building anything: python3 -m horus_appliance.layer_install MACHINE
[KAS FILE…], in the environment of layer_tools. Prints JSON: the files by path, with mode and SHA-256, and the kernel command line.

BitBake's library expands each recipe's do_install, a shell runs it as it stands on copies of the recipe's files, and the result is
split into packages by FILES, as BitBake does it. Programs are empty stand-ins: compiling them is a build's business.
"""

import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import layer_bb, layer_kas
from .layer_bb import LAYER, Layer
from .runtime import PROGRAMS

GROUP = LAYER / "recipes-core/packagegroups/packagegroup-horus.bb"
IMAGE = LAYER / "recipes-core/images/horus-image.bb"
# Sources of programs: read by the compiler only, and megabytes of them.
COMPILED = "file://runtime"
SHELL = "set -eu\nbbfatal() { echo \"$1\" >&2; exit 1; }\nbbnote() { :; }\nbbwarn() { echo \"$1\" >&2; }\n"


def packages_in_image(layer: Layer) -> set:
    """The names of packages that the image asks for, through its group of packages."""
    return set((layer.recipe(GROUP).getVar("RDEPENDS:packagegroup-horus") or "").split())


def unpack(data, sources: Path) -> None:
    """Puts the recipe's local files where BitBake would unpack them."""
    for uri, place in layer_bb.local_files(data):
        if uri.startswith(COMPILED) or place is None:
            continue
        name, _, rest = uri.removeprefix("file://").partition(";")
        parameters = dict(part.partition("=")[::2] for part in rest.split(";") if part)
        target = sources / parameters.get("subdir", "") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.copytree(place, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy(place, target)


def install(layer: Layer, path: Path) -> dict:
    """Runs a recipe's do_install; returns its packages' files: {package: {path: (mode, sha256)}}."""
    data = layer.recipe(path)
    with tempfile.TemporaryDirectory() as directory, layer_bb.refusals(path):
        work = Path(directory)
        data.setVar("WORKDIR", str(work))
        data.setVar("B", str(work / "build"))
        image, sources = Path(data.getVar("D")), Path(data.getVar("UNPACKDIR"))
        for made in (image, sources, work / "build"):
            made.mkdir(parents=True)
        unpack(data, sources)
        for program in PROGRAMS.values():
            stand_in = work / "build" / "target" / program
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.touch(mode=0o755)
        script = SHELL + (data.getVar("do_install") or "")
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["sh", "-c", f"umask 022\n{script}"], cwd=work / "build", env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"do_install ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
        return split(data, image)


def split(data, image: Path) -> dict:
    """Gives each installed file to the first package whose FILES it matches, in the order of PACKAGES."""
    files = {f"/{path.relative_to(image)}": path for path in sorted(image.rglob("*")) if not path.is_dir()}
    found = {}
    for package in data.getVar("PACKAGES").split():
        patterns = (data.getVar(f"FILES:{package}") or "").split()
        mine = [name for name in files if any(belongs(name, pattern) for pattern in patterns)]
        found[package] = {name.lstrip("/"): described(files.pop(name)) for name in mine}
    if files:
        raise RuntimeError(f"these files are in no package: {', '.join(files)}")
    return found


def belongs(name: str, pattern: str) -> bool:
    """Whether FILES' pattern means a file: the file itself, by wildcards, or a directory above it."""
    depth = pattern.rstrip("/").count("/") + 1
    return fnmatch.fnmatchcase("/".join(name.split("/")[:depth]), pattern.rstrip("/"))


def described(path: Path) -> list:
    """A file's mode and digest; a link's target."""
    if path.is_symlink():
        return ["link", os.readlink(path)]
    return [f"{path.stat().st_mode & 0o7777:04o}", hashlib.sha256(path.read_bytes()).hexdigest()]


def command_line(layer: Layer) -> str:
    """The kernel command line at the place from which the board's boot loader takes it."""
    overrides = layer.data.getVar("OVERRIDES").split(":")
    if "rpi" in overrides:
        append = next(path for path in layer.appends() if path.name.startswith("rpi-cmdline"))
        return layer.appended(append).getVar("CMDLINE")
    if "tegra" in overrides:
        # meta-tegra's own parameters come first; here a stand-in has their place.
        return layer.data.getVar("KERNEL_ARGS").removeprefix("board.support")
    return layer.recipe(IMAGE).getVar("UKI_CMDLINE")


def main(machine: str, fragments: list) -> int:
    layer = Layer(machine, "\n".join(layer_kas.local_conf(Path(name)) for name in fragments))
    wanted = packages_in_image(layer)
    files = {}
    for path in layer.recipes():
        if "recipes-horus" in path.parts:
            for package, its in install(layer, path).items():
                if package in wanted:
                    files.update(its)
    print(json.dumps({"files": files, "command line": " ".join(command_line(layer).split()), "packages": sorted(wanted)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
