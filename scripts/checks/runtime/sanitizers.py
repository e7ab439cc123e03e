"""LLVM's sanitizers over the threaded and multi-process tests: what is run under which, and what each cannot see."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from checks.languages import instrumented
from checks.runtime import soak, unstable
from horus_appliance.console import ApplianceFailed, detail, step
from horus_appliance.paths import BUILD, RUNTIME

# The unit tests of the three crates, and the tests with threads or peers in other processes. Left out: deadlines (a sanitizer
# makes everything some times slower), the command line, counted allocations; doc tests, which are small and single-threaded.
TESTS = (
    "lifecycle", "coming_together", "fork", "ring_model", "ring_states", "untrusted_segment",  # of horus-shm
    "topics", "original_faults", "message_path", "killed_peers", "scribbling_peer",  # of horus
)  # fmt: skip
# The C interface is called by programs in C, which `languages.instrumented` runs. These tests of its crate, which need no compiler, have it built.
C_INTERFACE = {"address": ("--package", "horus-c", "--test", "vectors")}
# These count what a thread allocates or which system calls it makes; a sanitizer's own would be counted too.
UNCOUNTABLE = ("allocat", "no_system_call", "confinement")
# Programs with one known fault each, named for the sanitizer that must find it.
PLANTED = Path(__file__).parent / "planted"

TARGET = RUNTIME / "target" / "sanitizers"
# As SANITIZERS has it; programs in C take the signal themselves where they look at how a child ends.
C_ENVIRONMENT = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:quarantine_size_mb=16"}

# What the build of a first run costs: a report names lines, but needs no variables; these programs are not edited.
LEAN_BUILD = {"CARGO_PROFILE_DEV_DEBUG": "line-tables-only", "CARGO_INCREMENTAL": "0"}


@dataclass(frozen=True)
class Sanitizer:
    """One sanitizer: how it is built and told to stop, and what it says of its planted fault."""

    cargo: tuple
    environment: dict
    finds: str


# handle_segv=0: a forked child that touches its parent's topic has to end by the signal itself; its tests look at how it ended.
SANITIZERS = {
    # Its view of the standard library must be complete (without, it reports `Arc` and `OnceLock`), so that is built with it,
    # but not what prints a panic's backtrace. It does not model fences and does not see into assembly: the ring's fences
    # are loom's business, and long payloads, which move by assembly, it cannot judge. Nor does it see what another process
    # does; the peers run under it all the same, each for itself.
    "thread": Sanitizer(
        ("-Zbuild-std", "-Zbuild-std-features=panic-unwind"),
        {"TSAN_OPTIONS": "halt_on_error=1 second_deadlock_stack=1 handle_segv=0 die_after_fork=0"}, "ThreadSanitizer: data race",
    ),
    # Peers are killed with what they allocated, so leaks are looked for only where a process ends by itself, as always.
    "address": Sanitizer(
        (), {"ASAN_OPTIONS": "detect_stack_use_after_return=1 handle_segv=0"}, "AddressSanitizer: heap-use-after-free",
    ),
}  # fmt: skip


def run(name: str) -> int:
    """Runs the tests under one sanitizer; returns how many passed."""
    sanitizer = SANITIZERS[name]
    unstable.require_runtime(name)
    if sanitizer.cargo:
        unstable.require_sources()
    find_planted_fault(name, sanitizer)

    step(f"{name} sanitizer: horus-sys, horus-shm and horus, unit tests and {', '.join(TESTS)}")
    # One directory for both sanitizers: the compiler's plug-ins, which neither changes, are built once.
    command = [
        "cargo", "test", "--locked", *sanitizer.cargo, "--target", unstable.host_target(),
        "--target-dir", str(TARGET), "--package", "horus-sys", "--package", "horus-shm", "--package", "horus", "--lib",
        *(argument for test in TESTS for argument in ("--test", test)), *C_INTERFACE.get(name, ()),
        "--", *(argument for text in UNCOUNTABLE for argument in ("--skip", text)),
    ]  # fmt: skip
    environment = {
        **os.environ, **unstable.ALLOWED, **LEAN_BUILD, **sanitizer.environment, "RUST_TEST_THREADS": "2",
        # Mappings are made by the C library's functions here, which a sanitizer watches, not by system calls of rustix's own:
        # else it takes a new mapping where another thread's was before for that thread's memory.
        "RUSTFLAGS": f"-Zsanitizer={name} -Cforce-frame-pointers=yes --cfg=rustix_use_libc",
    }  # fmt: skip
    said = "\n".join(soak.run(command, RUNTIME, environment, progress="^ +Running "))
    passed = sum(int(number) for number in re.findall(r"^test result: ok\. (\d+) passed", said, re.MULTILINE))
    if passed == 0:
        raise ApplianceFailed(f"the {name} sanitizer ran no test")
    if name in C_INTERFACE:
        passed += instrumented.run(TARGET / unstable.host_target() / "debug" / "deps" / "libhorus_c.a", C_ENVIRONMENT)
    return passed


def find_planted_fault(name: str, sanitizer: Sanitizer) -> None:
    """Fails unless the sanitizer, told what the tests tell it, reports a fault that is there."""
    source, program = PLANTED / f"{name}.rs", BUILD / "planted" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    # One planted fault is in the program itself, so its standard library may be the ordinary one.
    flags = [f"-Zsanitizer={name}", "-Cunsafe-allow-abi-mismatch=sanitizer", "--edition=2024", "-g"]
    environment = {**os.environ, **unstable.ALLOWED}
    subprocess.run(["rustc", *flags, str(source), "-o", str(program)], cwd=RUNTIME, env=environment, check=True)
    done = subprocess.run(
        [str(program)], env={**os.environ, **sanitizer.environment}, text=True, errors="replace", capture_output=True, check=False
    )
    if done.returncode == 0 or sanitizer.finds not in done.stderr:
        raise ApplianceFailed(
            f"the {name} sanitizer did not report the fault of {source.name}, so it would report none of ours; "
            f"the program ended with {done.returncode}:\n{done.stderr[-2000:]}"
        )
    detail(f"{name} sanitizer: the planted fault is found")
