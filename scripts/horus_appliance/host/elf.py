"""What a file of ELF, Linux's format of programs and libraries, says it is for."""

import struct
from pathlib import Path

# The kernel's names of machines, and ELF's numbers of them (elf.h).
MACHINES = {"x86_64": 62, "aarch64": 183}


def machine_of(path: Path) -> str:
    """The machine that a file of 64 bits and little endian is for; empty when it is none of these or no such file."""
    head = path.read_bytes()[:20]
    number = struct.unpack_from("<H", head, 18)[0] if head.startswith(b"\x7fELF\x02\x01") and len(head) == 20 else 0
    return next((name for name, of in MACHINES.items() if of == number), "")
