"""Writes an image to a card or disk with bmaptool: verified before, asked for, shown while it runs, and read back after."""

import subprocess
import sys
import tempfile
from pathlib import Path

from horus_appliance.console import ApplianceFailed, CannotRun, step
from horus_appliance.flash import devices, images, settings
from horus_appliance.flash.devices import Device
from horus_appliance.host import system


def flash(image: Path, path: Path, internal: str, assume_yes: bool, text: str = "") -> None:
    """All of it; returns only when the device was read back and holds the image, and `text` as its settings if there is one."""
    images.check_kind(image)
    system.ensure_command("bmaptool", "bmap-tools")
    if text:
        system.ensure_command("mcopy", "mtools")
    device = devices.look_up(path)
    with tempfile.TemporaryDirectory() as scratch:
        block_map = images.find_block_map(image)
        if not block_map:
            step(f"mapping {image.name}, which has no block map beside it")
            block_map = images.make_block_map(image, Path(scratch))
        size = images.image_bytes(block_map)
        if refusal := devices.refusal(device, size, internal):
            raise CannotRun(f"nothing was written: {refusal}")
        devices.claim(device)
        step(f"verifying {image.name} against {block_map.name}")
        images.verify(image, block_map)
        if not assume_yes:
            ask(device, image, size)
        # Asking took a while, in which another card may have got the name.
        if devices.look_up(path) != device:
            raise CannotRun(f"{path} is not the device any more that it was when it was asked about. Run this again.")
        with devices.held(device):
            write(image, block_map, device)
            step(f"reading {device.path} back")
            read_back(device, block_map)
            if text:
                write_settings(device, text)
    step(f"done: {device.path} holds {image.name}; it can be pulled out")


def ask(device: Device, image: Path, size: int) -> None:
    """Lets a person type the device's name, which a finger does not do by habit."""
    print(f"\n{device.describe()}")
    for one in devices.family(device.facts)[1:]:
        print(f"  it has {one['path']}, {one['size'] / 1e9:.1f} GB")
    print(f"Everything on it will be lost: {image.name} takes its place ({size / 1e9:.1f} GB).")
    if not sys.stdin.isatty():
        raise CannotRun("nothing was written: no user is there to be asked. Add --yes to answer beforehand.")
    try:
        answer = input(f"Type {device.name} to write, anything else to leave it: ").strip()
    except (EOFError, KeyboardInterrupt):
        answer = ""
    if answer != device.name:
        raise CannotRun("nothing was written, as you wished.")


def write(image: Path, block_map: Path, device: Device) -> None:
    """Runs bmaptool, which shows its own progress, and says what a failure leaves behind."""
    step(f"writing {image.name} to {device.path}")
    command = ["bmaptool", "copy", "--bmap", str(block_map), str(image), str(device.path)]
    try:
        status = subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        fail(device, "you interrupted the writing")
    if status != 0:
        fail(device, f"bmaptool ended with status {status}; its message is above")


def read_back(device: Device, block_map: Path) -> None:
    """Compares what the device itself holds with the block map."""
    try:
        devices.forget_cache(device)
        wrong = images.difference(device.path, block_map)
    except OSError as error:
        fail(device, f"it could not be read back: {error.strerror}")
    except KeyboardInterrupt:
        fail(device, "you interrupted the reading back")
    if wrong:
        fail(device, f"it does not read as it was written ({wrong}): the card is worn out or a fake, or another program wrote to it")


def write_settings(device: Device, text: str) -> None:
    """Adds the settings, after the image was verified since they change it, and reads them back in turn."""
    step(f"writing {settings.NAME} to its boot partition")
    try:
        settings.write(device.path, text)
        devices.forget_cache(device)
        wrong = "" if settings.read(device.path) == text else f"{settings.NAME} does not read as it was written"
    except ApplianceFailed as error:
        wrong = str(error)
    except OSError as error:
        wrong = f"{settings.NAME} could not be written: {error.strerror}"
    except KeyboardInterrupt:
        wrong = f"you interrupted the writing of {settings.NAME}"
    if wrong:
        fail(device, wrong)


def fail(device: Device, why: str) -> None:
    """Says what is left on the device, and sees to it that it cannot be mistaken for a finished one."""
    if devices.has_vanished(device):
        raise ApplianceFailed(
            f"{device.path} vanished: {why}. It was pulled out, or its reader or cable gave up. "
            "What is on it is NOT usable: plug it in again (another port or reader, if it was not you) and run this again."
        )
    left = "Its partition table was wiped, so that nothing starts from it" if devices.spoil(device) else "It holds half an image"
    raise ApplianceFailed(f"{device.path} does NOT hold the image: {why}. {left}. Run this again, with another card if it fails again.")
