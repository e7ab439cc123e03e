"""Runs BitBake as a normal user in a build directory of its own, with its output in a log and its progress on the terminal."""

import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from checks.layer.boards import Build
from horus_appliance.console import CannotRun, follow
from horus_appliance.host import system
from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto import needs

USER = "horus-layer"  # BitBake refuses to run as root
HOME = Path("/var/tmp/horus-layer")  # not below out/: a clone in /root is closed to other users
META = REPOSITORY / "meta-horus"
TIMEOUT = 3600
TIMED_OUT = 124  # what timeout(1) says of a command that it ended
HEARTBEAT = 30
PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Workspace:
    """Where builds take place, as whom, and against which checkouts."""

    layers: Path
    home: Path
    user: str


def prepare(layers: Path, home: Path | None = None) -> Workspace:
    """Installs what BitBake calls, makes the user and its directory (`home`, or the usual one), and sees that it can read what it has to."""
    system.find_cargo()  # its rustup brings the Rust that packages are built with
    for path in (layers.resolve(), REPOSITORY):
        needs.refuse_path(path)
    if missing := needs.missing_packages():
        system.install(missing)
    needs.make_locale()
    if os.geteuid() == 0 and subprocess.run(["id", USER], capture_output=True, check=False).returncode != 0:
        subprocess.run(["useradd", "--create-home", "--home-dir", str(HOME), "--shell", "/bin/bash", USER], check=True)
    workspace = Workspace(layers.resolve(), home or usual_home(), user_name())
    own(workspace)
    subprocess.run(as_user(workspace, ["mkdir", "-p", str(workspace.home / "build")]), check=True)
    system.require_space(workspace.home, 5 * 1024**3)
    for path in (META / "conf/layer.conf", REPOSITORY / "conf/rt/kernel/cmdline", layers / "openembedded-core/meta/conf/bitbake.conf"):
        if subprocess.run(as_user(workspace, ["test", "-r", str(path.resolve())]), check=False).returncode != 0:
            raise CannotRun(f"the user {workspace.user}, as whom BitBake runs, cannot read {path}. Make it and the folders above it readable: chmod a+rX")
    return workspace


def usual_home() -> Path:
    """Where builds take place unless another folder is asked for."""
    return HOME if os.geteuid() == 0 else Path.home() / ".cache" / "horus-layer"


def user_name() -> str:
    """As whom BitBake runs."""
    return USER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def own(workspace: Workspace) -> None:
    """Makes the workspace's folder, or refuses one that is not its user's: it may be anything, and its owner is not changed."""
    if not workspace.home.exists():
        workspace.home.mkdir(parents=True)
        if os.geteuid() == 0:
            shutil.chown(workspace.home, workspace.user)
    if subprocess.run(as_user(workspace, ["test", "-w", str(workspace.home)]), check=False).returncode != 0:
        raise CannotRun(f"the user {workspace.user}, as whom BitBake runs, cannot write into {workspace.home}. Name a folder that does not exist yet, or chown it.")


def as_user(workspace: Workspace, command: list) -> list:
    """The command line that runs `command` as the workspace's user."""
    if os.geteuid() != 0:
        return list(command)
    return ["runuser", "-u", workspace.user, "--", *command]


def configure(workspace: Workspace, name: str, board: Build, extra_layers: tuple = (), extra_settings: str = "", network: bool = False) -> Path:
    """Writes local.conf and bblayers.conf of a build; returns its directory. Only packages need a network, for their crates."""
    build = workspace.home / "build" / name.replace("+", "-")  # BitBake takes no + in a path
    layers = [str(workspace.layers / layer) for layer in board.layers] + [str(META), *(str(layer) for layer in extra_layers)]
    local = (
        f'MACHINE = "{board.board.machine}"\nDISTRO = "horus"\nCONF_VERSION = "2"\nBB_NUMBER_THREADS = "{os.cpu_count()}"\n'
        f'CONNECTIVITY_CHECK_URIS = ""\nBB_NO_NETWORK = "{"0" if network else "1"}"\nDL_DIR = "{workspace.home}/downloads"\n'
        f"{board.settings}{extra_settings}"
    )
    bblayers = f'POKY_BBLAYERS_CONF_VERSION = "2"\nBBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{" ".join(layers)}"\n'
    for file, text in (("local.conf", local), ("bblayers.conf", bblayers)):
        write(workspace, build / "conf" / file, text)
    return build


def write(workspace: Workspace, path: Path, text: str) -> None:
    """Writes a file as the user, unless it says so already: a newer time would make BitBake parse everything again."""
    try:
        if path.read_text() == text:
            return
    except OSError:
        pass
    subprocess.run(as_user(workspace, ["mkdir", "-p", str(path.parent)]), check=True)
    subprocess.run(as_user(workspace, ["tee", str(path)]), input=text, text=True, stdout=subprocess.DEVNULL, check=True)


def bitbake(workspace: Workspace, build: Path, command: list, path: str = "") -> tuple:
    """Runs a command of BitBake's in its environment; returns its exit status and what it said."""
    words = command_line(workspace, build, ["timeout", "--kill-after=10", str(TIMEOUT), *command], path)
    status, said = follow(as_user(workspace, words), every=HEARTBEAT, cwd="/")
    return status, "\n".join(said)


def command_line(workspace: Workspace, build: Path, command: list, path: str = "") -> list:
    """The command line that runs a command in BitBake's environment, with `path` or the usual one as search path."""
    script = '. "$1/oe-init-build-env" "$2" >/dev/null && shift 2 && exec "$@"'
    environment = [
        "env", "-i", f"PATH={path or PATH}", f"HOME={workspace.home}", f"USER={workspace.user}", f"LANG={needs.LOCALE}", f"LC_ALL={needs.LOCALE}", "TERM=dumb",
        f"BITBAKEDIR={workspace.layers / 'bitbake'}",
        # A server that stays answers the questions after the first without reading everything anew; it ends by itself.
        "BB_SERVER_TIMEOUT=60", "BB_ENV_PASSTHROUGH_ADDITIONS=BB_SERVER_TIMEOUT",
        *(f"{name}={os.environ[name]}" for name in system.PASSED_ON if name in os.environ),
    ]  # fmt: skip
    return [*environment, "bash", "-c", script, "bash", str(workspace.layers / "openembedded-core"), str(build), *command]


def value(workspace: Workspace, build: Path, variable: str, recipe: str = "") -> str:
    """What a variable is in a recipe, or in the configuration, as bitbake-getvar says it."""
    where = ["--recipe", recipe] if recipe else []
    status, said = bitbake(workspace, build, ["bitbake-getvar", "--value", "--quiet", *where, variable])
    if status != 0:
        raise LookupError(f"bitbake-getvar {variable} of {recipe or 'the configuration'}: {errors(said, status)}")
    lines = [line for line in said.splitlines() if not re.match(r"(NOTE|WARNING|Loading|Loaded|Parsing)", line)]
    return " ".join(" ".join(lines).split())


def errors(said: str, status: int) -> str:
    """The lines of BitBake's output that say what is wrong, with the indented ones that explain them; its end where no line does."""
    if status == TIMED_OUT:
        return "\n".join([*said.splitlines()[-3:], f"stopped after {TIMEOUT} s; is this machine busy with something else?"])
    lines = said.splitlines() or [f"ended with status {status} and without a word"]
    wrong, explained = [], False
    for line in lines:
        if not line.startswith((" ", "\t")) and line:
            explained = line.startswith(("ERROR", "FATAL", "Exception", "NOTE: Target"))
        if explained and line:
            wrong.append(line)
    return "\n".join((wrong or lines)[-12:])
