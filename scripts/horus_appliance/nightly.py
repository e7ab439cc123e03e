"""The nightly compiler, which the sanitizers need: the flags that turn them on are not in stable Rust.

Everything that is shipped or measured is built by the compiler that rust-toolchain.toml pins, nothing by this one.
"""

import re
import shutil
import subprocess

from .console import CannotRun, detail

TOOLCHAIN = "nightly"


def require() -> str:
    """Name of a nightly toolchain with the standard library's sources, which is installed if it is missing."""
    if not shutil.which("rustup"):
        raise CannotRun("rustup was not found, and only it brings a second compiler. Install Rust from https://rustup.rs.")
    if not has_sources():
        detail(f"installing the {TOOLCHAIN} compiler with the standard library's sources (about 150 MB)")
        command = ["rustup", "toolchain", "install", TOOLCHAIN, "--profile", "minimal", "--component", "rust-src"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotRun(f"'{' '.join(command)}' failed:\n{done.stderr.strip()[-1000:]}\nCheck the network, then run this again.")
    return TOOLCHAIN


def has_sources() -> bool:
    """Whether the toolchain is there with the component rust-src."""
    command = ["rustup", "component", "list", "--toolchain", TOOLCHAIN, "--installed"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    return listed.returncode == 0 and "rust-src" in listed.stdout.split()


def host_target(toolchain: str) -> str:
    """The target triple of this machine."""
    said = subprocess.run(["rustc", f"+{toolchain}", "--version", "--verbose"], capture_output=True, text=True, check=True)
    return re.search(r"^host: (\S+)$", said.stdout, re.MULTILINE)[1]
