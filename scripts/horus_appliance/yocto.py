"""Builds the official image with kas and Yocto: hours, tens of gigabytes and the internet, for every board of meta-horus/kas."""

import os
import shutil
import subprocess
from pathlib import Path

from . import host, layer_tools
from .console import CannotRun, detail, step
from .layer_boards import COMMAND_LINES, FRAGMENTS
from .paths import OUT, REPOSITORY

DEFAULT_BOARD = "generic-x86-64"
BOARDS = list(COMMAND_LINES)
OPTIONS = sorted(path.stem for path in FRAGMENTS.glob("*.yml") if path.stem not in BOARDS)
WORK = OUT / "yocto"
# Not measured by us, because no whole build has been run yet: what other Yocto images of this size report.
BUILD_BYTES = 60 * 1024**3
FORMS = ("*.wic.zst", "*.wic.bmap", "*.tegraflash-tar.zst", "*.spdx.json")


def build(board: str = DEFAULT_BOARD, options: tuple = (), only_fetch_layers: bool = False) -> list:
    """Runs kas for a board with options; returns the files to take away."""
    for option in options:
        if option not in OPTIONS:
            raise CannotRun(f"there is no option '{option}'; choose from: {', '.join(OPTIONS)}")
    if board not in BOARDS:
        raise CannotRun(f"there is no board '{board}'; choose one of: {', '.join(BOARDS)}")
    if os.geteuid() == 0:
        raise CannotRun("BitBake refuses to run as root. Run this as a normal user that owns the clone (scripts/check-layer needs no such user).")
    missing = [command for command in ("git", "gawk", "chrpath", "cpio", "diffstat", "lz4", "wget", "zstd") if not shutil.which(command)]
    if missing:
        raise CannotRun(f"BitBake needs {', '.join(missing)}: sudo apt-get install {' '.join(missing)}")
    files = [f"meta-horus/kas/{name}.yml" for name in ([] if board == DEFAULT_BOARD else [board]) + list(options)]
    configuration = ":".join(["kas.yml", *files])
    try:
        kas = layer_tools.ensure() / "kas"
    except layer_tools.Unreachable as reason:
        raise CannotRun(f"kas cannot be installed: {reason}. Check the network, then run this again.") from reason
    WORK.mkdir(parents=True, exist_ok=True)
    if not only_fetch_layers:
        host.require_space(WORK, BUILD_BYTES)
    verb = "checkout" if only_fetch_layers else "build"
    step(f"kas {verb} {configuration} (log of each task: {WORK.relative_to(REPOSITORY)}/build/tmp/work)")
    environment = {**os.environ, "KAS_WORK_DIR": str(WORK)}
    done = subprocess.run([kas, verb, configuration], cwd=REPOSITORY, env=environment, check=False)
    if done.returncode != 0:
        raise CannotRun(
            f"'kas {verb} {configuration}' ended with status {done.returncode}; its message is above. Where a layer could not be fetched, check "
            "the network; where its commit is not found, kas.lock.yml is older than the server's history: kas lock --update. Run this again "
            "then: what is finished is kept."
        )
    if only_fetch_layers:
        return []
    return deliver()


def deliver() -> list:
    """The files that a person flashes or keeps, as the build left them."""
    folders = sorted((WORK / "build" / "tmp" / "deploy" / "images").glob("*"), key=lambda folder: folder.stat().st_mtime)
    found = sorted(path for folder in folders[-1:] for form in FORMS for path in folder.glob(form) if not path.is_symlink())
    if not found:
        raise CannotRun(f"the build ended well and left no image below {WORK}: was another target given in the kas files?")
    for path in found:
        detail(f"{path.relative_to(REPOSITORY)} {path.stat().st_size / 1e6:.1f} MB")
    return found


def main_arguments(parser) -> None:
    """Arguments of `scripts/image yocto`."""
    parser.add_argument("board", nargs="?", default=DEFAULT_BOARD, choices=BOARDS, help="for which board (default: %(default)s)")
    parser.add_argument("--option", action="append", default=[], choices=OPTIONS, help="a file of meta-horus/kas; may be given more than once")
    parser.add_argument("--layers-only", action="store_true", help="fetch the layers at the pinned commits and stop")


def run(options) -> Path:
    """`scripts/image yocto` with its arguments."""
    found = build(options.board, tuple(options.option), options.layers_only)
    images = [path for path in found if path.name.endswith((".wic.zst", "tegraflash-tar.zst"))]
    if images:
        step(f"image: {images[0].relative_to(REPOSITORY)}; docs/boards/{options.board}.md tells how to flash it")
    return images[0] if images else WORK
