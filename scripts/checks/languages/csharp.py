"""Builds Horus.Net and its test programs, and runs them under .NET 8 and under Mono: python3 -m checks.languages.csharp.

Then what concerns no program: where the library is found and what is said when it is not, the project file by MSBuild, and the guide's programs.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from checks.languages import csharp_hosts as hosts
from checks.languages.csharp_hosts import BINDING, Host, Place
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import dotnet, library, system
from horus_appliance.paths import REPOSITORY, RUNTIME

GUIDE = REPOSITORY / "docs" / "csharp.md"
# What ends well.
PROGRAMS = (
    ("Topics", ()), ("Vectors", (str(RUNTIME / "bindings" / "layout-vectors.txt"),)), ("Nodes", ("world",)), ("Nodes", ("allocates",)),
    ("Nodes", ("outlive",)),
)  # fmt: skip
# A library of another version, and one of none.
OTHER_VERSION = "unsigned horus_abi_version(void) { return 2; }"
NO_LIBRARY = "int nothing;"


def main() -> int:
    system.ensure_command("cc", "gcc")
    tools = dotnet.ensure()
    dotnet.ensure_mono()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "prefix"
        library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        for host in (Host(tools.net8, tools.run(Path())[:-1]), Host(tools.standard, ["mono"])):
            step(f"C# for {host.framework.name}, run by {Path(host.command[0]).name}")
            place = Place(host, Path(folder) / host.framework.name, prefix / "lib" / "libhorus.so.1")
            hosts.build(tools, place)
            for program, arguments in PROGRAMS:
                place.run(program, *arguments)
            place.run("BadInput", str(place.folder))
            run_nodes(place)
            find_library(place)
            run_guide(tools, place)
        step("the project file, by MSBuild")
        make_package(tools, Path(folder), prefix)
    print("the programs in C# compile without a warning, and run under .NET 8 and under Mono")
    return 0


def run_nodes(place: Place) -> None:
    """Nodes on the machine's clock: to their end, until a step throws, until SIGTERM."""
    said = place.run("Nodes", "run")
    expect("control: 20 releases" in said, f"the account of the nodes is missing:\n{said}")
    for argument, words in (("throw", "robot: node control failed: InvalidOperationException: the wheel came off"), ("refuse", "InvalidOperationException: no robot")):
        done = place.output("Nodes", argument)
        expect(done.returncode == 1 and words in done.stderr, f"Nodes {argument} ended with {done.returncode}:\n{done.stderr}")
    said = terminate(place, "forever", 0)
    expect("control: " in said, f"the nodes gave no account after SIGTERM:\n{said}")
    terminate(place, "hang", -signal.SIGTERM)
    detail("nodes end by themselves, by an exception, by SIGTERM; one that never returns by a second SIGTERM")


def terminate(place: Place, program: str, code: int) -> str:
    """Sends SIGTERM to a program that has begun its first step, again and again; gives what it said."""
    with place.start("Nodes", program) as process:
        try:
            process.stdout.readline()
            until = time.monotonic() + hosts.LONGEST_SECONDS
            while process.poll() is None and time.monotonic() < until:
                process.send_signal(signal.SIGTERM)
                if code == 0:  # one has to do
                    break
                time.sleep(0.5)
            said = "".join(process.communicate(timeout=hosts.LONGEST_SECONDS))
        finally:
            process.kill()
    expect(process.returncode == code, f"Nodes {program} ended with {process.returncode} after SIGTERM:\n{said}")
    return said


def find_library(place: Place) -> None:
    """Where the library is found, and what is said when it is not, or is another one."""
    for name, source in (("other", OTHER_VERSION), ("none", NO_LIBRARY)):
        (place.folder / f"{name}.c").write_text(source)
        built = ["cc", "-shared", "-fPIC", str(place.folder / f"{name}.c"), "-Wl,-soname,libhorus.so.1", "-o", str(place.folder / f"{name}.so")]
        subprocess.run(built, check=True)
    nowhere, advice = {"HORUS_LIBRARY": "", "LD_LIBRARY_PATH": ""}, "Install libhorus of the same release"
    for environment, words in (
        (nowhere, "libhorus.so.1 was not found"),
        ({"HORUS_LIBRARY": "/nowhere/libhorus.so"}, "HORUS_LIBRARY names /nowhere/libhorus.so, which cannot be loaded"),
        ({"HORUS_LIBRARY": str(place.folder / "other.so")}, "has version 2 of the interface, and this Horus.Net is made for version 1"),
        ({"HORUS_LIBRARY": str(place.folder / "none.so")}, "is no libhorus: it has no horus_abi_version"),
    ):
        done = place.output("BadInput", "open", environment=environment)
        expect(done.returncode == 3 and words in done.stdout and advice in done.stdout, f"{environment}: {done.returncode} {done.stdout}{done.stderr}")
    package = place.folder / "runtimes" / "linux-x64" / "native" / "libhorus.so"
    for found in (package, place.folder / "libhorus.so", place.folder / "libhorus.so.1"):
        found.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(place.library, found)
        opened(place, nowhere)
        found.unlink()
    opened(place, {"HORUS_LIBRARY": "", "LD_LIBRARY_PATH": str(place.library.parent)})
    package.write_bytes(b"not a library")
    done = place.output("BadInput", "open", environment=nowhere)
    expect(done.returncode == 3 and f"{package} cannot be loaded" in done.stdout, f"a broken library: {done.stdout}{done.stderr}")
    package.unlink()
    detail("the library is found in the package's layout, beside the program, by the loader; what is wrong with it is said")


def opened(place: Place, environment: dict) -> None:
    done = place.output("BadInput", "open", environment=environment)
    expect(done.stdout == "opened\n", f"{environment}: {done.returncode} {done.stdout}{done.stderr}")


def run_guide(tools: dotnet.Dotnet, place: Place) -> None:
    """The programs of the guide, as they are printed."""
    parts = [part.split("```")[0] for part in GUIDE.read_text().split("```csharp\n")[1:]]
    programs = [part for part in parts if "Main(" in part]
    expect(len(programs) >= 3, f"{GUIDE.name} has {len(programs)} programs")
    for number, program in enumerate(programs):
        if "await foreach" in program and place.host.framework.define != "NETCOREAPP":
            continue
        source = place.folder / f"Guide{number}.cs"
        source.write_text(program)
        tools.compile(place.host.framework, [source], source.with_suffix(".exe"), f"-r:{place.folder / 'Horus.Net.dll'}")
        place.run(source.stem, "--releases", "10")


def make_package(tools: dotnet.Dotnet, folder: Path, prefix: Path) -> None:
    """The project as a user's MSBuild takes it, and what is in the package that it makes."""
    project = folder / "project"
    shutil.copytree(BINDING, project, ignore=shutil.ignore_patterns("tests", "runtimes", "bin", "obj"))
    for machine in ("linux-x64", "linux-arm64"):  # what is packed is a file of this name; the machine that it is for is not looked at here
        native = project / "runtimes" / machine / "native"
        native.mkdir(parents=True)
        shutil.copy(prefix / "lib" / "libhorus.so.1", native / "libhorus.so")
    home = folder / "home"
    home.mkdir()
    tools.package(project / "Horus.Net.csproj", home)
    package = project / "bin" / "Debug" / f"Horus.Net.{library.version()}.nupkg"
    expect(package.is_file(), f"no package of release {library.version()}: {sorted(path.name for path in package.parent.iterdir())}")
    shutil.unpack_archive(package, folder / "package", "zip")
    for name in ("lib/netcoreapp3.1/Horus.Net.dll", "runtimes/linux-x64/native/libhorus.so", "runtimes/linux-arm64/native/libhorus.so"):
        expect((folder / "package" / name).is_file(), f"the package lacks {name}")
    detail(f"{package.name} has the assembly, and the library for both machines")


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ApplianceFailed(otherwise)


if __name__ == "__main__":
    run_command(main)
