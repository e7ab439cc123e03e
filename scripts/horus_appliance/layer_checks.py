"""What is asked of the layer, board by board; each check is a function that returns what is wrong, empty for nothing."""

import re

from . import conf, layer_build
from .layer_boards import COMMAND_LINES, KERNELS, Board, own_parameters
from .layer_build import Workspace
from .paths import CONF


def resolves(workspace: Workspace, board: Board, build) -> str:
    """All recipes are parsed without an error, and every package of the image has a provider, down to the compiler."""
    sdk = ["horus-image:do_populate_sdk"] if "sdk" in board.options else []
    status, said = layer_build.bitbake(workspace, build, ["bitbake", "-g", "horus-image", *sdk])
    if status != 0:
        return layer_build.errors(said, status)
    parsed = re.search(r"(\d+) errors\.", said)
    if parsed and parsed[1] != "0":
        return f"{parsed[1]} recipes with errors"
    needed = (build / "pn-buildlist").read_text().split()
    absent = [name for name in (KERNELS[board.name], "horus", "horus-conf", "rt-tests", "stress-ng", "systemd") if name not in needed]
    return f"not part of the image: {', '.join(absent)}" if absent else ""


def kernel(workspace: Workspace, board: Board, build) -> str:
    """The real-time kernel is chosen, and the fragment of conf/ is among its sources."""
    chosen = layer_build.value(workspace, build, "PREFERRED_PROVIDER_virtual/kernel")
    if chosen != KERNELS[board.name]:
        return f"the kernel is {chosen}, not {KERNELS[board.name]}"
    sources = layer_build.value(workspace, build, "SRC_URI", chosen).split()
    wanted = ["file://rt.cfg", "file://boot.cfg"]
    wanted += ["file://uefi.cfg"] if chosen == "linux-yocto-rt" else []
    wanted += ["file://dm-verity.cfg"] if "secure" in board.options else []
    absent = [name for name in wanted if name not in sources]
    return f"SRC_URI of {chosen} lacks {' '.join(absent)}" if absent else ""


def command_line(workspace: Workspace, board: Board, build) -> str:
    """The board's own place for the kernel command line holds what the Debian recipe would give the same board."""
    recipe, variable = COMMAND_LINES[board.name]
    found = layer_build.value(workspace, build, variable, recipe)
    wanted = conf.kernel_command_line(board.name, tuned="untuned" not in board.options) + own_parameters(board.name)
    # Jetson: conf/ stands behind the board layer's own parameters; of one that stands twice, the last counts.
    right = found.endswith(f" {wanted}") if board.name.startswith("jetson-") else found == wanted
    return "" if right else f"{variable} of {recipe} is\n    {found}\nand conf/ says\n    {wanted}"


def image(workspace: Workspace, board: Board, build) -> str:
    """The image is read-only, in the form that docs promise, and has the packages of its trees of conf/ and no others."""
    wrong = []
    features = layer_build.value(workspace, build, "IMAGE_FEATURES", "horus-image").split()
    if "read-only-rootfs" not in features:
        wrong.append("IMAGE_FEATURES lacks read-only-rootfs")
    if ("empty-root-password" in features) != ("dev" in board.options):
        wrong.append("empty-root-password belongs to the option dev, and to nothing else")
    types = layer_build.value(workspace, build, "IMAGE_FSTYPES", "horus-image").split()
    form = ["tegraflash-tar.zst"] if board.name.startswith("jetson-") else ["wic.zst", "wic.bmap"]
    wrong += [f"IMAGE_FSTYPES lacks {name}" for name in form if name not in types]
    packages = layer_build.value(workspace, build, "RDEPENDS:packagegroup-horus", "packagegroup-horus").split()
    trees = ["base", "horus", *([] if "untuned" in board.options else ["rt"]), *(["dev"] if "dev" in board.options else [])]
    found = sorted(name for name in packages if name.startswith("horus-conf-"))
    if found != sorted(f"horus-conf-{tree}" for tree in trees):
        wrong.append(f"packages of conf/ are {' '.join(found)}, and this image's trees are {' '.join(trees)}")
    release = layer_build.value(workspace, build, "OS_RELEASE_FIELDS", "os-release").split()
    wrong += [f"os-release lacks {name}" for name in ("IMAGE_ID", "IMAGE_VERSION") if name not in release]
    return "\n".join(wrong)


def units(workspace: Workspace, board: Board, build) -> str:
    """Every unit of conf/ is installed, by the package of its tree or of its board."""
    wrong = []
    for tree, recipe, variable in (
        ("horus", "horus-conf", "FILES:horus-conf-horus"),
        ("rt", "horus-conf", "FILES:horus-conf-rt"),
        ("base", "horus-conf", "FILES:horus-conf-base"),
        (f"machine/{board.name}", "horus-board", "FILES:horus-board"),
    ):  # fmt: skip
        root = CONF / tree / "rootfs"
        files = sorted("/" + str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        installed = layer_build.value(workspace, build, variable, recipe).split()
        if installed != files:
            wrong.append(f"{variable} of {recipe} differs from conf/{tree}/rootfs in: {' '.join(sorted(set(installed) ^ set(files)))}")
    return "\n".join(wrong)


CHECKS = {"resolves": resolves, "kernel": kernel, "command line": command_line, "image": image, "units": units}
