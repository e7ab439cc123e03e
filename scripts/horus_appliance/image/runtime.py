"""Builds the Rust runtime with plain cargo, for this machine's processor or for another, and shows reports with it."""

import os
import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import system
from horus_appliance.host.architecture import Architecture, CannotCross
from horus_appliance.paths import RUNTIME

import horus_conf


def build(architecture: Architecture, python: bool = False) -> Path:
    """Builds the runtime's programs, and the Python module, for an appliance of this architecture; returns where cargo leaves them."""
    step("building the runtime: cargo build --release" + (f" for {architecture.name}" if architecture.foreign else ""))
    arguments, more = cross(architecture) if architecture.foreign else ([], {})
    for chosen in (horus_conf.cargo_arguments(), *([horus_conf.module_arguments()] if python else [])):
        command = ["cargo", "build", "--release", "--locked", "--target-dir", str(cargo_target()), *chosen, *arguments]
        done = subprocess.run(command, cwd=RUNTIME, env={**clean_environment(), **more}, check=False)
        if done.returncode != 0:
            raise CannotRun("the runtime does not build; the compiler's message is above.")
    return cargo_target() / (architecture.cross.target if architecture.foreign else "") / "release"


def cargo_target() -> Path:
    """Where cargo puts what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", RUNTIME / "target")).resolve()


def clean_environment() -> dict:
    """This process's environment without wishes for other programs, which must not decide what runs on the appliance."""
    return {name: value for name, value in os.environ.items() if name not in ("CARGO_BUILD_TARGET", "RUSTFLAGS")}


def cross(architecture: Architecture) -> tuple:
    """Cargo's arguments and environment for another architecture, with linker and standard library installed."""
    tools = architecture.cross
    if tools is None:
        raise CannotCross(f"the {architecture.name} appliance is built on machines of that architecture only.")
    if not shutil.which("rustup"):
        raise CannotCross(
            f"building for {architecture.name} needs Rust's standard library for it, which only rustup brings: "
            "install Rust from https://rustup.rs."
        )
    if not shutil.which(tools.linker):
        system.install(list(tools.packages))
    system.add_rust_target(tools.target)
    return ["--target", tools.target], {f"CARGO_TARGET_{tools.target.upper().replace('-', '_')}_LINKER": tools.linker}


def show_report(report: Path) -> bool:
    """Prints the report of an appliance, of whatever processor, as a person reads it; tells whether that went well."""
    program = cargo_target() / "release/horus"
    if not program.exists():
        step("building the program that shows the report")
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "horus-cli", "--bins", "--target-dir", str(cargo_target())]
    subprocess.run(command, cwd=RUNTIME, env=clean_environment(), check=True)
    return subprocess.run([program, "report", report], check=False).returncode == 0
