"""The package of Horus.Net for NuGet: made from the project file by MSBuild, with a library for each machine.

The library for arm64 is linked by Zig, as the guide says. A program in C and one in C# carry a message with it under qemu-user; the one in C# is run by
Debian's Mono, because no registry that is used here has a .NET runtime for that machine.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.languages import guides
from checks.languages.csharp_hosts import BINDING, LONGEST_SECONDS, expect
from horus_appliance.console import detail
from horus_appliance.host import elf, system, unpacked
from horus_appliance.languages import dotnet, library, zig
from horus_appliance.host.architecture import ARM64 as ARM64_MACHINE

ARM64 = "aarch64-unknown-linux-gnu"
# Optimised code costs minutes more, and which machine it is for is the same.
PROFILE = "dev"
TALK = """
#include <horus/horus.h>
#include <stdio.h>
int main(void) {
  horus_layout *bytes = horus_layout_of_bytes(8);
  horus_subscriber *in = horus_subscriber_open("talk", bytes, NULL);
  horus_publisher *out = horus_publisher_open("talk", bytes, NULL);
  horus_received about;
  char got[8];
  if (horus_publisher_try_send(out, "aarch64", 8) || horus_subscriber_try_recv(in, got, 8, &about)) {
    fprintf(stderr, "%s", horus_error());
    return 1;
  }
  return printf("%s", got) < 0;
}
"""
TALK_CSHARP = """
using System;
using Horus.Net;
using Horus.Net.Messages;
class Program
{
    static void Main()
    {
        using var seen = new Subscriber<CmdVel>("talk");
        using var sent = new Publisher<CmdVel>("talk");
        sent.Send(new CmdVel { Forward = 0.5, Turn = -2 });
        if (seen.TryRecv(out CmdVel got)) Console.Write($"{got.Forward} {got.Turn}");
    }
}
"""
MONO = ("mono-runtime", "libmono-system-core4.0-cil", "libmono-system-numerics4.0-cil")
# By the name of NuGet for them.
MACHINES = {"linux-x64": "x86_64", "linux-arm64": "aarch64"}
EMULATOR = ("qemu-aarch64", "qemu-user")
# What the emulated program finds its own loader and C library in.
LIBRARIES = Path("/usr/aarch64-linux-gnu")
LIBRARIES_PACKAGE = "libc6-arm64-cross"


def check(tools: dotnet.Dotnet, folder: Path) -> Path:
    """Makes the package, and looks at what is in it; gives its file."""
    package = make(tools, folder)
    for name, machine in MACHINES.items():
        native = package / "runtimes" / name / "native" / "libhorus.so"
        expect(elf.machine_of(native) == machine, f"{name} has a library for '{elf.machine_of(native)}', not for {machine}")
    talk(folder / "arm64", package / "runtimes" / "linux-arm64" / "native" / "libhorus.so")
    talk_in_csharp(tools, package, folder / "talk")
    return next((folder / "packages").glob("*.nupkg"))


def make(tools: dotnet.Dotnet, folder: Path) -> Path:
    """The guide's commands, with a copy of the project, folders of its own and a library for arm64 that is not optimised; gives the folder with the package's files."""
    project, packages, unpacked = folder / "project", folder / "packages", folder / "package"
    shutil.copytree(BINDING, project, ignore=shutil.ignore_patterns("tests", "runtimes", "bin", "obj"))
    block = guides.commands("csharp.md", "dotnet pack")
    for printed, own in (
        ("cd runtime/bindings/csharp", f"cd {project}"), ("../../../out/", f"{folder}/"), ("--prefix out/", f"--prefix {folder}/"),
        (f" --target {ARM64}", f" --target {ARM64} --profile {PROFILE}"),
        (" --target x86_64-unknown-linux-gnu", ""),  # for this machine, as it was built before
    ):  # fmt: skip
        expect(printed in block, f"the commands of docs/csharp.md lack '{printed}'")
        block = block.replace(printed, own)
    guides.run(block, tools.pack(project / "Horus.Net.csproj", folder))
    package = packages / f"Horus.Net.{library.version()}.nupkg"
    expect(package.is_file(), f"no package of release {library.version()}: {sorted(path.name for path in packages.iterdir())}")
    shutil.unpack_archive(package, unpacked, "zip")
    for name in (*(f"lib/{framework}/Horus.Net.dll" for framework in dotnet.PACKED), *(f"runtimes/{machine}/native/libhorus.so" for machine in MACHINES)):
        expect((unpacked / name).is_file(), f"the package lacks {name}")
    asks = (unpacked / "Horus.Net.nuspec").read_text()
    expect('targetFramework=".NETStandard2.0"' in asks and 'id="System.Memory"' in asks, f"the package does not ask for what has Span:\n{asks}")
    detail(f"{package.name} has assemblies for {' and '.join(dotnet.PACKED)}, and the library for {' and '.join(MACHINES)}")
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


def talk_in_csharp(tools: dotnet.Dotnet, package: Path, folder: Path) -> None:
    """A program takes the package's assembly for .NET Standard and finds the library as the package has it: on this machine, and on arm64."""
    folder.mkdir()
    assembly = Path(shutil.copy(package / "lib" / "netstandard2.0" / "Horus.Net.dll", folder))
    shutil.copytree(package / "runtimes", folder / "runtimes")
    (folder / "Talk.cs").write_text(TALK_CSHARP)
    program = tools.compile(tools.standard, [folder / "Talk.cs"], folder / "Talk.exe", f"-r:{assembly}")
    tree = unpacked.ensure("mono-arm64", ARM64_MACHINE, MONO)
    mono = unpacked.emulate(ARM64_MACHINE, tree, "usr/bin/mono-sgen", {"MONO_GAC_PREFIX": tree / "usr", "MONO_CFG_DIR": tree / "etc"})
    for where, command in (("this machine", ["mono"]), ("arm64 under qemu-user", mono)):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
            environment = {**os.environ, "HORUS_SHM_DIR": topics, "HORUS_LIBRARY": ""}
            done = subprocess.run([*command, str(program)], env=environment, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
        expect(done.stdout == "0.5 -2", f"Mono on {where} with the package's assembly: {done.returncode} {done.stdout}{done.stderr[-2000:]}")
        detail(f"Mono on {where} carries a message with the package's assembly and library")
