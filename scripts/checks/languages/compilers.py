"""Compiles the test programs with each compiler, strictly, and runs them: python3 -m checks.languages.compilers."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.languages import programs
from horus_appliance.console import run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library


def main() -> int:
    system.ensure_command("g++", "g++")
    clang = require_clang()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "prefix"
        library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        for compilers in (("gcc", "g++"), clang):
            said = subprocess.run([compilers[1], "--version"], capture_output=True, text=True, check=True)
            for standard in ("c++17", "c++20"):
                step(f"{said.stdout.splitlines()[0]}, {standard}")
                for program in (*programs.CPP, programs.CPP_ENDS_BUSY):
                    built = programs.build(program, [compilers[1], f"-std={standard}"], prefix, Path(folder))
                    programs.run(program, built, {})
            for program in (*programs.C, programs.C_ENDS_BUSY):
                programs.run(program, programs.build(program, [compilers[0]], prefix, Path(folder)), {})
    print("the programs in C and C++ compile without a warning, with both compilers, and run")
    return 0


def require_clang() -> tuple:
    """Clang 14 where Debian has it, else its own; gives the compilers of C and of C++."""
    if shutil.which("clang++-14"):
        return "clang-14", "clang++-14"
    has_14 = subprocess.run(["apt-cache", "show", "clang-14"], capture_output=True, check=False).returncode == 0
    if has_14:
        system.ensure_command("clang++-14", "clang-14")
        return "clang-14", "clang++-14"
    system.ensure_command("clang++", "clang")
    return "clang", "clang++"


if __name__ == "__main__":
    run_command(main)
