"""Builds the Rust runtime with plain cargo, for this machine's processor or for another, and shows reports with it."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import system
from horus_appliance.host.architecture import Architecture, CannotCross
from horus_appliance.paths import REPOSITORY, RUNTIME, cargo_target

import horus_conf


@dataclass(frozen=True)
class Built:
    """Where cargo leaves the runtime's programs, and what an option brings: the Python module, and the bridge."""

    programs: Path
    module: Path | None
    bridge: Path | None


def build(architecture: Architecture, python: bool = False, bridge: bool = False) -> Built:
    """Builds the runtime's programs, and what options bring, for an appliance of this architecture."""
    programs = cargo_build(architecture, RUNTIME, cargo_target(), horus_conf.cargo_arguments())
    module = cargo_build(architecture, RUNTIME, cargo_target(), horus_conf.module_arguments()) if python else None
    # A workspace of its own, and so a folder of its own, where its checks find it.
    workspace = horus_conf.bridge_folder()
    return Built(programs, module, cargo_build(architecture, workspace, workspace / "target", ["--bins"]) if bridge else None)


def cargo_build(architecture: Architecture, workspace: Path, target: Path, chosen: list) -> Path:
    """Builds what is chosen of a workspace; returns where cargo leaves it."""
    step(f"building {workspace.name}: cargo build --release {' '.join(chosen)}" + (f" for {architecture.name}" if architecture.foreign else ""))
    arguments, more = cross(architecture) if architecture.foreign else ([], {})
    command = ["cargo", "build", "--release", "--locked", "--target-dir", str(target), *chosen, *arguments]
    done = subprocess.run(command, cwd=workspace, env={**clean_environment(), **more}, check=False)
    if done.returncode != 0:
        raise CannotRun(f"{workspace.relative_to(REPOSITORY)} does not build; the compiler's message is above.")
    return target / (architecture.cross.target if architecture.foreign else "") / "release"


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
