"""Installs the library and builds programs against it as their authors do: python3 -m checks.languages.packages.

By pkg-config and by CMake, shared and static, in C and in C++, and from a folder that was moved after installing.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library

SOURCE = library.BINDING / "tests" / "c" / "listen.c"
SOURCE_CPP = library.BINDING / "tests" / "cpp" / "listen.cpp"

CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(listen LANGUAGES C CXX)
find_package(horus 0.1 REQUIRED)
add_executable(listen_shared listen.c)
target_link_libraries(listen_shared horus::horus)
add_executable(listen_static listen.c)
target_link_libraries(listen_static horus::static)
add_executable(listen_cpp listen.cpp)
target_compile_features(listen_cpp PRIVATE cxx_std_17)
target_link_libraries(listen_cpp horus::horus)
"""


def main() -> int:
    for command, package in (("cmake", "cmake"), ("make", "make"), ("pkg-config", "pkgconf"), ("g++", "g++")):
        system.ensure_command(command, package)
    with tempfile.TemporaryDirectory() as folder:
        first, prefix = Path(folder) / "first", Path(folder) / "moved"
        library.install(first, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        first.rename(prefix)
        by_pkg_config(prefix, Path(folder))
        by_cmake(prefix, Path(folder) / "project")
    print("programs were built by pkg-config and by CMake, shared and static, in C and C++, and ran")
    return 0


def by_pkg_config(prefix: Path, place: Path) -> None:
    step("programs built by pkg-config")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}

    def flags(*options: str) -> list:
        done = subprocess.run(["pkg-config", *options, "horus"], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    cflags, libs = flags("--cflags"), flags("--libs")
    static = [str(prefix / "lib" / "libhorus.a"), *(flag for flag in flags("--libs", "--static") if flag != "-lhorus")]
    for name, command in {
        "shared": ["cc", str(SOURCE), *cflags, *libs],
        "static": ["cc", str(SOURCE), *cflags, *static],
        "cpp": ["c++", "-std=c++17", str(SOURCE_CPP), *cflags, *libs],
    }.items():
        program = place / name
        subprocess.run([*command, "-o", str(program)], check=True)
        run(program, prefix)
        needs = "libhorus" in subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        if needs == (name == "static"):
            raise ApplianceFailed(f"the program '{name}' {'needs' if needs else 'does not need'} libhorus.so")


def by_cmake(prefix: Path, place: Path) -> None:
    step("programs built by CMake")
    place.mkdir()
    (place / "CMakeLists.txt").write_text(CMAKE)
    for source in (SOURCE, SOURCE_CPP):
        shutil.copy(source, place)
    for command in (["cmake", "-S", str(place), "-B", str(place / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", str(place / "build")]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ApplianceFailed(f"'{' '.join(command)}' failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    for name in ("listen_shared", "listen_static", "listen_cpp"):
        run(place / "build" / name, prefix)
    refused = CMAKE.replace("horus 0.1 ", "horus 9.0 ")
    (place / "CMakeLists.txt").write_text(refused)
    command = ["cmake", "-S", str(place), "-B", str(place / "other"), f"-DCMAKE_PREFIX_PATH={prefix}"]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        raise ApplianceFailed("CMake took this release where 9.0 was asked for")


def run(program: Path, prefix: Path) -> None:
    """Runs a program that joins a topic and ends."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib"), "HORUS_SHM_DIR": topics}
        done = subprocess.run([str(program), "0"], env=environment, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"{program.name} ended with {done.returncode}: {done.stderr}")
    detail(f"{program.name} runs")


if __name__ == "__main__":
    run_command(main)
