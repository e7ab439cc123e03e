"""The root in which BitBake runs where the machine's programs stand in for its native recipes: a Debian tree with the compiler and the C library of the release.

It is made once, as the builder of the Debian recipe is, and entered with bubblewrap: the programs of the host do not matter.
"""

import os
import pwd
import subprocess
from pathlib import Path

from checks.layer.below.bitbake import PATH, Workspace
from checks.layer.below.image import root_packages
from horus_appliance.console import CannotRun, detail, step
from horus_appliance.host import debian, system
from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto import needs

CROSS = Path(__file__).with_name("cross-compiler")
# Where that puts the compilers, by the architecture that they are for.
CROSS_FOLDERS = {"x86-64": "/opt/horus-cross-x86_64", "arm64": "/opt/horus-cross-aarch64"}
# What the layer of substitutes has recipes for.
ARCHITECTURES = ("x86-64", "arm64")
STAMP = "etc/horus-root"


def tree(workspace: Workspace) -> Path:
    """Where it is."""
    return workspace.home / "root"


def stamp(user: str) -> str:
    """What a root is made of; another text makes another root."""
    return "\n".join([root_packages.RELEASE, *root_packages.names(), user, CROSS.read_text()])


def ensure(workspace: Workspace) -> None:
    """Makes the root when it is missing, or made of something else."""
    system.install_packages()
    wanted, place = stamp(workspace.user), tree(workspace) / STAMP
    if place.is_file() and place.read_text() == wanted:
        return
    step(f"making a Debian tree ({root_packages.RELEASE}) with the programs that stand in for BitBake's own (some minutes)")
    log = workspace.home / "root.log"
    debian.make_tree(
        tree(workspace), root_packages.names(), "apt", log, release=root_packages.RELEASE, finish=lambda partial: finish(partial, workspace, wanted),
    )  # fmt: skip
    detail(f"done; log: {log}")


def finish(partial: Path, workspace: Workspace, wanted: str) -> None:
    """Adds the locale, the user, the compiler, and gettext's macros where aclocal looks."""
    identity = pwd.getpwnam(workspace.user)
    script = (
        f'set -e; echo "{needs.LOCALE} UTF-8" > /etc/locale.gen; locale-gen\n'
        f"groupadd --gid {identity.pw_gid} {workspace.user} || true\n"  # a group of that number may be Debian's own
        f"useradd --uid {identity.pw_uid} --gid {identity.pw_gid} --no-create-home --home-dir {workspace.home} --shell /bin/bash {workspace.user}\n"
        f"{CROSS}\n"
        "cp --update=none /usr/share/gettext/m4/*.m4 /usr/share/aclocal/\n"  # Debian keeps them for autopoint, which is not called here
    )
    done = subprocess.run(command(partial, workspace, ["bash", "-c", script]), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"the Debian tree could not be finished:\n{(done.stdout + done.stderr).strip()[-2000:]}")
    detail(f"gcc {done.stdout.split()[-1]} is its cross compiler")
    subprocess.run(system.as_root(["tee", str(partial / STAMP)]), input=wanted, stdout=subprocess.DEVNULL, text=True, check=True)


def command(root: Path, workspace: Workspace, arguments: list, readable: tuple = ()) -> list:
    """The command line that runs `arguments` as root inside `root`. The workspace may be written there, and what else is named is only read.

    All processes in there end with the command.
    """
    read_only = [REPOSITORY, workspace.layers, *readable]
    # bubblewrap would make the folders above what it binds for root alone.
    above = dict.fromkeys(str(parent) for path in (*read_only, workspace.home) for parent in [*path.parents][-2::-1])
    return system.as_root([
        "bwrap", "--die-with-parent", "--unshare-pid",
        "--bind", str(root), "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys",
        "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run",
        # How this machine reaches the network, and whom it trusts there.
        *(word for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs") for word in ("--ro-bind-try", path, path)),
        *(word for folder in above for word in ("--perms", "0755", "--dir", folder)),
        *(word for path in read_only for word in ("--ro-bind", str(path), str(path))), "--bind", str(workspace.home), str(workspace.home),
        "--chdir", "/", "--", *arguments,
    ])  # fmt: skip


def as_user(workspace: Workspace, arguments: list, readable: tuple = ()) -> list:
    """The command line that runs `arguments` inside the workspace's root, as its user."""
    identity = pwd.getpwnam(workspace.user)
    setpriv = ["setpriv", f"--reuid={identity.pw_uid}", f"--regid={identity.pw_gid}", "--clear-groups", "--inh-caps=-all"]
    return command(tree(workspace), workspace, [*setpriv, *arguments], readable)


def path(rust: Path) -> str:
    """The search path in there: the cross compilers, Rust of the release, Debian's programs."""
    return ":".join([*(f"{folder}/bin" for folder in CROSS_FOLDERS.values()), str(rust), PATH])


def supported(architecture: str) -> None:
    """Refuses what the copied compilers cannot: to run on another machine than a PC, or to build for another one than the layer is made for."""
    if architecture not in ARCHITECTURES or os.uname().machine != "x86_64":
        raise CannotRun(f"--substitutes builds on x86-64, for {' and '.join(ARCHITECTURES)}: meta-horus/tests/substitutes has recipes for nothing else.")
