"""What is asked of the layer, board by board; each check is a function that returns what is wrong, empty for nothing."""

import re

from checks.layer import bitbake
from checks.layer.bitbake import Workspace
from checks.layer.boards import Build
import horus_conf


def resolves(workspace: Workspace, board: Build, build) -> str:
    """All recipes are parsed without an error, and every package of the image has a provider, down to the compiler."""
    sdk = ["horus-image:do_populate_sdk"] if "sdk" in board.options else []
    status, said = bitbake.bitbake(workspace, build, ["bitbake", "-g", "horus-image", *sdk])
    if status != 0:
        return bitbake.errors(said, status)
    parsed = re.search(r"(\d+) errors\.", said)
    if parsed and parsed[1] != "0":
        return f"{parsed[1]} recipes with errors"
    needed = (build / "pn-buildlist").read_text().split()
    absent = [name for name in (board.form.kernel, "horus", "horus-conf", "rt-tests", "stress-ng", "systemd") if name not in needed]
    return f"not part of the image: {', '.join(absent)}" if absent else ""


def kernel(workspace: Workspace, board: Build, build) -> str:
    """The real-time kernel is chosen, and the fragment of conf/ is among its sources."""
    chosen = bitbake.value(workspace, build, "PREFERRED_PROVIDER_virtual/kernel")
    if chosen != board.form.kernel:
        return f"the kernel is {chosen}, not {board.form.kernel}"
    sources = bitbake.value(workspace, build, "SRC_URI", chosen).split()
    wanted = ["file://rt.cfg", "file://boot.cfg"]
    wanted += ["file://uefi.cfg"] if chosen == "linux-yocto-rt" else []
    wanted += ["file://dm-verity.cfg"] if "secure" in board.options else []
    absent = [name for name in wanted if name not in sources]
    return f"SRC_URI of {chosen} lacks {' '.join(absent)}" if absent else ""


def command_line(workspace: Workspace, board: Build, build) -> str:
    """The board's own place for the kernel command line holds what the Debian recipe would give the same board."""
    recipe, variable = board.form.command_line
    found = bitbake.value(workspace, build, variable, recipe)
    wanted = horus_conf.kernel_command_line(board.name, tuned="rt" in board.trees) + board.form.parameters
    # Jetson: conf/ stands behind the board layer's own parameters; of one that stands twice, the last counts.
    right = found.endswith(f" {wanted}") if board.board.firmware == "tegra" else found == wanted
    return "" if right else f"{variable} of {recipe} is\n    {found}\nand conf/ says\n    {wanted}"


def image(workspace: Workspace, board: Build, build) -> str:
    """The image is read-only, in the form that docs promise, and has the packages of its trees of conf/ and no others."""
    wrong = []
    features = bitbake.value(workspace, build, "IMAGE_FEATURES", "horus-image").split()
    if "read-only-rootfs" not in features:
        wrong.append("IMAGE_FEATURES lacks read-only-rootfs")
    if ("empty-root-password" in features) != ("dev" in board.options):
        wrong.append("empty-root-password belongs to the option dev, and to nothing else")
    types = bitbake.value(workspace, build, "IMAGE_FSTYPES", "horus-image").split()
    wrong += [f"IMAGE_FSTYPES lacks {name}" for name in board.form.types if name not in types]
    packages = bitbake.value(workspace, build, "RDEPENDS:packagegroup-horus", "packagegroup-horus").split()
    found = sorted(name for name in packages if name.startswith("horus-conf-"))
    if found != sorted(f"horus-conf-{tree}" for tree in board.trees):
        wrong.append(f"packages of conf/ are {' '.join(found)}, and this image's trees are {' '.join(board.trees)}")
    release = bitbake.value(workspace, build, "OS_RELEASE_FIELDS", "os-release").split()
    wrong += [f"os-release lacks {name}" for name in ("IMAGE_ID", "IMAGE_VERSION") if name not in release]
    return "\n".join(wrong)


def units(workspace: Workspace, board: Build, build) -> str:
    """Every file of the image's trees is in the package of its tree, and every one of its board in the board's."""
    wrong = []
    packages = {tree: ("horus-conf", f"FILES:horus-conf-{tree}") for tree in board.trees} | {f"machine/{board.name}": ("horus-board", "FILES:horus-board")}
    for tree, (recipe, variable) in packages.items():
        files = sorted(f"/{path}" for path in horus_conf.tree_files(tree))
        installed = bitbake.value(workspace, build, variable, recipe).split()
        if installed != files:
            wrong.append(f"{variable} of {recipe} differs from tree {tree} of conf/ in: {' '.join(sorted(set(installed) ^ set(files)))}")
    return "\n".join(wrong)


CHECKS = {"resolves": resolves, "kernel": kernel, "command line": command_line, "image": image, "units": units}
