"""What only scripts/check-layer --full does, because it takes minutes a board: a whole build's dry run, and Yocto's own check of layers."""

import re

from checks.layer import bitbake
from checks.layer.bitbake import META, Workspace
from checks.layer.boards import Build


def dry_run(workspace: Workspace, board: Build, build) -> str:
    """Every task of the whole build is set up and would run."""
    status, said = bitbake.bitbake(workspace, build, ["bitbake", "-n", "horus-image"])
    return "" if status == 0 else bitbake.errors(said, status)


def yocto_check_layer(workspace: Workspace, board: Build, _) -> str:
    """Yocto's own check: the layer's files, and that adding it changes nothing for other distributions on this board."""
    plain = bitbake.configure(workspace, f"yocto-check-layer-{board.name}", board)
    # The check adds the layer itself, and compares with a build that knows nothing of it.
    local = (plain / "conf" / "local.conf").read_text().replace('DISTRO = "horus"\n', "")
    # meta-raspberrypi's own packages have no provider without it, in whichever distribution.
    local += 'LICENSE_FLAGS_ACCEPTED = "synaptics-killswitch"\n'
    bblayers = (plain / "conf" / "bblayers.conf").read_text().replace(f" {META}", "")
    bitbake.write(workspace, plain / "conf" / "local.conf", local)
    bitbake.write(workspace, plain / "conf" / "bblayers.conf", bblayers)
    log = plain / "yocto-check-layer.log"
    # Without looking for layers below this one: the tests' own (tests/hosttools) is no part of what anybody adds to a build.
    command = ["yocto-check-layer", str(META), "--no-auto", "--no-auto-dependency", "--output-log", str(log)]
    status, said = bitbake.bitbake(workspace, plain, command)
    if status == 0 and re.search(r"\bPASS\b", said):
        return ""
    return "\n".join([line for line in said.splitlines() if re.search(r"FAIL|Error|ERROR|assert", line)][-12:] or [bitbake.errors(said, status)])


CHECKS = {"dry run": dry_run, "yocto-check-layer": yocto_check_layer}
# A dry run parses every recipe once a task, and is the same for all boards but the kernel; the check of layers is for each layer of boards.
BOARDS = {"dry run": ["generic-x86-64"], "yocto-check-layer": ["generic-x86-64", "raspberrypi4", "jetson-orin-nano"]}
