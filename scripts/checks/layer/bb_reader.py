"""Reads the recipes of meta-horus with BitBake's own library and without the layers below it.

Runs inside the environment of yocto/tools. What openembedded-core would bring stands below: the variables that our recipes use, and the names of the classes that they inherit, empty. So syntax,
expansion, overrides, appends and our own Python are BitBake's; what the classes do, scripts/check-layer sees with the real layers.
"""

import atexit
import logging
import shutil
import sys
import tempfile
from contextlib import contextmanager
from fnmatch import fnmatch
from logging.handlers import BufferingHandler
from pathlib import Path
from types import ModuleType

# bb imports the client of BitBake's hash server, which its package leaves out; reading recipes calls none of it.
sys.modules["hashserv"] = sys.modules["hashserv.client"] = ModuleType("hashserv")

import bb.data
import bb.fetch2
import bb.parse
import bb.parse.parse_py.BBHandler  # noqa: F401  (registers itself)
import bb.siggen

from checks.layer import boards
from horus_appliance.yocto.tools import LAYER

# Classes of openembedded-core that our recipes may inherit. A name that is not here is a mistake, or new: add it.
CLASSES = {
    "allarch", "base", "cargo", "cargo-update-recipe-crates", "core-image", "deploy", "extrausers", "features_check", "image",
    "kernel", "native", "nopackages", "overlayfs", "packagegroup", "ptest", "systemd", "testimage", "uki", "update-alternatives", "useradd",
    "dm-verity-img", "create-spdx", "populate_sdk", "image-buildinfo", "cve-check", "vex", "python3-dir", "python3native",
}  # fmt: skip

# bitbake.conf's part in it.
FOUNDATION = r"""
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'defaultpkgname'}"
PV ?= "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
BPN = "${@d.getVar('PN').replace('-native', '')}"
P = "${PN}-${PV}"
BP = "${BPN}-${PV}"
bindir = "/usr/bin"
sbindir = "/usr/sbin"
libdir = "/usr/lib"
nonarch_libdir = "/usr/lib"
includedir = "/usr/include"
prefix = "/usr"
PYTHON_SITEPACKAGES_DIR = "${libdir}/python3/site-packages"
sysconfdir = "/etc"
WORKDIR = "/nowhere/${PN}"
UNPACKDIR = "${WORKDIR}/sources"
S = "${UNPACKDIR}/${BP}"
B = "${S}"
D = "${WORKDIR}/image"
DL_DIR = "/nowhere/downloads"
CARGO_TARGET_SUBDIR = "release"
MACHINE_ARCH = "${@d.getVar('MACHINE').replace('-', '_')}"
DISTRO_FEATURES ?= ""
IMAGE_FEATURES ?= ""
PACKAGES = "${PN}-src ${PN}-dbg ${PN}-staticdev ${PN}-dev ${PN}-doc ${PN}-locale ${PN}"
OVERRIDES = "pn-${PN}:${MACHINEOVERRIDES}:${DISTROOVERRIDES}:forcevariable"
FILESEXTRAPATHS ?= "__default:"
FILESPATH = "${FILESEXTRAPATHS}${@':'.join(os.path.join(os.path.dirname(d.getVar('FILE')), name) for name in (d.getVar('BP'), d.getVar('BPN'), 'files'))}"
KERNEL_ARGS ?= "board.support"
CMDLINE ?= "board.support"
LAYERSERIES_CORENAMES = "wrynose"
"""


class ParseFailed(Exception):
    """BitBake's library refused a file; the message has file and line."""


# Keeps what BitBake's library logs, because it puts file and line there and not into its exceptions.
RECORDER = BufferingHandler(capacity=1000)
RECORDER.setLevel(logging.WARNING)


@contextmanager
def refusals(path: Path):
    """Turns whatever BitBake's library raises, or the code in a recipe, into one error with file and reason."""
    RECORDER.flush()
    try:
        yield
    except (Exception, SystemExit) as error:
        raise ParseFailed(f"{path}: {error} {' '.join(record.getMessage() for record in RECORDER.buffer)}".strip()) from error


class Layer:
    """The layer as one MACHINE sees it, with the options of a kas fragment if given."""

    def __init__(self, machine: str, settings: str = ""):
        self.machine = machine
        root = Path(tempfile.mkdtemp())
        self.scratch = root
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        (root / "classes").mkdir()
        for name in CLASSES:
            (root / "classes" / f"{name}.bbclass").touch()
        (root / "foundation.conf").write_text(FOUNDATION)
        (root / "local.conf").write_text(settings + "\n")
        for name in ("BitBake", "BitBake.Parsing", "BitBake.Data"):
            logger = logging.getLogger(name)
            logger.propagate = False
            logger.handlers = [RECORDER]
        data = bb.data.init()
        data.setVar("MACHINE", machine)
        data.setVar("MACHINEOVERRIDES", boards.overrides(machine))
        data.setVar("FILE", "none")
        data.setVar("BBPATH", str(root))
        data.setVar("LAYERDIR", str(LAYER))
        data.setVar("BBFILE_COLLECTIONS", "core raspberrypi tegra")
        for path in (root / "foundation.conf", root / "local.conf", LAYER / "conf/layer.conf", LAYER / "conf/distro/horus.conf"):
            data = self._parse(path, data, include=True)
        data.setVar("__bbclasstype", "recipe")
        data.setVar("BB_SIGNATURE_HANDLER", "noop")
        bb.parse.siggen = bb.siggen.init(data)
        self.data = data

    def recipes(self) -> list:
        """Every recipe of the layer, the test's own layers excepted."""
        return sorted(path for path in LAYER.glob("recipes-*/*/*.bb"))

    def appends(self) -> list:
        """The layer's appends for this machine: those of dynamic layers only where the machine comes from that layer."""
        from_layers = {"rpi": "raspberrypi", "tegra": "tegra"}
        dynamic = [name for override, name in from_layers.items() if override in self.data.getVar("MACHINEOVERRIDES").split(":")]
        return sorted(LAYER.glob("recipes-*/*/*.bbappend")) + sorted(
            path for name in dynamic for path in LAYER.glob(f"dynamic-layers/{name}/*/*/*.bbappend")
        )

    def recipe(self, path: Path):
        """The data of one recipe with our appends to it."""
        return self._appended(path, [append for append in self.appends() if fnmatch(path.stem, append.stem.replace("%", "*"))])

    def appended(self, append: Path):
        """The data of an append to a recipe of another layer, in whose place stands an empty one."""
        stand_in = self.scratch / (append.stem.replace("%", "1.0") + ".bb")
        stand_in.write_text('LICENSE = "MIT"\n')
        return self._appended(stand_in, [append])

    def _appended(self, path: Path, appends: list):
        data = bb.data.createCopy(self.data)
        data.setVar("__BBAPPEND", " ".join(map(str, appends)))
        data.setVar("FILE", str(path))
        return self._parse(path, data, include=False)

    def _parse(self, path: Path, data, include: bool):
        with refusals(path):
            parsed = bb.parse.handle(str(path), data, include, baseconfig=include)
        return parsed[""] if isinstance(parsed, dict) else parsed


def sources(data, variable: str = "SRC_URI") -> list:
    """What a variable has to be fetched, each with `type`, `url`, `localpath`, `parm` and `sha256_expected`, as BitBake's fetchers see it."""
    uris = (data.getVar(variable) or "").split()
    found = list(bb.fetch2.Fetch(uris, data, cache=False).ud.values()) if uris else []
    for source in found:
        source.setup_localpath(data)
    return found
