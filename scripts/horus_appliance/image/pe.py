"""Reads unified kernel images: PE files, whose sections hold the kernel, its initial RAM disk, its command line and os-release."""

from pathlib import Path

from horus_appliance.console import ApplianceFailed


def section(file: Path, name: str) -> str:
    """The text of a section. The table of sections follows the file's two headers (PE format, 4)."""
    data = file.read_bytes()
    header = int.from_bytes(data[0x3C:0x40], "little")
    count, optional = int.from_bytes(data[header + 6 : header + 8], "little"), int.from_bytes(data[header + 20 : header + 22], "little")
    for entry in range(header + 24 + optional, header + 24 + optional + 40 * count, 40):
        if data[entry : entry + 8].rstrip(b"\0").decode(errors="replace") == name:
            size, _, _, place = (int.from_bytes(data[at : at + 4], "little") for at in range(entry + 8, entry + 24, 4))
            return data[place : place + size].decode().rstrip("\0\n")
    raise ApplianceFailed(f"{file} has no section {name}: it is no unified kernel image of ours. Build the image again.")
