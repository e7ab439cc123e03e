"""local.conf and bblayers.conf of the whole image: those that kas writes from kas.yml, and what stands in for what cannot be reached."""

from pathlib import Path

from checks.layer import boards
from checks.layer.below import bitbake
from checks.layer.below.bitbake import META, Workspace
from checks.layer.below.image import mirror
from horus_appliance.paths import REPOSITORY

SUBSTITUTES = META / "tests" / "substitutes"


def local_conf(build: boards.Build, substitutes: bool = False, repositories: Path | None = None) -> str:
    """The text of local.conf. kas.yml is where downloads, cache and the rest come from; `build` adds what its options' files say."""
    parts = [
        f'MACHINE = "{build.board.machine}"\nDISTRO = "horus"\nCONF_VERSION = "2"\n',
        boards.header(REPOSITORY / "kas.yml"),
        build.settings,
        "require conf/substitutes.conf\n" if substitutes else "",
        mirror.setting(repositories) if repositories else "",
    ]
    return "".join(parts)


def bblayers_conf(layers: Path, build: boards.Build, substitutes: bool = False) -> str:
    """The text of bblayers.conf."""
    places = [*(layers / layer for layer in build.layers), META, *([SUBSTITUTES] if substitutes else [])]
    return f'POKY_BBLAYERS_CONF_VERSION = "2"\nBBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{" ".join(map(str, places))}"\n'


def write(workspace: Workspace, build: boards.Build, substitutes: bool, repositories: Path | None) -> Path:
    """Writes both; returns the build's directory."""
    directory = workspace.home / "build"
    bitbake.write(workspace, directory / "conf" / "local.conf", local_conf(build, substitutes, repositories))
    bitbake.write(workspace, directory / "conf" / "bblayers.conf", bblayers_conf(workspace.layers, build, substitutes))
    # Repositories are read by another user than the one who owns them.
    bitbake.write(workspace, workspace.home / ".gitconfig", "[safe]\n\tdirectory = *\n")
    return directory
