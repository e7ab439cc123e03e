"""The library for C and C++: how it is built, and where its files go."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import system
from horus_appliance.languages import zig
from horus_appliance.paths import RUNTIME, cargo_target

BINDING = RUNTIME / "bindings" / "c"
INSTALLER = BINDING / "package" / "install"


def install(prefix: Path, profile: str, target: str | None = None) -> list:
    """Builds the library and installs it below `prefix`; gives the files."""
    step(f"building libhorus ({profile})")
    # With musl, programs carry all of their libraries, and no shared one is installed.
    is_static = bool(target) and target.endswith("-musl")
    command = ["cargo", "rustc", "--locked", "--package", "horus-c", "--lib", "--profile", profile]
    command += ["--target", target] if target else []
    command += ["--crate-type", "staticlib"] if is_static else []
    environment = {**os.environ, **cross(target)}
    command += ["--", "--print", "native-static-libs"]
    done = subprocess.run(command, cwd=RUNTIME, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"'{' '.join(command)}' failed:\n{done.stderr[-3000:]}")
    built = cargo_target() / (target or "") / ("debug" if profile == "dev" else profile)
    with tempfile.NamedTemporaryFile("w") as said:
        said.write(done.stderr)
        said.flush()
        place = ["--prefix", prefix, "--built", built, "--cargo-said", said.name, *(["--static"] if is_static else [])]
        installed = subprocess.run([sys.executable, INSTALLER, *place], env=environment, capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        raise CannotRun(f"libhorus cannot be installed:\n{installed.stderr[-3000:]}")
    return [Path(line) for line in installed.stdout.splitlines()]


def cross(target: str | None) -> dict:
    """Fetches what it takes to build for a target; gives what Cargo has to know. A linker that was named for it already is left alone."""
    if not target or not shutil.which("rustup"):
        return {}  # this machine, or a Rust of another making, whose maker knows what it builds for
    system.add_rust_target(target)
    named = f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"
    if named in os.environ:
        return {"CC": os.environ[named]}
    if target.endswith("-musl"):
        # Nothing is linked by it. Cargo builds all anew for another linker, and this is the one with which `horus deploy` builds programs in Rust.
        return {named: "rust-lld"}
    return {**zig.linker(target), "CC": str(zig.cc(target))} if target.endswith("-linux-gnu") else {}


def version() -> str:
    """The release that the library is of."""
    return tomllib.loads((RUNTIME / "Cargo.toml").read_text())["workspace"]["package"]["version"]
