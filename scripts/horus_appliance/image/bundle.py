"""Makes a bundle: one version of the system as a signed file, from an image. runtime/update/src/bundle.rs says what is in it."""

import hashlib
import re
import struct
import subprocess
import tarfile
import tempfile
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.flash import settings
from horus_appliance.host import system
from horus_appliance.image import keys, pe, sizes

import horus_conf

LIST, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
# A partition's label has 36 characters, of which "horus_" takes six; systemd-sysupdate takes no other marks.
VERSION = r"[0-9A-Za-z][0-9A-Za-z.-]{0,29}"
CHUNK = 1 << 20


def make(disk: Path, private: Path, out: Path, level: str = "-6") -> Path:
    """Makes the bundle of an image, signed by the key `private`, in the folder `out`; gives the file. `level` is xz's."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as directory:
        kernel = take_kernel(disk, Path(directory))
        board, version = names(kernel)
        root = Path(directory) / "root.xz"
        step(f"compressing the system of {version} for {board} (about a minute)")
        compress_root(disk, horus_conf.system_label(version), root, level)
        return assemble(board, version, kernel, root, private, out)


def assemble(board: str, version: str, kernel: Path, root: Path, private: Path, out: Path) -> Path:
    """Puts kernel image and compressed system into a signed archive."""
    if not re.fullmatch(VERSION, version):
        raise CannotRun(f"version {version!r} cannot be a partition's name: at most 30 letters, digits, '.' and '-'.")
    if "horus.disk=" in pe.section(kernel, ".cmdline"):
        raise CannotRun("this image's kernel image names its disk, so no other disk would start it. Build the image again with this version of the recipes.")
    return pack(f"horus_{board}_{version}", kernel, root, private, out)


def pack(stem: str, kernel: Path, root: Path, private: Path, out: Path) -> Path:
    """Signs and packs what may be in a bundle."""
    with tempfile.TemporaryDirectory(dir=out) as directory:
        listing, signature = Path(directory) / LIST, Path(directory) / SIGNATURE
        parts = [(f"{stem}.efi", kernel), (f"{stem}.root.xz", root)]
        listing.write_text("".join(f"{digest(path)}  {name}\n" for name, path in parts))
        signature.write_bytes(keys.sign(private, listing))
        partial = Path(directory) / "bundle"
        # List and signature come first: a machine that does not take this update reads no more.
        with tarfile.open(partial, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name, path in [(LIST, listing), (SIGNATURE, signature), *parts]:
                about = tarfile.TarInfo(name)
                about.size = path.stat().st_size
                with path.open("rb") as stream:
                    archive.addfile(about, stream)
        return partial.rename(out / f"{stem}.update")


def take_kernel(disk: Path, directory: Path) -> Path:
    """Copies the kernel image off an image's boot partition."""
    listing = settings.mtools(disk, "mdir", ["-b"], ["::/EFI/Linux/"])
    found = re.findall(r"horus_\S+\.efi", listing)
    if len(found) != 1:
        raise CannotRun(f"{disk} has {len(found)} kernel images where a fresh image has one. Name the image itself, not a disk that has run.")
    settings.mtools(disk, "mcopy", ["-n"], [f"::/EFI/Linux/{found[0]}", str(directory / "kernel.efi")])
    return directory / "kernel.efi"


def names(kernel: Path) -> tuple:
    """Board and version, as the kernel image has them of os-release."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', pe.section(kernel, ".osrel"), flags=re.MULTILINE))
    if not release.get("VARIANT_ID") or not release.get("IMAGE_VERSION"):
        raise CannotRun("this image does not say which board and version it is (VARIANT_ID, IMAGE_VERSION). Build it again with this version of the recipes.")
    return release["VARIANT_ID"], release["IMAGE_VERSION"]


def compress_root(disk: Path, label: str, out: Path, level: str) -> None:
    """Compresses the file system of a slot. What lies behind an EROFS in its partition is left out."""
    system.ensure_command("xz", "xz-utils")
    start, left = sizes.partition(disk, label)
    with disk.open("rb") as source, out.open("wb") as target:
        source.seek(start + sizes.EROFS_SUPERBLOCK)
        magic, exponent, blocks = struct.unpack("<I8xB23xI", source.read(40))
        left = blocks << exponent if magic == sizes.EROFS_MAGIC else left
        source.seek(start)
        with subprocess.Popen(["xz", "--threads=0", level, "--stdout"], stdin=subprocess.PIPE, stdout=target) as process:
            while left and (data := source.read(min(CHUNK, left))):
                process.stdin.write(data)
                left -= len(data)
            process.stdin.close()
    if process.returncode != 0 or left:
        raise CannotRun(f"the system of {disk} could not be compressed: is the disk of this machine full?")


def digest(path: Path) -> str:
    """The SHA-256 of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
