"""LLVM's sanitizers over the threaded and multi-process tests: what is run under which, and what each cannot see."""

import os
import re
import subprocess
from dataclasses import dataclass

from . import nightly
from .console import ApplianceFailed, step
from .paths import RUNTIME

# The tests with threads or peers in other processes. Left out: tests of one thread's arithmetic, of deadlines (a sanitizer
# makes everything some times slower), of the command line; doc tests, which are small and single-threaded.
HORUS_TESTS = ("topics", "original_faults", "message_path", "killed_peers", "scribbling_peer")
# These count what a thread allocates or which system calls it makes; a sanitizer's own would be counted too.
UNCOUNTABLE = ("allocat", "no_system_call", "confinement")


@dataclass(frozen=True)
class Sanitizer:
    """One sanitizer: its name to the compiler, and how it is built and told to stop."""

    name: str
    cargo: tuple
    environment: dict


SANITIZERS = {
    # Its view of the standard library must be complete, so that is built with it. It does not model fences and does not see
    # into assembly: the ring's fences are loom's business, and long payloads, which move by assembly, it cannot judge.
    # Nor does it see what another process does; the peers run under it all the same, each for itself.
    "thread": Sanitizer("thread", ("-Zbuild-std",), {"TSAN_OPTIONS": "halt_on_error=1 second_deadlock_stack=1"}),
    # Peers are killed with what they allocated, so leaks are looked for only where a process ends by itself, as always.
    "address": Sanitizer("address", (), {"ASAN_OPTIONS": "detect_stack_use_after_return=1"}),
}


def run(name: str) -> int:
    """Runs the tests under one sanitizer; returns how many passed."""
    sanitizer = SANITIZERS[name]
    toolchain = nightly.require()
    target = nightly.host_target(toolchain)
    build = [
        "cargo", f"+{toolchain}", "test", "--locked", *sanitizer.cargo, "--target", target,
        "--target-dir", str(RUNTIME / "target" / f"sanitizer-{name}"),
    ]  # fmt: skip
    skipped = [argument for text in UNCOUNTABLE for argument in ("--skip", text)]
    flags = f"-Zsanitizer={name} -Cforce-frame-pointers=yes"
    environment = {**os.environ, **sanitizer.environment, "RUSTFLAGS": flags, "RUST_TEST_THREADS": "2"}
    selected = [argument for test in HORUS_TESTS for argument in ("--test", test)]
    passed = 0
    for what in (["--package", "horus-shm", "--lib", "--tests"], ["--package", "horus", *selected]):
        step(f"{name} sanitizer: {what[1]}, {' '.join(what[2:])}")
        command = [*build, *what, "--", *skipped]
        done = subprocess.run(command, cwd=RUNTIME, env=environment, text=True, errors="replace", capture_output=True, check=False)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).splitlines()
            raise ApplianceFailed(f"'{' '.join(command)}' ended with {done.returncode}:\n" + "\n".join(said[-150:]))
        passed += sum(int(number) for number in re.findall(r"^test result: ok\. (\d+) passed", done.stdout, re.MULTILINE))
    if passed == 0:
        raise ApplianceFailed(f"the {name} sanitizer ran no test")
    return passed
