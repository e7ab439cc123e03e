"""The test programs in C and C++: which there are, and how they are compiled and run against an installed library."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import ApplianceFailed, detail
from horus_appliance.languages import library
from horus_appliance.paths import BENCHMARKS

TESTS = library.BINDING / "tests"
VECTORS = library.BINDING.parent / "layout-vectors.txt"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-pthread"]
LONGEST_SECONDS = 300


@dataclass(frozen=True)
class Program:
    """A source file, and the arguments with which it is run."""

    source: str
    arguments: tuple = ()
    flags: tuple = ()
    folder: Path = TESTS

    @property
    def is_c(self) -> bool:
        return self.source.endswith(".c")


C = (
    Program("c/topics.c", ("20000",)), Program("c/bytes.c"), Program("c/matrix.c"), Program("c/misuse.c", ("100000", "1")),
    Program("c/nodes.c", ("world",)), Program("c/nodes.c", ("run",)), Program("c/threads.c", ("20000",)), Program("c/ports.c"), Program("c/ports.c", ("threads",)),
    Program("c/options.c"), Program("c/padding.c"), Program("c/vectors.c", (str(VECTORS),)),
)  # fmt: skip
CPP = (
    Program("cpp/topics.cpp"), Program("cpp/lifetimes.cpp"), Program("cpp/vectors.cpp", (str(VECTORS),)), Program("cpp/names.cpp"),
    Program("cpp/nodes.cpp", ("world",)), Program("cpp/nodes.cpp", ("run",)),
    Program("cpp/no_exceptions.cpp", (), ("-fno-exceptions",)),
)  # fmt: skip
# Their threads are in the middle of something when they end, which a leak detector would call a leak.
C_ENDS_BUSY, CPP_ENDS_BUSY = Program("c/outlive.c"), Program("cpp/endings.cpp", ("outlive",))
# Many threads, topics and killed peers at once; its last argument is how long.
STRESS = Program("cpp_stress_test.cpp", ("--seconds", "8"), folder=BENCHMARKS / "languages")


def build(program: Program, compiler: list, prefix: Path, place: Path, libraries: tuple = ()) -> Path:
    """Compiles a program; a warning is an error. `libraries` are those that a static library needs beside itself."""
    built = place / Path(program.source).stem
    standard = [] if any(flag.startswith("-std=") for flag in compiler) else ["-std=gnu99" if program.is_c else "-std=c++17"]
    command = [*compiler, *standard, *program.flags, *STRICT, f"-I{prefix}/include", f"-I{TESTS}/c", str(program.folder / program.source)]
    command += ["-o", str(built), f"-L{prefix}/lib", "-lhorus", *libraries, f"-Wl,-rpath,{prefix}/lib"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"'{' '.join(command)}' failed:\n{done.stderr[-3000:]}")
    return built


def run(program: Program, built: Path, environment: dict) -> None:
    """Runs a program on topics of its own; it has to end well."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        done = subprocess.run(
            [str(built), *program.arguments], env={**os.environ, **environment, "HORUS_SHM_DIR": topics}, capture_output=True, text=True,
            errors="replace", timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise ApplianceFailed(f"{program.source} {' '.join(program.arguments)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    detail(f"{program.source} {' '.join(program.arguments)}")
