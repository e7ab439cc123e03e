"""Builds the appliance's disk image with mkosi, and reuses what has not changed."""

import fcntl
import hashlib
import hmac
import os
import subprocess
import tomllib
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun, follow, step
from horus_appliance.host import binfmt, builder, debian, system
from horus_appliance.host.architecture import X86_64, Architecture
from horus_appliance.image import keys, overlay, runtime, sbom, vendor
from horus_appliance.paths import BUILD, CONF, RECIPE, REPOSITORY, RUNTIME

import horus_conf


@dataclass(frozen=True)
class Image:
    """A built image: the flashable disk and the parts of it that a direct kernel boot needs."""

    variant: str
    directory: Path
    version: str
    architecture: Architecture = X86_64

    @property
    def name(self) -> str:
        """What tells this image from others in directories, logs and messages."""
        return self.directory.name

    @property
    def disk(self) -> Path:
        return self.directory / f"horus_{self.version}.raw"

    @property
    def kernel(self) -> Path:
        return self.directory / f"horus_{self.version}.vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.directory / f"horus_{self.version}.initrd"

    @property
    def command_line(self) -> str:
        return horus_conf.kernel_command_line(self.architecture.board, tuned="rt" in horus_conf.variants()[self.variant], version=self.version)

    @property
    def unified_kernel(self) -> Path:
        """The unified kernel image, as it lies on the boot loader's partition."""
        return self.directory / f"horus_{self.version}.efi"

    @property
    def parts(self) -> Path:
        """The list of all that the image is made of, in the form of CycloneDX."""
        return self.directory / f"horus_{self.version}.cdx.json"

    @property
    def system_label(self) -> str:
        """The name of the partition with this version's system."""
        return horus_conf.system_label(self.version)


def build(
    variant: str = "appliance", fresh: bool = False, architecture: Architecture = X86_64, packages: Path | None = None, update_keys: tuple = (),
    named: str = "",
) -> Image:  # fmt: skip
    """Builds the runtime and the image, each only when something that goes into it has changed.

    `fresh` builds from the mirror's newest packages even when nothing here has changed. With `packages`, a directory of
    packages that another builder made, those take the places of the trees of conf/ and of the runtime built here.
    The image takes updates by the public keys `update_keys`; one with the tree `dev` and none of these, by this clone's own.
    `named` is its version, by which updates are told apart; without it, that is the runtime's.
    """
    trees = horus_conf.variants()[variant]
    BUILD.mkdir(parents=True, exist_ok=True)
    with only_one_build():
        system.require_rust()
        system.install_packages()
        builder.ensure(architecture, fresh)  # also where nothing is to be built: QEMU runs in it
        origin = ["packages"] if packages else []
        name = "-".join([variant, *origin, *([] if architecture == X86_64 else [architecture.name])])
        image = Image(variant, BUILD / "image" / name, named or version(), architecture)
        if packages:
            tree = overlay.stage_packages(trees, packages.resolve(), architecture, name)
        else:
            more = [horus_conf.has_option(variant, option) for option in ("python", "bridge")]
            tree = overlay.stage(trees, runtime.build(architecture, *more), architecture, name)
            sbom.add_crates(tree, architecture, *more)
        vendor.add(tree)
        overlay.add_keys(tree, update_keys or ([keys.development()] if "dev" in trees else []))
        stamp = image.directory / "inputs.sha256"
        inputs = fingerprint(image, tree)
        if not fresh and image.disk.is_file() and stamp.is_file() and stamp.read_text() == inputs:
            step(f"image '{name}': nothing has changed, reusing {image.disk.relative_to(REPOSITORY)}")
            return image
        run_mkosi(image, tree, fresh)
        stamp.write_text(inputs)  # last: an image without its stamp is built again
        return image


def version() -> str:
    """The product's version: that of the runtime's workspace."""
    return tomllib.loads((RUNTIME / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def mkosi_arguments(image: Image, tree: Path) -> list:
    """What mkosi is told besides recipes/debian: all that differs by variant."""
    profile = horus_conf.profile(image.variant)
    return [
        *([f"--profile={profile}"] if profile else []),
        f"--architecture={image.architecture.name}", f"--extra-tree={tree}", f"--image-version={image.version}", f"--kernel-command-line={image.command_line}",
        f"--environment=HORUS_BOARD={image.architecture.board}",
        f"--repart-directory={CONF / 'base' / 'rootfs' / 'usr' / 'lib' / 'repart.d'}",
    ]  # fmt: skip


def disk_arguments(seed: uuid.UUID) -> list:
    """What tells the disks of two builds apart, also for the kernel: systemd-repart makes a disk's GUID of its seed, and an addon of the
    boot loader names it on the kernel's command line (recipes/debian/mkosi.finalize.d/40-disk)."""
    made = hmac.new(seed.bytes, b"disk-uuid", hashlib.sha256).digest()[:16]
    return [f"--seed={seed}", f"--environment=HORUS_DISK={uuid.UUID(bytes=made, version=4)}"]


def fingerprint(image: Image, tree: Path) -> str:
    """A digest over all that goes into the image: mkosi's arguments, the builder's packages, recipe and overlay."""
    digest = hashlib.sha256("\0".join(mkosi_arguments(image, tree)).encode())
    installed = builder.tree(image.architecture) / "var/lib/dpkg/status"
    digest.update(installed.read_bytes())
    for root in (RECIPE, tree):
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            digest.update(f"\0{path.relative_to(root)}\0{path.stat().st_mode & 0o100}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def run_mkosi(image: Image, tree: Path, fresh: bool) -> None:
    """Makes the image in a directory of its own and puts it in place only when it is complete."""
    # mkosi keeps one tree of installed packages an architecture, and a profile has other packages.
    cache = BUILD / "-".join(filter(None, ("cache", horus_conf.profile(image.variant))))
    cached = any(cache.glob(f"*~{image.architecture.name}.cache")) and not fresh
    step(f"building image '{image.name}' with mkosi (about {'1 minute' if cached else '3 minutes'})")
    system.require_space(BUILD, system.NEXT_BUILD_BYTES if cached else system.FIRST_BUILD_BYTES)
    if not cached:
        system.require_mirror()
    partial, workspace = image.directory.with_suffix(".partial"), BUILD / "workspace"
    for leftover in (partial, workspace):
        system.remove_tree(leftover)
    for directory in (partial, workspace, cache, BUILD / "packages"):
        directory.mkdir(parents=True, exist_ok=True)
    arguments = [
        "mkosi", "--force", *(["--force"] if fresh else []), "--incremental=yes",  # forced twice: without its caches
        f"--output-directory={partial}", f"--workspace-directory={workspace}",
        f"--cache-directory={cache}", f"--package-cache-directory={BUILD / 'packages'}",
        *mkosi_arguments(image, tree), *disk_arguments(uuid.uuid4()), "build",
    ]  # fmt: skip
    log = BUILD / f"image-{image.name}.log"
    # The second lock is root's: after a killed build it is held until the last of its processes has ended.
    guard = ("flock", "--no-fork", "--wait", "120", str(BUILD / "root.lock"))
    with binfmt.foreign_programs(image.architecture):
        # The headlines of its steps are shown.
        status, _ = follow(builder.command(image.architecture, arguments, RECIPE, guard), show=r"^‣ (?! )", log=log)
    if status != 0:
        raise CannotRun(
            f"mkosi could not build the image:\n{debian.tail(log)}\nFull log: {log.relative_to(REPOSITORY)}\n"
            "If a download failed, run this again: finished downloads are kept."
        )
    subprocess.run(system.as_root(["chown", "-R", f"{os.getuid()}:{os.getgid()}", str(partial)]), check=True)
    system.remove_tree(image.directory)
    partial.rename(image.directory)


@contextmanager
def only_one_build():
    """Holds the build directory for this process; a second build at the same time waits its turn."""
    with (BUILD / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            step("another build of this clone is running: waiting for its end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
