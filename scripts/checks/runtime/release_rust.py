"""Lets the Rust that builds the Yocto image check what that image carries: python3 -m checks.runtime.release_rust.

Everything else here is built with the newer compiler of rust-toolchain.toml, which would take language and library features that the
release lacks: `rust-version` is a promise of the manifests, and only that version can tell whether it is kept. What a compiler refuses,
it refuses before it makes code, so none is made.
"""

import os
import shutil
import subprocess

from horus_appliance.console import ApplianceFailed, Skipped, detail, run_command
from horus_appliance.host import system
from horus_appliance.paths import BENCHMARKS, BUILD, RUNTIME


def main() -> int:
    system.find_cargo()
    if not shutil.which("rustup"):
        raise Skipped("only rustup brings the release's version of Rust: https://rustup.rs")
    version = system.rust_version()
    release = ["rustup", "run", version]
    if subprocess.run([*release, "rustc", "--version"], capture_output=True, check=False).returncode != 0:
        detail(f"installing Rust {version}")
        install = ["rustup", "toolchain", "install", version, "--profile", "minimal", "--no-self-update"]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"Rust {version} cannot be fetched: {done.stderr.strip()[-300:]}")
    for workspace in (RUNTIME, BENCHMARKS):
        cargo = [*release, "cargo", "check", "--locked", "--workspace", "--all-targets"]
        # A folder of its own: two compilers in one throw away each other's work.
        environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILD / "release-rust")}
        if subprocess.run(cargo, cwd=workspace, env=environment, check=False).returncode != 0:
            raise ApplianceFailed(
                f"{workspace.name} is not taken by Rust {version}, which the Yocto release has: the errors are above. "
                "Do without what is newer."
            )
    detail(f"checked with Rust {version}")
    return 0


if __name__ == "__main__":
    run_command(main)
