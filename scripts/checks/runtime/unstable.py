"""Compiler flags that stable Rust refuses, such as the sanitizers', used with the compiler that rust-toolchain.toml pins.

`RUSTC_BOOTSTRAP=1` makes any compiler accept them. So a sanitizer judges what the same compiler makes of the code as
everywhere else, and no nightly one is downloaded. Only tests are built this way, nothing that is shipped or measured.
"""

import re
import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, detail
from horus_appliance.paths import RUNTIME

ALLOWED = {"RUSTC_BOOTSTRAP": "1"}


def host_target() -> str:
    """The target triple of this machine."""
    return re.search(r"^host: (\S+)$", rustc("--version", "--verbose"), re.MULTILINE)[1]


def require_runtime(sanitizer: str) -> None:
    """Refuses a compiler without the sanitizer's runtime, which those of Rust's own releases have and many distributions' lack."""
    letter = sanitizer[0]
    libraries = sysroot() / "lib" / "rustlib" / host_target() / "lib"
    if not list(libraries.glob(f"librustc*_rt.{letter}san.a")):
        raise CannotRun(
            f"{rustc('--version').strip()} has no {sanitizer} sanitizer for this machine ({libraries}). "
            "Rust's own releases have it on x86-64 and 64-bit ARM: install Rust from https://rustup.rs."
        )


def require_sources() -> None:
    """Refuses a compiler without the standard library's sources; where rustup is, it brings them."""
    sources = sysroot() / "lib" / "rustlib" / "src" / "rust" / "library" / "Cargo.lock"
    if sources.exists():
        return
    if not shutil.which("rustup"):
        raise CannotRun(f"the standard library's sources are not at {sources.parent}. Install Rust from https://rustup.rs.")
    detail("the standard library's sources (rustup component add rust-src, about 5 MB)")
    done = subprocess.run(["rustup", "component", "add", "rust-src"], cwd=RUNTIME, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"'rustup component add rust-src' failed:\n{done.stderr.strip()[-1000:]}\nCheck the network, then run this again.")


def sysroot() -> Path:
    """Where the pinned compiler keeps its libraries."""
    return Path(rustc("--print", "sysroot").strip())


def rustc(*arguments: str) -> str:
    """What the pinned compiler says."""
    return subprocess.run(["rustc", *arguments], cwd=RUNTIME, capture_output=True, text=True, check=True).stdout
