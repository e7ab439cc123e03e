"""What is asked of the layer, board by board; each check is a function that returns what is wrong, empty for nothing."""

import re

from checks.layer.below import bitbake
from checks.layer.below.bitbake import META, Workspace
from checks.layer.boards import Build
from horus_appliance.image import mkosi

import horus_conf


NEEDLESS = ("alsa-lib", "bluez5", "gobject-introspection", "grub-efi", "lrzsz", "mesa", "setserial")


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
    wanted = [board.form.kernel, "horus", "horus-conf", "rt-tests", "stress-ng", "systemd"]
    wanted += ["python3", "python3-horus", "python3-numpy"] if "python" in board.options else []
    wanted += ["horus-bridge"] if "bridge" in board.options else []
    wanted += ["libhorus"] if sdk else []
    absent = [name for name in wanted if name not in needed]
    # Sound, radio, screens and boot loaders of no use: a PC of ours needs none, and each costs its builders time.
    needless = [name for name in NEEDLESS if name in needed] if board.board.firmware == "uefi" else []
    return "\n".join([f"not part of the image: {', '.join(absent)}"] * bool(absent) + [f"built for nothing: {', '.join(needless)}"] * bool(needless))


def kernel(workspace: Workspace, board: Build, build) -> str:
    """The real-time kernel is chosen, and the fragment of conf/ is among its sources."""
    chosen = bitbake.value(workspace, build, "PREFERRED_PROVIDER_virtual/kernel")
    if chosen != board.form.kernel:
        return f"the kernel is {chosen}, not {board.form.kernel}"
    sources = bitbake.value(workspace, build, "SRC_URI", chosen).split()
    wanted = ["file://rt.cfg", "file://boot.cfg", "file://units.cfg"]
    wanted += ["file://uefi.cfg"] if chosen == "linux-yocto-rt" else []
    wanted += ["file://dm-verity.cfg"] if "secure" in board.options else []
    absent = [name for name in wanted if name not in sources]
    return f"SRC_URI of {chosen} lacks {' '.join(absent)}" if absent else ""


def command_line(workspace: Workspace, board: Build, build) -> str:
    """The board's own place for the kernel command line holds what the Debian recipe would give the same board."""
    recipe, variable = board.form.command_line
    found = bitbake.value(workspace, build, variable, recipe)
    wanted = horus_conf.kernel_command_line(board.name, tuned="rt" in board.trees, version=mkosi.version()) + board.form.parameters
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
    if bitbake.value(workspace, build, "hostname", "base-files") != "horus":
        wrong.append("the machine is not called horus")
    if bitbake.value(workspace, build, "VIRTUAL-RUNTIME_base-utils-syslog"):
        wrong.append("a second daemon would take the journal's work: VIRTUAL-RUNTIME_base-utils-syslog")
    release = bitbake.value(workspace, build, "OS_RELEASE_FIELDS", "os-release").split()
    wrong += [f"os-release lacks {name}" for name in ("IMAGE_ID", "IMAGE_VERSION", "VENDOR_NAME", "HORUS_SECURITY_CONTACT", "SUPPORT_END") if name not in release]
    steps = bitbake.value(workspace, build, "ROOTFS_POSTPROCESS_COMMAND", "horus-image").split()
    if "horus_stamp_build" not in steps or "BUILD_ID" in release:
        wrong.append("BUILD_ID has to be written when the image is made, not by os-release, whose package is reused")
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


CHECKS = {"resolves": resolves, "kernel": kernel, "command line": command_line, "image": image, "units": units}
# What only --full asks, because it takes minutes a board, and of which boards: a dry run parses every recipe once a task, and is the
# same for all boards but the kernel; the check of layers is for each layer of boards.
FULL_CHECKS = {
    "dry run": (dry_run, ["generic-x86-64"]),
    "yocto-check-layer": (yocto_check_layer, ["generic-x86-64", "raspberrypi4", "jetson-orin-nano"]),
}
