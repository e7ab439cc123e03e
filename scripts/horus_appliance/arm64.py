"""Builds the tests of horus-shm for 64-bit ARM and runs them under qemu-user: python3 -m horus_appliance.arm64.

That shows that the crate builds there, that its assembly copies what it should, and that nothing assumes x86-64's sizes. It
shows nothing about memory ordering: no emulator is as weakly ordered as the hardware; the loom models are what covers that.
"""

import os
import shutil
import subprocess
import sys

from . import host
from .checks import SKIP_STATUS
from .console import detail
from .paths import RUNTIME

TARGET = "aarch64-unknown-linux-gnu"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
PACKAGES = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"]

# What qemu-user itself does not emulate as the kernel does, each with its reason.
SKIPPED = [
    "full_file_system_is_an_error",  # runs itself again in a mount namespace, where the kernel knows no foreign programs
    "subscriber_waits_for_its_publisher",  # /proc/PID/stat gives each thread a start time of its own, so peers look dead
]


def main() -> int:
    if not shutil.which("rustup"):
        print("SKIPPED: only rustup brings Rust's standard library for another processor (https://rustup.rs)")
        return SKIP_STATUS
    if not (shutil.which(COMPILER) and shutil.which(EMULATOR)):
        host.install(PACKAGES)
    detail(f"Rust's standard library for {TARGET}")
    subprocess.run(["rustup", "target", "add", TARGET], cwd=RUNTIME, check=True)
    name = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}"
    environment = {
        **os.environ, f"{name}_LINKER": COMPILER, f"{name}_RUNNER": f"{EMULATOR} -L /usr/aarch64-linux-gnu",
    }  # fmt: skip
    command = ["cargo", "test", "--locked", "--package", "horus-shm", "--target", TARGET, "--lib", "--tests", "--no-fail-fast", "--"]
    command += [argument for test in SKIPPED for argument in ("--skip", test)]
    return subprocess.run(command, cwd=RUNTIME, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
