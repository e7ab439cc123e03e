"""The device that an image is written to: what it is, and every reason not to write to it."""

import fcntl
import json
import os
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun

BLKFLSBUF = 0x1261  # linux/fs.h: write what is cached of the device, and forget it
SYS_BLOCK = Path("/sys/block")
SYSTEM_PLACES = ("/", "/boot", "/boot/efi", "/efi", "/usr", "/var", "/home", "[SWAP]")


@dataclass(frozen=True)
class Device:
    """A disk as lsblk sees it, with all that is made of it: partitions, volumes, mirrors."""

    path: Path
    facts: dict

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        return self.facts["size"]

    @property
    def is_removable(self) -> bool:
        """Whether a person can pull it out: by the bus it is on, because card readers differ in what they admit."""
        if not self.name.startswith("mmcblk"):
            return bool(self.facts["rm"] or self.facts["hotplug"] or self.facts["tran"] == "usb")
        # lsblk calls this whole bus pluggable; a soldered chip (type MMC) is on it as well as a card.
        try:
            return (SYS_BLOCK / self.name / "device/type").read_text().strip() == "SD"
        except OSError:
            return False

    def describe(self) -> str:
        """One line by which a person recognizes it."""
        words = [self.facts["model"], self.facts["tran"], f"{self.size / 1e9:.1f} GB", self.facts["serial"] and f"serial {self.facts['serial']}"]
        return f"{self.path}: {', '.join(word.strip() for word in words if word)}"


def look_up(path: Path) -> Device:
    """The device at `path`; links such as /dev/disk/by-id/… are followed."""
    real = Path(os.path.realpath(path))
    columns = "NAME,PATH,TYPE,SIZE,RO,RM,HOTPLUG,TRAN,MODEL,SERIAL,MOUNTPOINTS,PKNAME"
    done = subprocess.run(
        ["lsblk", "--json", "--bytes", "--output", columns, str(real)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotRun(f"{done.stderr.strip()}. Plug the card or disk in; lsblk lists what there is. A reader without a card looks like this, too.")
    return Device(real, json.loads(done.stdout)["blockdevices"][0])


def family(facts: dict) -> list:
    """A disk's facts and those of all that is made of it."""
    return [facts] + [one for child in facts.get("children", []) for one in family(child)]


def refusal(device: Device, image_bytes: int, internal: str) -> str:
    """Why nothing may be written to the device; empty when it may. `internal` is the name given to allow a built-in disk."""
    facts = device.facts
    if facts["type"] == "part":
        parent = facts["pkname"] or re.sub(r"p?\d+$", "", device.name)
        return f"{device.path} is a partition, and an image is that of a whole disk. Name the disk: /dev/{parent}"
    if facts["type"] not in ("disk", "loop"):
        return f"{device.path} is made of other devices ({facts['type']}). Name a whole disk; lsblk lists them."
    mounted = [(one["path"], place) for one in family(facts) for place in one["mountpoints"] if place]
    system = [f"{path} is {place}" for path, place in mounted if place in SYSTEM_PLACES]
    if system:
        return f"{device.path} is the disk that this system runs from ({', '.join(system)}). Choose another device."
    if mounted:
        places = ", ".join(f"{path} on {place}" for path, place in mounted)
        return f"{device.path} is in use: mounted {places}. Look whether it is the right one, then: umount {' '.join(path for path, _ in mounted)}"
    made = [one for one in family(facts)[1:] if one["type"] not in ("part", "disk")]
    if made:
        return f"{device.path} is part of {', '.join(one['path'] for one in made)} ({made[0]['type']}). Choose another device, or take that apart first."
    if not device.size:
        return f"{device.path} has no size: is there a card in the reader?"
    if facts["ro"]:
        return f"{device.path} is read-only. SD cards have a small switch at their side."
    if device.size < image_bytes:
        return f"{device.path} has {device.size} bytes and the image needs {image_bytes}. Use a larger card or disk."
    if not device.is_removable and internal != device.name:
        return (
            f"{device.path} cannot be pulled out, so it may be a disk of this very machine ({device.describe()}). "
            f"If it is the right one, say so by its name: --internal {device.name}"
        )
    if internal and internal != device.name:
        return f"--internal names '{internal}', and the device is '{device.name}'. Name the same device twice."
    return ""


def claim(device: Device) -> None:
    """Asks the kernel, which knows more than lsblk: an exclusive opening fails for whatever is in use."""
    try:
        os.close(os.open(device.path, os.O_WRONLY | os.O_EXCL))
    except PermissionError as error:
        raise CannotRun(f"{device.path} may not be written by you. Run this with sudo.") from error
    except OSError as error:
        raise CannotRun(f"{device.path} cannot be opened for writing: {error.strerror}. Is it in use, or the card locked?") from error


@contextmanager
def held(device: Device):
    """Keeps udev, and so a desktop that mounts what it finds, off the device while its new partitions appear (systemd's "Locking Block
    Device Access"): a mounted file system is changed at once, and would not read back as it was written."""
    with device.path.open("rb", buffering=0) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CannotRun(
                f"another program has locked {device.path} (one that partitions or formats it?). Let it finish, then run this again."
            ) from error
        yield


def has_vanished(device: Device) -> bool:
    """Whether the device is gone, or lost the medium that it had."""
    try:
        with device.path.open("rb", buffering=0) as stream:
            return stream.seek(0, os.SEEK_END) != device.size
    except OSError:
        return True


def forget_cache(device: Device) -> None:
    """Makes the next reads come from the device itself."""
    with device.path.open("rb", buffering=0) as stream:
        fcntl.ioctl(stream.fileno(), BLKFLSBUF, 0)


def spoil(device: Device) -> bool:
    """Overwrites the partition table of what was half-written, so that nothing boots from it; tells whether it could."""
    try:
        with device.path.open("r+b", buffering=0) as stream:
            stream.write(b"\0" * (1 << 20))
            os.fsync(stream.fileno())
        return True
    except OSError:
        return False
