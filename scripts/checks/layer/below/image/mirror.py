"""A folder of bare git repositories that stand in for upstream's, on a machine that reaches no git host.

Each is named by its address, host and path, with dots for slashes, as BitBake names its own copies: git://github.com/systemd/systemd.git is
github.com.systemd.systemd.git. What is missing there is asked for upstream.
"""

from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.yocto import needs

VARIABLE = "HORUS_GIT_MIRROR"


def setting(folder: Path) -> str:
    """The line of local.conf. BitBake puts host and path of the address that it looks for in place of MIRRORNAME."""
    return f'PREMIRRORS:prepend = "git://.*/.* git://{folder}/MIRRORNAME;protocol=file "\n'


def require(folder: Path) -> None:
    """Refuses a folder without a repository, in which nothing would be found."""
    needs.refuse_path(folder)
    if not any((path / "HEAD").is_file() for path in folder.glob("*")):
        raise CannotRun(
            f"{folder} holds no bare git repository. Make one of each that cannot be reached, named by host and path: "
            f"git clone --bare https://github.com/systemd/systemd {folder}/github.com.systemd.systemd.git"
        )


def places(folder: Path) -> tuple:
    """The folders that are read: itself, and those that links in it lead to."""
    return (folder, *sorted({path.resolve() for path in folder.iterdir() if path.is_symlink()}))
