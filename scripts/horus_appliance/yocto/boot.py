"""Boots the UEFI image that Yocto built, in QEMU, and judges the boot: python3 -m horus_appliance.yocto.boot FOLDER [--arch arm64]

FOLDER is that of the build (…/tmp/deploy/images/genericx86-64). The image needs the option `dev`: results leave a machine
through units that the host hands in, which every image takes, but what went wrong is read on its serial console.
"""

import argparse
from pathlib import Path
import shutil
import subprocess
import sys

from horus_appliance.boot import delivery, run
from horus_appliance.console import ApplianceFailed, CannotRun, detail, run_command, step
from horus_appliance.host import builder, system
from horus_appliance.host.architecture import ARCHITECTURES, Architecture
from horus_appliance.image import mkosi
from horus_appliance.paths import BUILD

# The kernel as Yocto's architectures name it; QEMU tries with it whether KVM works here.
KERNELS = {"x86-64": "bzImage", "arm64": "Image"}


def unpack(folder: Path, architecture: Architecture) -> mkosi.Image:
    """The build's disk image, unpacked where the machine looks for images."""
    disks = sorted(path for path in folder.glob("horus-image-*.wic.zst") if path.is_symlink()) or sorted(folder.glob("horus-image-*.wic.zst"))
    if not disks:
        raise CannotRun(f"{folder} holds no horus-image-*.wic.zst. Build one: ./scripts/image yocto")
    kernel = folder / KERNELS[architecture.name]
    if not kernel.exists():
        raise CannotRun(f"{kernel} is missing, so {folder} is not the folder of a finished build for {architecture.name}.")
    if not shutil.which("zstd"):
        system.install(["zstd"])
    built = mkosi.Image("appliance", BUILD / "image" / f"yocto-{architecture.name}", mkosi.version(), architecture)
    system.remove_tree(built.directory)
    built.directory.mkdir(parents=True)
    detail(f"unpacking {disks[-1].name}")
    subprocess.run(["zstd", "--decompress", "--quiet", "--sparse", "--force", "-o", str(built.disk), str(disks[-1].resolve())], check=True)
    shutil.copyfile(kernel, built.kernel)
    return built


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the build's folder of images")
    parser.add_argument("--arch", default="x86-64", choices=list(ARCHITECTURES), help="for which processor (default: %(default)s)")
    options = parser.parse_args()
    architecture = ARCHITECTURES[options.arch]
    system.require_rust()
    system.install_packages()
    BUILD.mkdir(parents=True, exist_ok=True)
    builder.ensure(architecture)
    built = unpack(options.folder, architecture)
    done = run.boot(built, f"boot-{built.name}")
    complaints = delivery.check(done)
    if complaints:
        raise ApplianceFailed("\n".join(complaints))
    step(f"the image that Yocto built boots and measures itself; its report: {done.directory / 'horus.report'}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
