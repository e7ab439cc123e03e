"""Parses every recipe and append of meta-horus for every machine, in the
environment of yocto/tools. What kas files add to local.conf is parsed too, as far as it is ours.

Besides what BitBake itself refuses: a file:// that is nowhere, a link that leads out of a folder that is copied alone, a licence
that is not declared or whose text has another checksum, and a download without a checksum.
"""

import re
from pathlib import Path

import bb.utils

from checks.conf import units
from checks.layer import bb_reader, boards, kas_files, wic
from checks.layer.bb_reader import LAYER, Layer, ParseFailed
from horus_appliance.console import detail
from horus_appliance.image import mkosi
from horus_appliance.paths import REPOSITORY

import horus_conf


def problems_of(data, path: Path, is_append: bool = False) -> list:
    """What is wrong with a parsed recipe; the licence of what is appended to is that recipe's own business."""
    with bb_reader.refusals(path):
        return refused(data, path.relative_to(LAYER) if path.is_relative_to(LAYER) else path.name, is_append)


def refused(data, name, is_append: bool) -> list:
    """The same, where reading a variable may end in an error of its own."""
    if reason := data.getVar("__SKIPPED", False):
        return [f"{name}: for {data.getVar('MACHINE')} it is left out: {reason}"]
    found, sources = [], bb_reader.sources(data)
    for source in sources:
        place = Path(source.localpath)
        if source.type not in ("file", "crate"):
            found.append(f"{source.url}: everything of ours is in this repository or on crates.io; a download from elsewhere needs a check here")
        if source.type == "crate" and not source.sha256_expected:
            found.append(f"{source.url} has no sha256sum. Run scripts/crates.")
        if source.type == "file" and not place.exists():
            found.append(f"{source.url} is nowhere. Correct SRC_URI or FILESEXTRAPATHS, or add the file.")
        for link in place.rglob("*"):
            if link.is_symlink() and not link.resolve().is_relative_to(place.resolve()):
                found.append(f"{source.url} holds {link.relative_to(place)}, a link that leads out of what is copied. Copy its target in.")
    return [f"{name}: {text}" for text in found + ([] if is_append else license_problems(data, [source.localpath for source in sources]))]


def dependency_problems(layer: Layer) -> list:
    """Packages of ours whose units call programs that nothing brings."""
    conf = layer.recipe(LAYER / "recipes-horus/horus-conf/horus-conf.bb")
    board = layer.recipe(LAYER / "recipes-horus/horus-board/horus-board.bb")
    trees = {f"horus-conf-{tree}": (conf, tree) for tree in horus_conf.all_trees()}
    trees["horus-board"] = (board, f"machine/{board.getVar('HORUS_BOARD')}")
    found = []
    for package, (data, tree) in sorted(trees.items()):
        if data.getVar(f"FILES:{package}") is None:
            found.append(f"{layer.machine}: FILES:{package} is not set, so the files of conf/'s {tree} are in no package")
        for missing in sorted(units.packages_needed(horus_conf.tree_place(tree)[0]) - set((data.getVar(f"RDEPENDS:{package}") or "").split())):
            found.append(f"{layer.machine}: RDEPENDS:{package} lacks {missing}, whose program a unit of conf/'s {tree} calls")
    return found


def option_problems(machine: str, text: str, made: set) -> list:
    """Packages of ours that an option asks for, and that no recipe makes. Only a whole build would say so."""
    data = Layer(machine, text).data
    wanted = " ".join(data.getVar(name) or "" for name in ("CORE_IMAGE_EXTRA_INSTALL", "TOOLCHAIN_TARGET_TASK")).split()
    return [f"{machine}: an option asks for the package {name}, which no recipe here makes" for name in wanted if "horus" in name and name not in made]


def command_line_problems(layer: Layer) -> list:
    """Where the board's own place for the kernel command line holds something else than conf/ says."""
    board = horus_conf.boards()[horus_conf.board_of(layer.machine)]
    form = boards.FORMS[board.firmware]
    wanted = horus_conf.kernel_command_line(board.name, tuned="rt" in layer.data.getVar("HORUS_TREES").split(), version=mkosi.version()) + form.parameters
    if board.firmware == "uefi":
        found = layer.recipe(LAYER / "recipes-core/images/horus-image.bb").getVar("UKI_CMDLINE")
    elif board.firmware == "raspberrypi":
        found = layer.appended(next(path for path in layer.appends() if path.name.startswith("rpi-cmdline"))).getVar("CMDLINE")
    else:  # meta-tegra's own parameters come first; here a stand-in has their place
        found = layer.data.getVar("KERNEL_ARGS").removeprefix("board.support ")
    return [] if found == wanted else [f"{layer.machine}: the kernel command line is\n    {found}\nand conf/ says\n    {wanted}"]


def license_problems(data, files: list) -> list:
    """What is wrong with the declared licence and its texts."""
    declared, texts = data.getVar("LICENSE") or "", bb_reader.sources(data, "LIC_FILES_CHKSUM")
    if declared in ("", "CLOSED"):
        return [f"LICENSE is '{declared}'. Name the licence by its SPDX identifier."]
    if files and not texts:
        return ["SRC_URI without LIC_FILES_CHKSUM: name the licence's text and its MD5."]
    found = [f"{text.url}: the licence's text is not in SRC_URI" for text in texts if text.localpath not in files]
    for text in texts:
        if text.localpath in files and bb.utils.md5_file(text.localpath) != text.parm.get("md5"):
            found.append(f"{text.url}: the text has MD5 {bb.utils.md5_file(text.localpath)}. Did the licence change? Then say so.")
    return found


def problems() -> list:
    """What is wrong with any recipe or append in any build."""
    found, parsed, made = [], 0, set()
    builds = kas_files.builds()
    for machine, text in builds:
        try:
            layer = Layer(machine, text)
        except ParseFailed as error:
            found.append(f"{machine}: {error}")
            continue
        found += command_line_problems(layer) + (dependency_problems(layer) if not text else [])
        for path in [*layer.recipes(), *layer.appends()]:
            try:
                if path.suffix == ".bbappend":
                    found += problems_of(layer.appended(path), path, is_append=True)
                else:
                    data = layer.recipe(path)
                    # An option that is not for every board leaves recipes out on the others, and says so.
                    if not (text and data.getVar("__SKIPPED", False)):
                        found += problems_of(data, path)
                        made.update((data.getVar("PACKAGES") or "").split())
                parsed += 1
            except ParseFailed as error:
                found.append(f"{machine}: {str(error).replace(str(REPOSITORY) + '/', '')}")
        found += option_problems(machine, text, made) if text else []
    detail(f"parsed {parsed} recipes and appends in {len(builds)} builds of {len(horus_conf.boards())} boards")
    return list(dict.fromkeys(found))


def layout_problems() -> list:
    """What is wrong with the layer's partition layouts, with the variables that an image of ours has with any board and option."""
    layouts = sorted((LAYER / "files" / "wic").glob("*.wks*"))
    names = {name for path in layouts for name in re.findall(r"\$\{(\w+)\}", path.read_text())}
    variables = {}
    for machine, text in kas_files.builds():
        if names - set(variables):
            data = Layer(machine, text).recipe(LAYER / "recipes-core/images/horus-image.bb")
            variables |= {name: value for name in names - set(variables) if (value := data.getVar(name))}
    return [problem for path in layouts for problem in wic.problems_of(path, variables)] or ([] if layouts else ["meta-horus/files/wic holds no layout"])
