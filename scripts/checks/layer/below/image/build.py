"""Builds the whole image from checkouts of the layers, and boots it."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from checks.layer import boards
from checks.layer.below import bitbake, differences, packages, sources
from checks.layer.below.bitbake import Workspace
from checks.layer.below.image import conf, failures, mirror, progress, room, root
from horus_appliance.console import ApplianceFailed, CannotRun, detail, follow, step
from horus_appliance.paths import SCRIPTS
from horus_appliance.yocto import kas, needs

TARGET = "horus-image"
# BitBake's server outlives the command that talks to it, and writes what it knows; in the root nothing outlives the command.
AND_ITS_SERVER = '"$@"; status=$?; flock --timeout 60 bitbake.lock true; exit $status'


@dataclass(frozen=True)
class Request:
    """What is to be built, and how."""

    layers: Path
    work: Path
    only: str = ""  # a board's name or part of it
    dev: bool = False
    substitutes: bool = False
    repositories: Path | None = None  # git repositories that stand in for upstream's


def run(request: Request) -> int:
    """Builds and boots; returns the exit status."""
    build = chosen(request)
    if request.substitutes:
        root.supported(build.board.architecture)
    if request.repositories:
        mirror.require(request.repositories)
    needs.refuse_path(request.work)
    sources.require(request.layers, checkouts(build))
    step(f"the whole image of {build.title}: MACHINE {build.board.machine}, in {request.work}")
    workspace = bitbake.prepare(request.layers, request.work)
    detail(room.require(workspace.home, room.want(request.substitutes)))
    if request.substitutes:
        root.ensure(workspace)
    directory = conf.write(workspace, build, request.substitutes, request.repositories)
    make(workspace, directory, request)
    images = directory / "tmp" / "deploy" / "images" / build.board.machine
    if request.substitutes:
        differences.write(workspace.home / differences.LIST.name)
        detail(f"what it is made of in place of upstream's: {workspace.home / differences.LIST.name}")
    detail(f"the image: {images}")
    return boot(build, images)


def chosen(request: Request) -> boards.Build:
    """The build that is asked for, with the option dev if that is."""
    plain = [build for build in boards.builds() if not build.options]
    name = request.only or kas.DEFAULT_BOARD
    found = [build for build in plain if build.name == name] or [build for build in plain if name in build.name]
    if len(found) != 1:
        raise CannotRun(f"--image builds one board, and '{name}' is part of {len(found)} names; they are: {', '.join(build.name for build in plain)}")
    options = ("dev",) if request.dev else ()
    return boards.Build(found[0].name, found[0].layers, options, "".join(boards.settings(option) for option in options))


def checkouts(build: boards.Build) -> list:
    """The repositories that a build is made from: not every board's."""
    return list(dict.fromkeys(["bitbake", *(layer.partition("/")[0] for layer in build.layers)]))


def make(workspace: Workspace, directory: Path, request: Request, command: tuple = ("bitbake", "--continue", TARGET)) -> None:
    """Runs BitBake to its end, with its progress on the terminal and everything that it says in a log."""
    words = ["env", "BB_SERVER_TIMEOUT=1", "bash", "-c", AND_ITS_SERVER, "bash", *command]
    if request.substitutes:
        path = root.path(packages.toolchain(workspace))
        repositories = mirror.places(request.repositories) if request.repositories else ()
        line = root.as_user(workspace, bitbake.command_line(workspace, directory, words, path), repositories)
    else:
        line = bitbake.as_user(workspace, bitbake.command_line(workspace, directory, words))
    log = workspace.home / "logs" / f"{time.strftime('%Y-%m-%dT%H-%M-%S')}.log"
    subprocess.run(bitbake.as_user(workspace, ["mkdir", "-p", str(log.parent)]), check=True)
    step(f"{' '.join(command)} (log: {log})")
    state = progress.Progress()
    with progress.shown(state):
        status, said = follow(line, each=state.see, log=log, cwd="/")
    detail(state.line())
    if status != 0:
        raise ApplianceFailed(
            f"BitBake ended with status {status}:\n{failures.told(chr(10).join(said), status)}\n\nEverything it said: {log}. Run this again when the cause is gone: "
            "what is finished is kept."
        )


def boot(build: boards.Build, images: Path) -> int:
    """Boots it as scripts/boot does, where QEMU has such a machine."""
    if build.board.firmware != "uefi":
        detail(f"not booted: QEMU has no {build.name}. docs/boards tells how it is flashed.")
        return 0
    # The boot tests look at the shell that the option dev brings, and know a PC.
    tested = ["--test"] if build.board.architecture == "x86-64" and "dev" in build.options else []
    step(" ".join(["./scripts/boot", "--yocto", str(images), *tested]))
    command = [sys.executable, str(SCRIPTS / "boot"), "--yocto", str(images), "--arch", build.board.architecture, *tested]
    return subprocess.run(command, check=False).returncode
