"""Shows that the Debian recipe and the Yocto layer put the same files and the same kernel command line into an appliance:
python3 -m horus_appliance.one_source [--packages DIR --machine MACHINE].

For every machine and variant, what the Debian recipe lays over its packages is held against what the layer's recipes install:
from what they declare (layer_install), or from packages that BitBake made (--packages). Every difference is an error unless it
stands below with its reason.

Exit status: 0 the same, 1 not the same, 2 this machine cannot tell, 77 skipped (the programs that read recipes need the network).
"""

import argparse
import dataclasses
import fnmatch
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from . import conf, layer_tools, overlay
from .architecture import ARCHITECTURES, X86_64
from .checks import SKIP_STATUS
from .console import ApplianceFailed, CannotRun, detail, run_command
from .layer_boards import own_parameters
from .layer_tools import LAYER, Unreachable
from .paths import BUILD
from .runtime import PROGRAMS

# MACHINE of Yocto -> folder of conf/machine. That the layer says the same is part of what is compared.
BOARDS = {
    "genericx86-64": "generic-x86-64",
    "qemux86-64": "qemux86-64",
    "qemuarm64": "qemuarm64",
    "raspberrypi4-64": "raspberrypi4",
    "raspberrypi5": "raspberrypi5",
    "jetson-orin-nano-devkit": "jetson-orin-nano",
    "jetson-agx-orin-devkit": "jetson-agx-orin",
}

# Variant of the Debian recipe -> the kas files that make the same image.
VARIANTS = {"appliance": ["dev"], "release": [], "untuned": ["untuned", "dev"]}


@dataclasses.dataclass(frozen=True)
class Difference:
    """A difference that is meant: `side` has the file alone, or both have it and only its content differs."""

    side: str  # debian, yocto or content
    path: str  # with * as wildcard
    reason: str


MEANT = [
    Difference("content", "usr/bin/horus", "compiled twice, by two versions of Rust; that it runs is the boot test's business"),
    Difference("content", "usr/lib/horus/examples/*", "the same"),
]


def of_debian(board: str, variant: str) -> tuple:
    """Files and command line of the Debian recipe. It makes images of two boards; for others, what it would do."""
    architecture = next((one for one in ARCHITECTURES.values() if one.board == board), dataclasses.replace(X86_64, board=board))
    with tempfile.TemporaryDirectory() as directory:
        programs = {}
        for place in PROGRAMS:
            programs[place] = Path(directory) / Path(place).name
            programs[place].touch(mode=0o755)
        tree = overlay.stage(variant, programs, architecture, "one-source")
        files = {str(path.relative_to(tree)): described(path) for path in sorted(tree.rglob("*")) if not path.is_dir()}
    return files, conf.kernel_command_line(board, tuned="rt" in overlay.VARIANTS[variant])


def described(path: Path) -> tuple:
    """A file's mode and digest."""
    return f"{path.stat().st_mode & 0o7777:04o}", hashlib.sha256(path.read_bytes()).hexdigest()


def of_yocto(machine: str, variant: str) -> tuple:
    """Files and command line that the layer's recipes declare."""
    fragments = [str(LAYER / "kas" / f"{name}.yml") for name in VARIANTS[variant]]
    command = [layer_tools.ensure() / "python", "-m", "horus_appliance.layer_install", machine, *fragments]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"what the layer installs for {machine} cannot be told: {done.stderr.strip()[-1500:]}")
    said = json.loads(done.stdout)
    return {path: tuple(entry) for path, entry in said["files"].items()}, said["command line"]


def of_packages(directory: Path, machine: str, variant: str) -> dict:
    """The files of packages that BitBake made for the machine's image."""
    board = BOARDS[machine]
    architecture = X86_64 if board in ("generic-x86-64", "qemux86-64") else ARCHITECTURES["arm64"]
    files = {}
    for package in overlay.find_packages(variant, directory, dataclasses.replace(architecture, board=board)):
        files.update(unpacked(package))
    return files


def unpacked(package: Path) -> dict:
    """The files of a .deb with mode and digest; one that does not belong to root is a mistake of the recipe."""
    done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], capture_output=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"{package} cannot be read: {done.stderr.decode(errors='replace').strip()}. Build it again.")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            if (member.uid, member.gid) != (0, 0):
                raise ApplianceFailed(f"{package.name}: {member.name} belongs to {member.uid}:{member.gid}, and has to belong to root")
            if member.isfile():
                digest = hashlib.sha256(archive.extractfile(member).read()).hexdigest()
                files[member.name.removeprefix("./")] = (f"{member.mode & 0o7777:04o}", digest)
            elif not member.isdir():
                files[member.name.removeprefix("./")] = ("link", member.linkname)
    return files


def differences(debian: dict, yocto: dict, meant: list) -> list:
    """What differs and is not meant, a sentence each."""

    def is_meant(side: str, path: str) -> bool:
        return any(one.side == side and fnmatch.fnmatchcase(path, one.path) for one in meant)

    found = [f"{path} is in the Debian image only" for path in sorted(set(debian) - set(yocto)) if not is_meant("debian", path)]
    found += [f"{path} is in the Yocto image only" for path in sorted(set(yocto) - set(debian)) if not is_meant("yocto", path)]
    for path in sorted(set(debian) & set(yocto)):
        if debian[path][0] != yocto[path][0]:
            found.append(f"{path} has mode {debian[path][0]} in the Debian image and {yocto[path][0]} in the Yocto image")
        elif debian[path][1] != yocto[path][1] and not is_meant("content", path):
            found.append(f"{path} has another content in the Yocto image")
    return found


def different_parameters(debian: str, yocto: str) -> list:
    """Where two kernel command lines part: in what they hold, or in an order that matters (the last console is /dev/console)."""
    ours, theirs = debian.split(), yocto.split()
    if ours == theirs:
        return []
    missing, added = [one for one in ours if one not in theirs], [one for one in theirs if one not in ours]
    if missing or added:
        return [f"kernel command line: the Yocto image lacks {missing} and adds {added}"]
    return ["kernel command line: the same parameters in another order"]


def unneeded(seen: set) -> list:
    """Entries of MEANT that no compared file needs."""
    return [f"one_source.py: no file matches '{one.path}' any more. Remove the entry." for one in MEANT if not fnmatch.filter(seen, one.path)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, metavar="DIR", help="packages (.deb) that BitBake made")
    parser.add_argument("--machine", choices=BOARDS, help="the machine that they were made for")
    options = parser.parse_args()
    if bool(options.packages) != bool(options.machine):
        parser.error("--packages and --machine belong together")
    BUILD.mkdir(parents=True, exist_ok=True)
    found, seen = [], set()
    if options.packages:
        for variant in VARIANTS:
            debian, _ = of_debian(BOARDS[options.machine], variant)
            yocto = of_packages(options.packages, options.machine, variant)
            detail(f"{options.machine}, {variant}: {len(debian)} files, {len(yocto)} in packages")
            found += [f"{options.machine}, {variant}: {text}" for text in differences(debian, yocto, MEANT)]
            seen |= set(debian)
    else:
        try:
            layer_tools.ensure()
        except Unreachable as reason:
            print(f"SKIPPED until PyPI can be reached: {reason}")
            return SKIP_STATUS
        for machine, board in BOARDS.items():
            counts = []
            for variant in VARIANTS:
                (debian, ours), (yocto, theirs) = of_debian(board, variant), of_yocto(machine, variant)
                texts = differences(debian, yocto, MEANT) + different_parameters(ours + own_parameters(board), theirs)
                found += [f"{machine}, {variant}: {text}" for text in texts]
                seen |= set(debian) | set(yocto)
                counts.append(f"{variant} {len(yocto)} files, {len(theirs.split())} parameters")
            detail(f"{machine}: {'; '.join(counts)}")
    found += unneeded(seen)
    if found:
        raise ApplianceFailed("the two ways to build do not make the same appliance:\n  " + "\n  ".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
