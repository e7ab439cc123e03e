"""Takes the UEFI image that Yocto built to where QEMU boots it."""

import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, detail
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import Architecture
from horus_appliance.image import mkosi
from horus_appliance.paths import BUILD

# The kernel as Yocto's architectures name it; QEMU tries with it whether KVM works here.
KERNELS = {"x86-64": "bzImage", "arm64": "Image"}
# The initial RAM disk by itself, beside the one in the unified kernel image: for starts without firmware (scripts/boot-time).
INITRD = "core-image-initramfs-boot-*.cpio.gz"


def unpack(folder: Path, architecture: Architecture) -> mkosi.Image:
    """The build's disk image, unpacked where the machine looks for images. `folder` is …/tmp/deploy/images/genericx86-64."""
    disks = sorted(path for path in folder.glob("horus-image-*.wic.zst") if path.is_symlink()) or sorted(folder.glob("horus-image-*.wic.zst"))
    if not disks:
        raise CannotRun(f"{folder} holds no horus-image-*.wic.zst. Build one: ./scripts/image yocto")
    kernel = folder / KERNELS[architecture.name]
    if not kernel.exists():
        raise CannotRun(f"{kernel} is missing, so {folder} is not the folder of a finished build for {architecture.name}.")
    system.ensure_command("zstd", "zstd")
    system.require_rust()  # shows the report
    system.install_packages()
    BUILD.mkdir(parents=True, exist_ok=True)
    builder.ensure(architecture)
    built = mkosi.Image("appliance", BUILD / "image" / f"yocto-{architecture.name}", mkosi.version(), architecture)
    system.remove_tree(built.directory)
    built.directory.mkdir(parents=True)
    detail(f"unpacking {disks[-1].name}")
    subprocess.run(["zstd", "--decompress", "--quiet", "--sparse", "--force", "-o", str(built.disk), str(disks[-1].resolve())], check=True)
    shutil.copyfile(kernel, built.kernel)
    for initrd in folder.glob(INITRD):
        shutil.copyfile(initrd, built.initrd)
    return built
