"""Real target packages of our recipes, made by BitBake with this machine's compilers and the Rust of the release (meta-horus/tests/hosttools)."""

import filecmp
import re
import shutil
import subprocess
from pathlib import Path

from checks.layer.below import bitbake
from checks.layer.below.bitbake import META, Workspace
from checks.layer.boards import Build
from horus_appliance.console import CannotRun, detail
from horus_appliance.host import system
from horus_appliance.paths import OUT

import horus_conf

SHIM = META / "tests" / "hosttools"
RECIPES = ["horus", "libhorus", "python3-horus", "horus-conf", "horus-board", "horus-benchmarks", "horus-bridge"]
PACKAGES = OUT / "packages"  # scripts/boot --packages takes one of its folders
# A board of each architecture.
BOARDS = ("generic-x86-64", "raspberrypi4")
# By architecture: Rust's name of it, Debian's prefix of the compilers, what `file` says of a program.
ARCHITECTURES = {"x86-64": ("x86_64", "", "x86-64"), "arm64": ("aarch64", "aarch64-linux-gnu-", "ARM aarch64")}
# What an author of programs in C and C++ finds in the SDK.
SDK_FILES = ("libhorus-dev/usr/include/horus/horus.hpp", "libhorus-dev/usr/lib/cmake/horus/horusConfig.cmake", "libhorus-dev/usr/lib/pkgconfig/horus.pc",
             "libhorus-staticdev/usr/lib/libhorus.a")  # fmt: skip
TOOLS = ("ar", "as", "g++", "gcc", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "strip")
DEBIAN_PACKAGES = [
    "build-essential", "dpkg-dev", "g++-aarch64-linux-gnu", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "pkg-config", "pseudo", "quilt", "rpm",
]  # fmt: skip


def make(workspace: Workspace, board: Build) -> str:
    """Builds the packages, looks into them and puts them into out/packages; returns what is wrong."""
    name = board.board.architecture
    rust, prefix, elf = ARCHITECTURES[name]
    install_tools()
    path = f"{toolchain(workspace)}:{links(workspace, rust, prefix)}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    build = bitbake.configure(workspace, f"packages-{name}", board, (SHIM,), "require conf/hosttools.conf\n", network=True)
    # From the beginning each time: Debian's pseudo, older than Yocto's, mistakes the files of a second run for those of the first.
    # What has not changed comes from the cache of finished tasks.
    subprocess.run(bitbake.as_user(workspace, ["rm", "-rf", str(build / "tmp")]), check=True)
    targets = [word for recipe in RECIPES for word in (f"{recipe}:do_package_write_deb", f"{recipe}:do_package_qa")]
    status, said = bitbake.bitbake(workspace, build, ["bitbake", *targets], path)
    if status != 0:
        return bitbake.errors(said, status)
    debs = sorted((build / "tmp" / "deploy" / "deb").rglob("*.deb"))
    wrong = inspect(workspace, board, debs, elf)
    if not wrong:
        target = PACKAGES / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for deb in debs:
            shutil.copy(deb, target)
        detail(f"{len(debs)} packages: {target}")
    return wrong


def install_tools() -> None:
    """Installs what takes the place of BitBake's own tools."""
    said = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Abbrev}${Package}\n", *DEBIAN_PACKAGES], capture_output=True, text=True, check=False)
    missing = [package for package in DEBIAN_PACKAGES if f"ii {package}" not in said.stdout.splitlines()]
    if missing:
        system.install(missing)


def toolchain(workspace: Workspace) -> Path:
    """Folder of the programs of oe-core's own version of Rust, installed for the user."""
    recipes = workspace.layers / "openembedded-core" / "meta" / "recipes-devtools" / "rust"
    version = re.search(r"rust_([0-9.]+)\.bb", " ".join(path.name for path in recipes.glob("rust_*.bb")))[1]
    rustup = shutil.which("rustup")
    if not rustup:
        raise CannotRun("rustup was not found, and only it brings the release's version of Rust. Install Rust from https://rustup.rs.")
    home = workspace.home / "rustup"
    folder = home / "toolchains" / f"{version}-x86_64-unknown-linux-gnu"
    if not (folder / "lib/rustlib/aarch64-unknown-linux-gnu").is_dir():
        detail(f"installing Rust {version}, which the release's recipes have")
        subprocess.run(
            ["env", f"RUSTUP_HOME={home}", rustup, "toolchain", "install", version, "--profile", "minimal", "--no-self-update",
             "--target", "aarch64-unknown-linux-gnu"], check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run(["chmod", "-R", "a+rX", str(home)], check=True)
    return folder / "bin"


def links(workspace: Workspace, architecture: str, prefix: str) -> Path:
    """A folder with the compilers under the names that BitBake gives to its own."""
    folder = workspace.home / "tools" / architecture
    script = "".join(f"ln -sf $(command -v {prefix}{tool}) {folder}/{architecture}-horus-linux-{tool}\n" for tool in TOOLS)
    subprocess.run(bitbake.as_user(workspace, ["sh", "-ec", f"mkdir -p {folder}\n{script}"]), check=True)
    return folder


def inspect(workspace: Workspace, board: Build, debs: list, elf: str) -> str:
    """What is wrong with the packages: a file of conf/ that is missing or changed, a program that is missing or of another machine."""
    unpacked = workspace.home / "unpacked" / board.name
    subprocess.run(bitbake.as_user(workspace, ["rm", "-rf", str(unpacked)]), check=True)
    for deb in debs:
        folder = unpacked / deb.name.partition("_")[0]
        subprocess.run(bitbake.as_user(workspace, ["mkdir", "-p", str(folder)]), check=True)
        subprocess.run(bitbake.as_user(workspace, ["dpkg-deb", "--extract", str(deb), str(folder)]), check=True)
    wrong = []
    trees = {f"horus-conf-{tree}": tree for tree in horus_conf.all_trees()} | {"horus-board": f"machine/{board.name}"}
    for package, tree in trees.items():
        for place, source in horus_conf.tree_files(tree).items():
            installed = unpacked / package / place
            if not installed.is_file():
                wrong.append(f"{installed} is missing, a file of conf/")
            elif not filecmp.cmp(source, installed, shallow=False):
                wrong.append(f"{installed} has another content than {source}")
            elif (source.stat().st_mode ^ installed.stat().st_mode) & 0o100:
                wrong.append(f"{installed} is executable or not unlike {source}")
    for program in horus_conf.programs():
        path = unpacked / "horus" / program.path
        said = subprocess.run(["file", "--brief", str(path)], capture_output=True, text=True, check=False).stdout
        if elf not in said:
            wrong.append(f"horus: /{program.path} is no program for {elf}: {said.strip()}")
    # BitBake names the package of a library by its first number, as Debian does.
    for place in ("libhorus1/usr/lib/libhorus.so.1", "python3-horus/usr/lib/python3*/site-packages/horus/_horus.abi3.so"):
        found = list(unpacked.glob(place))
        said = subprocess.run(["file", "--brief", *map(str, found)], capture_output=True, text=True, check=False).stdout if found else "it is missing"
        if elf not in said:
            wrong.append(f"{place} is no library for {elf}: {said.strip()}")
    wrong += [f"{place} is missing" for place in SDK_FILES if not (unpacked / place).exists()]
    if not list(unpacked.glob("horus-ptest/usr/lib/horus/ptest/topics")):
        wrong.append("horus-ptest has no test program 'topics'")
    return "\n".join(wrong)
