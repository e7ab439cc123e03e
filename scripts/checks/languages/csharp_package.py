"""The package of Horus.Net for NuGet: made from the project file by MSBuild, with a library for each machine.

The library for arm64 is linked by Zig, as the guide says, and carries a message under qemu-user. No C# runs there: no registry that is used here
has a .NET runtime for it.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.languages.csharp_hosts import BINDING, LONGEST_SECONDS, expect
from horus_appliance.console import detail
from horus_appliance.host import dotnet, elf, library, system, zig

ARM64 = "aarch64-unknown-linux-gnu"
# Optimised code costs minutes more, and which machine it is for is the same.
ARM64_PROFILE = "dev"
TALK = """
#include <horus/horus.h>
#include <stdio.h>
int main(void) {
  horus_bytes_subscriber *in = horus_bytes_subscriber_open("talk", 8, NULL);
  horus_bytes_publisher *out = horus_bytes_publisher_open("talk", 8, NULL);
  char got[8];
  size_t bytes;
  if (horus_bytes_publisher_try_send(out, "aarch64", 8) || horus_bytes_subscriber_try_recv(in, got, 8, &bytes, NULL)) {
    fprintf(stderr, "%s", horus_error());
    return 1;
  }
  return printf("%s", got) < 0;
}
"""
# By the name of NuGet for them.
MACHINES = {"linux-x64": "x86_64", "linux-arm64": "aarch64"}
EMULATOR = ("qemu-aarch64", "qemu-user")
# What the emulated program finds its own loader and C library in.
LIBRARIES = Path("/usr/aarch64-linux-gnu")
LIBRARIES_PACKAGE = "libc6-arm64-cross"


def check(tools: dotnet.Dotnet, folder: Path, x64: Path) -> None:
    """Makes the package, and looks at the libraries in it."""
    prefix = folder / "arm64"
    library.install(prefix, ARM64_PROFILE, ARM64)
    package = make(tools, folder, {"linux-x64": x64, "linux-arm64": prefix / "lib" / "libhorus.so.1"})
    for name, machine in MACHINES.items():
        native = package / "runtimes" / name / "native" / "libhorus.so"
        expect(elf.machine_of(native) == machine, f"{name} has a library for '{elf.machine_of(native)}', not for {machine}")
    talk(prefix, package / "runtimes" / "linux-arm64" / "native" / "libhorus.so")


def make(tools: dotnet.Dotnet, folder: Path, libraries: dict) -> Path:
    """The project as a user's MSBuild takes it; gives the folder that its package was unpacked in."""
    project, home, unpacked = folder / "project", folder / "home", folder / "package"
    shutil.copytree(BINDING, project, ignore=shutil.ignore_patterns("tests", "runtimes", "bin", "obj"))
    for machine, built in libraries.items():
        native = project / "runtimes" / machine / "native"
        native.mkdir(parents=True)
        shutil.copy(built, native / "libhorus.so")
    home.mkdir()
    tools.package(project / "Horus.Net.csproj", home)
    package = project / "bin" / "Debug" / f"Horus.Net.{library.version()}.nupkg"
    expect(package.is_file(), f"no package of release {library.version()}: {sorted(path.name for path in package.parent.iterdir())}")
    shutil.unpack_archive(package, unpacked, "zip")
    for name in ("lib/netcoreapp3.1/Horus.Net.dll", *(f"runtimes/{machine}/native/libhorus.so" for machine in libraries)):
        expect((unpacked / name).is_file(), f"the package lacks {name}")
    detail(f"{package.name} has the assembly, and the library for {' and '.join(libraries)}")
    return unpacked


def talk(prefix: Path, native: Path) -> None:
    """A program in C for arm64 loads the package's library under its own name, and sends itself a message."""
    system.ensure_command(*EMULATOR)
    if not LIBRARIES.is_dir():
        system.install([LIBRARIES_PACKAGE])
    loaded = prefix / "loaded"
    loaded.mkdir()
    shutil.copy(native, loaded / "libhorus.so.1")
    source, program = prefix / "talk.c", prefix / "talk"
    source.write_text(TALK)
    command = [str(zig.cc(ARM64)), str(source), f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-lhorus", "-o", str(program)]
    subprocess.run(command, check=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {**os.environ, "HORUS_SHM_DIR": topics}
        command = [EMULATOR[0], "-L", str(LIBRARIES), "-E", f"LD_LIBRARY_PATH={loaded}", str(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
    expect(done.returncode == 0 and done.stdout == "aarch64", f"the library for arm64 under qemu-user: {done.returncode} {done.stdout}{done.stderr}")
    detail("the library for arm64 carries a message under qemu-user")
