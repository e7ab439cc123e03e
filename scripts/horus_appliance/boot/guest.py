"""What the host gives to a virtual machine and gets from it, without any change to the image.

Units travel in as systemd credentials (SMBIOS strings), results travel out through virtio-serial ports into files.
"""

import base64
import json
from pathlib import Path

UNITS = Path(__file__).with_name("units")

# Ports by name; each ends in a file of that name in the machine's directory.
PORTS = ["horus.journal", "horus.report", "horus.failed"]

# Of the machines that are emulated, x86-64 and ARM.
SERIAL_LINES = ["ttyS0", "ttyAMA0"]

# systemd's own message identifiers (sd-messages.h).
STARTUP_FINISHED = "b07a249cd024414a82dd00cd181378ff"
UNIT_STARTED = "39f53479d3a045ac8e11786248231fbf"
UNIT_FAILED = "d9b373ed55a64feb8242e02dbe79a49c"


def observing_units(collect_after: str) -> dict:
    """Credentials that stream the journal, and collect the results when unit `collect_after` has ended, well or not."""
    credentials = {f"systemd.extra-unit.{path.name}": path.read_text() for path in sorted(UNITS.glob("*.service"))}
    # An emulated machine on a busy host may find its serial line after more than systemd's 90 s; without it there is no console.
    credentials |= {f"systemd.unit-dropin.dev-{line}.device": "[Unit]\nJobRunningTimeoutSec=15min\n" for line in SERIAL_LINES}
    credentials["systemd.unit-dropin.basic.target"] = "[Unit]\nWants=horus-observe.service horus-stuck.service\n"
    credentials[f"systemd.unit-dropin.{collect_after}"] = "[Unit]\nOnSuccess=horus-collect.service\nOnFailure=horus-collect.service\n"
    return credentials


def merge(credentials: dict, more: dict) -> dict:
    """Both sets; texts for the same unit are joined, as systemd would join two drop-ins."""
    merged = dict(credentials)
    for name, text in more.items():
        merged[name] = f"{merged[name]}\n{text}" if name in merged else text
    return merged


def smbios_arguments(credentials: dict) -> list:
    """QEMU's arguments that carry the credentials."""
    arguments = []
    for name, text in sorted(credentials.items()):
        encoded = base64.b64encode(text.encode()).decode()
        arguments += ["-smbios", f"type=11,value=io.systemd.credential.binary:{name}={encoded}"]
    return arguments


def port_arguments(directory: Path) -> list:
    """QEMU's arguments for the ports."""
    arguments = ["-device", "virtio-serial-pci"]
    for number, name in enumerate(PORTS):
        arguments += ["-chardev", f"file,id=port{number},path={directory / name}"]
        arguments += ["-device", f"virtserialport,chardev=port{number},name={name}"]
    return arguments


class JournalTail:
    """Reads journal entries from the port's file as they arrive; keeps all of them in `entries`."""

    def __init__(self, path: Path):
        self.path = path
        self.entries = []
        self._offset = 0
        self._partial = b""

    def read_new(self) -> list:
        """The entries that arrived since the last call. A torn last line waits for its rest."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *lines, self._partial = (self._partial + data).split(b"\n")
        new = [json.loads(line) for line in lines if line.strip()]
        self.entries += new
        return new


def text(entry: dict, field: str = "MESSAGE") -> str:
    """A journal field as text. journalctl's JSON gives an array of bytes for what is not UTF-8, and an array of texts
    for a field that occurs more than once."""
    value = entry.get(field)
    if value is None:
        return ""
    if isinstance(value, list):
        if all(isinstance(item, int) for item in value):
            return bytes(value).decode(errors="replace")
        return str(value[-1])
    return str(value)
