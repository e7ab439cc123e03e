"""The entry by which Raspberry Pi Imager offers an image: name, sizes and checksums of the packed and of the unpacked file."""

import datetime
import hashlib
from pathlib import Path

from horus_appliance.flash import images

# Our board's name -> how Imager's list calls it, and for people.
DEVICES = {"raspberrypi4": ("pi4-64bit", "Raspberry Pi 4"), "raspberrypi5": ("pi5-64bit", "Raspberry Pi 5")}


def entry(image: Path, board: str, address: str) -> dict:
    """Imager's list of one entry. `address` is where the image is to be downloaded, or a file:// of this machine."""
    images.check_kind(image)
    with image.open("rb") as stream:
        packed = stream_digest(stream)
    with images.opened(image) as stream:
        unpacked = stream_digest(stream)
    tag, name = DEVICES[board]
    return {
        "os_list": [
            {
                "name": f"HORUS appliance ({name})",
                "description": "Real-time Linux for robots that proves at every boot how well it keeps its deadlines",
                "url": address,
                "release_date": datetime.datetime.fromtimestamp(image.stat().st_mtime, datetime.timezone.utc).strftime("%Y-%m-%d"),
                "extract_size": unpacked[0],
                "extract_sha256": unpacked[1],
                "image_download_size": packed[0],
                "image_download_sha256": packed[1],
                "devices": [tag],
                # Imager's own questions (user, Wi-Fi) write files that only Raspberry Pi OS and cloud-init read.
                "init_format": "none",
            }
        ]
    }


def stream_digest(stream) -> tuple:
    """How many bytes a stream has, and their SHA-256."""
    size, digest = 0, hashlib.sha256()
    while data := stream.read(4 << 20):
        size += len(data)
        digest.update(data)
    return size, digest.hexdigest()
