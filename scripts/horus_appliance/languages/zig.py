"""Zig's compiler of C from PyPI, which links libraries for other machines than this one, and for older C libraries than this one's.

Why this one: one package brings linker and symbols for every processor, and the release of glibc can be chosen. What Debian's compilers link
asks for the newest glibc that they were built with. The version is that of `horus deploy`.
"""

import fcntl
import re
import shlex
from pathlib import Path

from horus_appliance.host import python
from horus_appliance.paths import BUILD, RUNTIME

# The oldest glibc that a shared library for others runs with: Debian 10, Ubuntu 20.04, Red Hat 8. Rust's own asks for 2.17.
GLIBC = "2.28"
DEPLOY = RUNTIME / "cli" / "src" / "deploy" / "zig.rs"
PLACE = BUILD / "zig"


def linker(target: str) -> dict:
    """What Cargo has to know to link for one of Rust's targets with glibc; fetches the compiler when it is missing."""
    compiler = cc(target)
    return {f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER": str(compiler)}


def cc(target: str) -> Path:
    """A compiler of C for one of Rust's targets with glibc."""
    machine = target.split("-")[0]
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side
        requirements = PLACE / "wanted.txt"
        requirements.write_text(f"ziglang=={version()}\n")
        programs = python.ensure(PLACE / "environment", requirements, "--only-binary=:all:")
        program = PLACE / f"cc-{machine}"
        words = [str(programs / "python"), "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
        text = f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
        if not program.exists() or program.read_text() != text:
            program.write_text(text)
            program.chmod(0o755)
    return program


def site(target: str) -> Path:
    """Where Python's modules lie beside the compiler, for programs in Python that look for the module ziglang."""
    cc(target)
    return next((PLACE / "environment").glob("lib/python3*/site-packages"))


def version() -> str:
    """The version that `horus deploy` compiles with."""
    return re.search(r'const VERSION: &str = "([0-9.]+)";', DEPLOY.read_text())[1]
