"""An image to be flashed: the file, its block map (bmap), and whether each agrees with the other.

A block map lists the ranges of an image that hold data, each with its SHA-256. So it tells before writing that the image is
whole, and after writing that the device holds it.
"""

import hashlib
import re
import subprocess
import xml.etree.ElementTree
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.host import system

# The program that unpacks each kind of compressed image, and Debian's package of it.
DECOMPRESSORS = {".zst": ("zstd", "zstd"), ".gz": ("gzip", "gzip"), ".bz2": ("bzip2", "bzip2"), ".xz": ("xz", "xz-utils")}
CHUNK = 4 << 20
BOOT_SIGNATURE = slice(510, 512)  # ends the first sector of every partitioned disk, also of one with GPT (UEFI specification, 5.2.1)


@dataclass(frozen=True)
class Range:
    """Bytes of the image that hold data: `[start, end)`."""

    start: int
    end: int
    sha256: str


@dataclass(frozen=True)
class BlockMap:
    """What a bmap file says of its image."""

    path: Path
    image_bytes: int
    ranges: list

    @property
    def mapped_bytes(self) -> int:
        return sum(part.end - part.start for part in self.ranges)


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
    names = [f"{image.name}.bmap"]
    if image.suffix in DECOMPRESSORS:
        names.append(f"{image.stem}.bmap")
    for name in names:
        if (image.parent / name).is_file():
            return image.parent / name
    if image.suffix in DECOMPRESSORS:
        raise CannotRun(
            f"{image.name} has no block map beside it ({' or '.join(names)}), so nothing could be verified. "
            f"Get the file that was published with it, or unpack the image ({DECOMPRESSORS[image.suffix][0]} -d) and flash that."
        )
    return None


def make_block_map(image: Path, directory: Path) -> Path:
    """Makes the block map of an unpacked image that came without one, as the Debian recipe's does."""
    path = directory / "image.bmap"
    done = subprocess.run(["bmaptool", "create", str(image), "--output", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"bmaptool cannot map {image}:\n{done.stderr.strip()[-1000:]}")
    return path


def read_block_map(path: Path) -> BlockMap:
    """Reads a bmap file, refusing one that was changed or cut."""

    def broken(why: str) -> CannotRun:
        return CannotRun(f"{path} is not a usable block map: {why}. Get it again from where the image comes from.")

    try:
        text = path.read_text()
        root = xml.etree.ElementTree.fromstring(text)
        value = {name: root.findtext(name).strip() for name in ("ImageSize", "BlockSize", "ChecksumType", "BmapFileChecksum")}
        size, block = int(value["ImageSize"]), int(value["BlockSize"])
        entries = [(entry.text.strip(), entry.get("chksum")) for entry in root.find("BlockMap")]
    except (OSError, UnicodeDecodeError, ValueError, AttributeError, xml.etree.ElementTree.ParseError) as error:
        raise broken(str(error)) from error
    if value["ChecksumType"] != "sha256":
        raise broken(f"its checksums are {value['ChecksumType']}, and only sha256 is known here")
    # The file's own checksum counts with zeros in its own place.
    zeroed = text.replace(value["BmapFileChecksum"], "0" * len(value["BmapFileChecksum"]))
    if hashlib.sha256(zeroed.encode()).hexdigest() != value["BmapFileChecksum"]:
        raise broken("its own checksum does not match, so it was changed or cut")
    ranges = []
    for text, checksum in entries:
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
        if not match or not checksum:
            raise broken(f"range '{text}' has no checksum or no numbers")
        first, last = int(match[1]), int(match[2] or match[1])
        ranges.append(Range(first * block, min((last + 1) * block, size), checksum))
    if not ranges:
        raise broken("it lists no data at all")
    return BlockMap(path, size, ranges)


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


def verify(image: Path, block_map: BlockMap, progress) -> None:
    """Refuses an image that is not the one of its block map. `progress` is told each number of bytes read."""
    with opened(image) as stream:
        wrong = first_difference(stream, block_map, progress)
    if wrong is not None:
        raise CannotRun(
            f"{image.name} is not the image of {block_map.path.name}: byte {wrong.start} and what follows differ from their checksum. "
            "One of the two was changed, cut or mixed up: get both again from where they come from."
        )


def first_difference(stream, block_map: BlockMap, progress) -> Range:
    """The first mapped range that `stream` does not hold as the block map says; `None` when it holds all of them."""
    place = 0
    for part in block_map.ranges:
        if stream.seekable():
            stream.seek(part.start)
        else:
            for left in range(part.start - place, 0, -CHUNK):
                stream.read(min(CHUNK, left))
        digest = hashlib.sha256()
        left = part.end - part.start
        while left:
            data = stream.read(min(CHUNK, left))
            if not data:
                return part
            digest.update(data)
            left -= len(data)
            progress(len(data))
        if digest.hexdigest() != part.sha256:
            return part
        place = part.end
    return None
