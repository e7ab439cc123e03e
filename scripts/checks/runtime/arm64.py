"""Builds the tests of horus-sys and horus-shm for 64-bit ARM and runs them under qemu-user: python3 -m checks.runtime.arm64 [PAGE_BYTES].

That shows that the crates build there, that their assembly copies what it should, and that nothing assumes x86-64's sizes. It
shows nothing about memory ordering: no emulator is as weakly ordered as the hardware; the loom models are what covers that.

With 16384 the programs are told of pages of 16 KiB, as a Raspberry Pi 5 has them, and memory is handed out in such steps. A
kernel would also refuse what is aligned to 4 KiB only; the emulator does not, so this finds less than such a kernel would.
"""

import os
import subprocess
import sys

from horus_appliance.console import ApplianceFailed, Skipped, detail, run_command
from horus_appliance.host import system
from horus_appliance.host.architecture import ARM64, CannotCross
from horus_appliance.image import runtime
from horus_appliance.paths import BUILD, RUNTIME

EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
USUAL_PAGE_BYTES = 4096

# What qemu-user itself does not emulate as the kernel does, each with its reason.
SKIPPED = [
    "full_file_system_is_an_error",  # runs itself again in a mount namespace, where the kernel knows no foreign programs
    "file_larger_than_the_process_may_make",  # runs itself again by a shell, which knows no foreign programs either
    "a_truncated_topic_ends", "a_fault_elsewhere", "a_signal_that_was_sent",  # run themselves again, and no emulator takes the fault as the kernel does
    "a_topic_that_cannot_be_mapped_anew",  # runs itself again, with room for memory that is no emulator's
    "child_", "daemon_that_", "inherited_handle_",  # a forked child gets the whole memory of the emulator, whatever was advised
]

PAGE_SIZE = """
#include <stdio.h>
#include <unistd.h>
int main(void) { return printf("%ld\\n", sysconf(_SC_PAGESIZE)) < 0; }
"""


def main() -> int:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else USUAL_PAGE_BYTES
    try:
        arguments, more = runtime.cross(ARM64)
    except CannotCross as reason:
        raise Skipped(str(reason)) from reason
    system.ensure_command(EMULATOR[0], "qemu-user")

    # By its variable, which a QEMU without the option ignores; what came of it, a program is asked.
    os.environ["QEMU_PAGESIZE"] = str(wanted)
    found = page_bytes()
    if found != wanted:
        raise Skipped(
            f"programs under {version()} have pages of {found} bytes, not {wanted}. "
            "QEMU 9.0 and newer cannot pretend another size than this machine's; Debian 12 has 7.2, which can."
        )
    detail(f"a program asked under {version()}: pages of {found} bytes")

    # No stack is printed: who looks for its names maps the program in steps of the machine's own pages, and dies where they are said to be larger.
    runner = {f"CARGO_TARGET_{ARM64.cross.target.upper().replace('-', '_')}_RUNNER": " ".join(EMULATOR), "RUST_BACKTRACE": "0"}
    command = ["cargo", "test", "--locked", "--package", "horus-sys", "--package", "horus-shm", *arguments, "--lib", "--tests", "--no-fail-fast", "--"]
    command += [argument for test in SKIPPED for argument in ("--skip", test)]
    return subprocess.run(command, cwd=RUNTIME, env={**os.environ, **more, **runner}, check=False).returncode


def page_bytes() -> int:
    """What a program under the emulator learns of the size of a page."""
    probe = BUILD / "arm64" / "page-size"
    probe.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([ARM64.cross.linker, "-x", "c", "-", "-o", str(probe)], input=PAGE_SIZE, text=True, check=True)
    done = subprocess.run([*EMULATOR, str(probe)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"a program of one line ended with {done.returncode} under {version()}: {done.stderr.strip()}")
    return int(done.stdout)


def version() -> str:
    """The emulator's name and version."""
    said = subprocess.run([EMULATOR[0], "--version"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[0]


if __name__ == "__main__":
    run_command(main)
