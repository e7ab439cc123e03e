"""An image to be flashed: the file, its block map (bmap), and whether each agrees with the other.

A block map lists the ranges of an image that hold data, each with its SHA-256. So it tells before writing that the image is
whole, and after writing that the device holds it.
"""

import subprocess
import xml.etree.ElementTree
from contextlib import contextmanager
from pathlib import Path

from horus_appliance.console import CannotRun, follow
from horus_appliance.host import system

# The program that unpacks each kind of compressed image, and Debian's package of it.
DECOMPRESSORS = {".zst": ("zstd", "zstd"), ".gz": ("gzip", "gzip"), ".bz2": ("bzip2", "bzip2"), ".xz": ("xz", "xz-utils")}
BOOT_SIGNATURE = slice(510, 512)  # ends the first sector of every partitioned disk, also of one with GPT (UEFI specification, 5.2.1)


def check_kind(image: Path) -> None:
    """Refuses what is no image of a disk, with the way to handle it."""
    if not image.is_file():
        raise CannotRun(f"there is no image file {image}. Build one (./scripts/image, or kas build kas.yml), or check the path.")
    if "tegraflash" in image.name:
        raise CannotRun(
            f"{image.name} is a package for NVIDIA's flashing tool, not the image of a disk: a Jetson is flashed over USB. "
            "docs/boards/jetson-orin-nano.md tells how."
        )
    if image.suffix == ".bmap":
        raise CannotRun(f"{image.name} is the block map. Name the image itself, {image.name.removesuffix('.bmap')}.")
    with opened(image) as stream:
        start = stream.read(512)
    if not start:
        raise CannotRun(f"{image} is empty. Build or download it again.")
    if start[BOOT_SIGNATURE] != b"\x55\xaa":
        raise CannotRun(f"{image} is not the image of a disk: it does not begin with a partition table. Is it the right file?")


def find_block_map(image: Path) -> Path:
    """The bmap file that lies beside an image: IMAGE.bmap, or for a compressed one also that of the unpacked image's name."""
    beside = [image.with_name(f"{image.name}.bmap"), image.with_suffix(".bmap")]
    found = next((path for path in beside if path.is_file()), None)
    if not found and image.suffix in DECOMPRESSORS:
        raise CannotRun(
            f"{image.name} has no block map beside it ({' or '.join(path.name for path in beside)}), so nothing could be verified. "
            f"Get the file that was published with it, or unpack the image ({DECOMPRESSORS[image.suffix][0]} -d) and flash that."
        )
    return found


def make_block_map(image: Path, directory: Path) -> Path:
    """Makes the block map of an unpacked image that came without one, as the Debian recipe's does."""
    path = directory / "image.bmap"
    done = subprocess.run(["bmaptool", "create", str(image), "--output", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"bmaptool cannot map {image}:\n{done.stderr.strip()[-1000:]}")
    return path


def image_bytes(block_map: Path) -> int:
    """The size of a block map's image, refusing a map by which not all of it could be verified."""
    try:
        root = xml.etree.ElementTree.parse(block_map).getroot()
        size, sums = int(root.findtext("ImageSize")), root.findtext("ChecksumType").strip()
        ranges = root.findall("BlockMap/Range")
    except (OSError, ValueError, TypeError, AttributeError, xml.etree.ElementTree.ParseError) as error:
        raise CannotRun(f"{block_map} is not a usable block map: {error}. Get it again from where the image comes from.") from error
    if sums != "sha256" or not ranges or not all(part.get("chksum") for part in ranges):
        raise CannotRun(f"{block_map} is not a usable block map: it does not hold a SHA-256 of all data. Make one: bmaptool create")
    return size


@contextmanager
def opened(image: Path):
    """The image's bytes as a stream, unpacked where it is compressed."""
    if image.suffix not in DECOMPRESSORS:
        with image.open("rb") as stream:
            yield stream
        return
    program, package = DECOMPRESSORS[image.suffix]
    system.ensure_command(program, package)
    with subprocess.Popen([program, "-dc", str(image)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process.stdout
        process.stdout.close()
        said = process.stderr.read().decode(errors="replace").strip()
    # Ended by our own closing of the pipe is no failure: what was read was compared already.
    if process.returncode > 0 and "roken pipe" not in said:
        raise CannotRun(f"{image} cannot be unpacked: {said[-500:]}. Get it again from where it comes from.")


def verify(image: Path, block_map: Path) -> None:
    """Refuses an image that is not the one of its block map, and a map that was changed or cut."""
    if wrong := difference(image, block_map):
        raise CannotRun(
            f"{image.name} is not the image of {block_map.name}: {wrong}. "
            "One of the two was changed, cut or mixed up: get both again from where they come from."
        )


def difference(source: Path, block_map: Path) -> str:
    """What bmaptool finds wrong with an image or a device that it reads by a block map and writes nowhere; empty where they agree."""
    status, said = follow(["bmaptool", "copy", "--bmap", str(block_map), str(source), "/dev/null"])
    return "" if status == 0 else [line for line in said if line.strip()][-1].rpartition("\x1b[0m: ")[2]
