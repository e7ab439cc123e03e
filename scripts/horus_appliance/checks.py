"""The checks of scripts/test: what each runs, and how its outcome is told."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import host
from .console import step
from .paths import REPOSITORY, RUNTIME

SKIP_STATUS = 77  # the exit status that means "skipped" to Automake, and to us


@dataclass(frozen=True)
class Check:
    """One command, what it stands for, and where it runs."""

    name: str
    command: list
    directory: Path = REPOSITORY
    environment: dict = field(default_factory=dict)
    boots: bool = False
    needs: tuple = ()  # (command, Debian package) that must be there
    long: str = ""  # how long it takes, for one that only runs when long ones are asked for


@dataclass(frozen=True)
class Result:
    """How a check ended."""

    word: str
    seconds: float
    reason: str = ""


def cargo(*arguments: str) -> list:
    return ["cargo", *arguments]


def shell_scripts() -> list:
    """Every shell script of the repository, found by its first line."""
    roots = [REPOSITORY / name for name in ("conf", "meta-horus", "recipes", "scripts", "benchmarks/research", "benchmarks/compare", ".ci")]
    return sorted(str(path) for root in roots for path in root.rglob("*") if "target" not in path.parts and path.is_file() and is_shell(path))


def is_shell(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline(80)
    except OSError:
        return False
    return first.startswith((b"#!/bin/sh", b"#!/usr/bin/env bash", b"#!/bin/bash"))


def unit_tests(*modules: str) -> list:
    return [sys.executable, "-m", "unittest", *(f"tests.{module}" for module in modules)]


SCRIPTS = REPOSITORY / "scripts"
LOOM_TARGET = str(RUNTIME / "target" / "loom")
BENCHMARKS = REPOSITORY / "benchmarks"
# What the benchmarks depend on is built for the runtime already.
SHARED_TARGET = {"CARGO_TARGET_DIR": str(RUNTIME / "target")}

CHECKS = [
    Check("rust format", cargo("fmt", "--all", "--check"), RUNTIME),
    Check("rust lints", cargo("clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"), RUNTIME),
    Check("rust documentation", cargo("doc", "--locked", "--workspace", "--no-deps"), RUNTIME, {"RUSTDOCFLAGS": "-D warnings"}),
    Check("rust unit, doc and process tests", cargo("test", "--locked", "--workspace"), RUNTIME),
    Check(
        "rust model tests (loom)",
        cargo("test", "--locked", "--release", "--package", "horus-shm", "--test", "loom_ring", "--target-dir", LOOM_TARGET),
        RUNTIME, {"RUSTFLAGS": "--cfg loom"},
    ),
    Check("built by the Rust of the Yocto release", [sys.executable, "-m", "horus_appliance.release_rust"], SCRIPTS),
    Check("peers killed at every step", [sys.executable, str(SCRIPTS / "soak"), "kill", "--count", "300"]),
    Check("segments written by a fuzzer", [sys.executable, str(SCRIPTS / "soak"), "fuzz", "--seconds", "30"]),
    Check("topics under the thread sanitizer", [sys.executable, str(SCRIPTS / "sanitize"), "thread"]),
    Check("topics under the address sanitizer", [sys.executable, str(SCRIPTS / "sanitize"), "address"]),
    Check("topics on 64-bit ARM (qemu-user)", [sys.executable, "-m", "horus_appliance.arm64"], SCRIPTS),
    Check("topics on 64-bit ARM, 16 KiB pages (qemu-user)", [sys.executable, "-m", "horus_appliance.arm64", "16384"], SCRIPTS),
    Check("benchmarks' format", cargo("fmt", "--all", "--check"), BENCHMARKS),
    Check(
        "benchmarks' lints", cargo("clippy", "--locked", "--all-targets", "--", "-D", "warnings"), BENCHMARKS, SHARED_TARGET,
    ),
    Check("benchmarks' tests", cargo("test", "--locked"), BENCHMARKS, SHARED_TARGET),
    Check(
        "instructions a message", [str(BENCHMARKS / "research" / "instructions.sh")], environment=SHARED_TARGET,
        needs=("valgrind", "valgrind"),
    ),
    Check("shell scripts", ["shellcheck", *shell_scripts()], needs=("shellcheck", "shellcheck")),
    Check("scripts' unit tests", unit_tests(
        "test_conf", "test_host", "test_results", "test_boards", "test_kconfig", "test_flash", "test_units",
        "test_layer_static", "test_check_layer", "test_verity", "test_one_source", "test_identity", "test_imager",
        "test_tune_cpus",
    ), SCRIPTS),
    Check("kernel options stick in a real Kconfig", [sys.executable, "-m", "horus_appliance.kconfig"], SCRIPTS),
    Check("flashing to loop devices", [sys.executable, "-m", "tests.test_flash_devices"], SCRIPTS),
    Check("units verified by systemd", [sys.executable, "-m", "horus_appliance.units"], SCRIPTS),
    Check("the Yocto layer against the layers below it", [str(SCRIPTS / "check-layer")]),
    Check("the Yocto layer, without the layers below it", [sys.executable, "-m", "horus_appliance.layer_static"], SCRIPTS),
    Check("the reading of recipes", [sys.executable, "-m", "horus_appliance.layer_tools", "unittest", "tests.test_layer_inside"], SCRIPTS),
    Check("both ways to build install the same", [sys.executable, "-m", "horus_appliance.one_source"], SCRIPTS),
    Check("boot tests", [*unit_tests("test_boot"), "-v"], SCRIPTS, boots=True),
    Check(
        "boot tests and the runtime's tests on 64-bit ARM (emulated)", [sys.executable, "-m", "tests.boot_test"], SCRIPTS, boots=True,
        long="about 15 minutes, 25 the first time",
    ),
    Check("crate licences, bans and sources", [sys.executable, "-m", "horus_appliance.deny", "bans", "licenses", "sources"], SCRIPTS),
    Check("crate advisories", [sys.executable, "-m", "horus_appliance.deny", "advisories"], SCRIPTS),
]  # fmt: skip


def run(check: Check, long: bool = False) -> Result:
    """Runs one check with its output on the terminal; one that takes long only if `long` ones are wanted."""
    if check.long and not long:
        return Result("SKIPPED", 0, f"takes {check.long}; ./scripts/test --long runs it")
    step(f"--- {check.name}")
    started = time.monotonic()
    if check.needs and not shutil.which(check.needs[0]):
        host.install([check.needs[1]])
    done = subprocess.run(check.command, cwd=check.directory, env={**os.environ, **check.environment}, check=False)
    seconds = time.monotonic() - started
    if done.returncode == SKIP_STATUS:
        return Result("SKIPPED", seconds, "see its output above for the reason")
    return Result("passed" if done.returncode == 0 else "FAILED", seconds)
