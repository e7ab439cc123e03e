"""horus.toml, by which a flashed machine is reached: making its text of options, and writing it onto the boot partition of an image or a disk.

What may stand in the file is the business of `horus settings` (runtime/cli/src/settings); here only what a person mistypes is refused.
"""

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import ApplianceFailed, CannotRun
from horus_appliance.host import system

NAME = "horus.toml"
PARTITIONS = ("horus-esp", "horus-boot")  # of UEFI machines, and of the Raspberry Pi
SECTOR = 512
# mtools would ask a person whether a file may be replaced, and refuses partitions whose size is no multiple of a track of old.
ENVIRONMENT = {"MTOOLS_SKIP_CHECK": "1"}


@dataclass(frozen=True)
class Wishes:
    """What a person asked for on the command line."""

    hostname: str = ""
    ssh_keys: tuple = ()  # files
    time_servers: tuple = ()
    address: str = ""
    gateway: str = ""
    dns: tuple = ()
    wifi: str = ""
    wifi_password: str = ""
    wifi_country: str = ""

    def text(self) -> str:
        """The file that says all of it; empty where nothing was asked for."""
        if self.gateway and not self.address:
            raise CannotRun("--gateway goes with --address: with DHCP the server names the gateway.")
        top = [("hostname", self.hostname), ("ssh_keys", [key for path in self.ssh_keys for key in public_keys(path)]), ("time_servers", list(self.time_servers))]
        network = [("address", self.address), ("gateway", self.gateway), ("dns", list(self.dns))]
        wifi = [("ssid", self.wifi), ("password", self.wifi_password), ("country", self.wifi_country)] if self.wifi else []
        lines = setting_lines(top)
        for name, settings in (("network", network), ("wifi", wifi)):
            if section := setting_lines(settings):
                lines += ["", f"[{name}]", *section]
        return "".join(f"{line}\n" for line in ["# How this machine is reached (docs/reach.md). Any editor can change it.", *lines]) if lines else ""


def setting_lines(settings: list) -> list:
    """Lines of TOML; its strings are written as JSON writes them."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in settings if value]


def public_keys(path: Path) -> list:
    """The public keys in a file, such as ~/.ssh/id_ed25519.pub."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRun(f"--ssh-key {path} cannot be read ({error}). Name the file of a public key, such as ~/.ssh/id_ed25519.pub.") from error
    if "PRIVATE KEY" in text:
        raise CannotRun(f"{path} is a private key, which stays with you. Name the public one beside it: {path}.pub")
    keys = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not keys or not all(re.match(r"(sk-)?(ssh|ecdsa)-[\w@.-]+ +[A-Za-z0-9+/]{40,}=*( |$)", key) for key in keys):
        raise CannotRun(f"{path} holds no public key of SSH. Make a pair with ssh-keygen -t ed25519, and name the file that ends in .pub.")
    return keys


def boot_partition(disk: Path) -> int:
    """Where the boot partition begins on an image or a disk."""
    command = ["partx", "--raw", "--noheadings", "--output", "NAME,START", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line.split() for line in done.stdout.splitlines()]
    starts = [int(words[1]) * SECTOR for words in found if words[0] in PARTITIONS]
    if len(starts) != 1:
        raise ApplianceFailed(f"{disk} has no boot partition ({' or '.join(PARTITIONS)}), so {NAME} was not written. Is it an image of ours?")
    return starts[0]


def write(disk: Path, text: str) -> None:
    """Writes the file into the root of the boot partition."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        mtools(disk, "mcopy", ["-o", "-m"], [file.name, f"::{NAME}"])
    fd = os.open(disk, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read(disk: Path) -> str:
    """The file as it is on the boot partition."""
    return mtools(disk, "mtype", [], [f"::{NAME}"])


def mtools(disk: Path, command: str, options: list, files: list) -> str:
    """Runs a program of mtools, which needs no right but that to the image or disk."""
    system.ensure_command(command, "mtools")
    arguments = [command, "-i", f"{disk}@@{boot_partition(disk)}", *options, *files]
    done = subprocess.run(arguments, capture_output=True, check=False, stdin=subprocess.DEVNULL, env={**os.environ, **ENVIRONMENT})
    if done.returncode != 0:
        raise ApplianceFailed(f"{NAME} on the boot partition of {disk}: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return done.stdout.decode("utf-8")
