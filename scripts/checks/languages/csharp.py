"""Builds Horus.Net and its test programs, and runs them under .NET 8 and under Mono: python3 -m checks.languages.csharp.

Then what concerns no program: where the library is found and what is said when it is not, the guide's programs, the package, and a new project with it.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from checks.languages import csharp_hosts as hosts
from checks.languages.nuget import package as nuget_package
from checks.languages.nuget import project as nuget_project
from checks.languages.csharp_hosts import Host, Place, expect
from horus_appliance.console import detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import dotnet, library
from horus_appliance.paths import REPOSITORY, RUNTIME

GUIDE = REPOSITORY / "docs" / "csharp.md"
# What ends well.
PROGRAMS = (
    ("Topics", ()), ("Vectors", (str(RUNTIME / "bindings" / "layout-vectors.txt"),)), ("Nodes", ("world",)), ("Nodes", ("allocates",)), ("Services", ()), ("Transforms", ()), ("Actions", ()),
    ("Nodes", ("outlive",)), ("Nodes", ("left",)), ("Params", ("world",)),
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
            call_each_other(place, prefix)
            tune(place)
            find_library(place)
            run_guide(tools, place)
            if host.framework.define == "NETCOREAPP":
                compare(tools, place)
        step("the package, by MSBuild")
        made = nuget_package.check(tools, Path(folder) / "package")
        nuget_project.check(tools, Path(folder) / "project", made)
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
    end_by_the_second_signal(place)
    detail("nodes end by themselves, by an exception, by SIGTERM, by two in a row; one that never returns by a third SIGTERM, or by a second signal after its grace time")


def call_each_other(place: Place, prefix: Path) -> None:
    """A service in C# answers a program in C, and one in C a program in C#."""
    tests, program = RUNTIME / "bindings" / "c" / "tests" / "c", place.folder / "services-in-c"
    built = ["cc", "-std=gnu99", "-I", str(prefix / "include"), str(tests / "services.c"), "-o", str(program), "-L", str(prefix / "lib"), "-lhorus"]
    subprocess.run([*built, f"-Wl,-rpath,{prefix / 'lib'}"], check=True)
    sharp, bounded = place.command("Services"), ["timeout", "-k", "5", str(hosts.LONGEST_SECONDS)]
    for server, client in ((sharp, [str(program)]), ([str(program)], sharp)):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
            environment = {**os.environ, "HORUS_SHM_DIR": topics, "HORUS_LIBRARY": str(place.library), **dotnet.ENVIRONMENT}
            with subprocess.Popen([*bounded, *server, "serve", "1"], env=environment) as serving:
                called = subprocess.run([*bounded, *client, "call", "7"], env=environment, capture_output=True, text=True, check=False)
            expect(serving.returncode == 0 and called.stdout == "700 cells\n", f"{server[-1]} did not answer {client[-1]}: {called.stdout}{called.stderr}")
    detail("services in C# and in C answer each other")


def tune(place: Place) -> None:
    """The parameters of a program that runs, which are set, watched and saved beside it."""
    done = place.output("Params", "beside", environment={"HORUS_STATE_DIR": str(place.folder)})
    expect(done.returncode == 0 and "all of it holds" in done.stdout, f"Params beside ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def terminate(place: Place, program: str, code: int) -> str:
    """Sends SIGTERM to a program that has begun its first step, again and again; gives what it said."""
    with place.start("Nodes", program) as process:
        try:
            process.stdout.readline()
            until = time.monotonic() + hosts.LONGEST_SECONDS
            while process.poll() is None and time.monotonic() < until:
                process.send_signal(signal.SIGTERM)
                if code == 0:  # one has to do, and another one changes nothing
                    process.send_signal(signal.SIGTERM)
                    break
                time.sleep(0.5)
            said = "".join(process.communicate(timeout=hosts.LONGEST_SECONDS))
        finally:
            process.kill()
    expect(process.returncode == code, f"Nodes {program} ended with {process.returncode} after SIGTERM:\n{said}")
    return said


def end_by_the_second_signal(place: Place) -> None:
    """Sends two signals in a row to a program whose step never returns, and which has no grace time."""
    with place.start("Nodes", "grace") as process:
        try:
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            said = "".join(process.communicate(timeout=hosts.LONGEST_SECONDS))
        finally:
            process.kill()
    expect(process.returncode in (-signal.SIGINT, -signal.SIGTERM), f"without a grace time, Nodes ended with {process.returncode} after two signals:\n{said}")


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
    if place.host.framework.define == "NETCOREAPP":  # Mono gives the first assembly again
        refuse_another(place)
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


def refuse_another(place: Place) -> None:
    """Two copies of Horus.Net in one process, and a file of the library for each."""
    another = place.folder / "another.so"
    shutil.copy(place.library, another)
    done = place.output("BadInput", "another", str(place.folder), str(another))
    words = f"{another} does not carry the name libhorus.so.1, or another library of that name is loaded already"
    expect(done.returncode == 3 and words in done.stdout, f"two libraries in one process: {done.returncode} {done.stdout}{done.stderr}")


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


def compare(tools: dotnet.Dotnet, place: Place) -> None:
    """The benchmark goes all of its ways, as short as can be, and receives without making an object."""
    hosts.comparison(tools, place)
    written = place.folder / "comparison.json"
    # Methods are compiled once more after some time, by other threads: that is warmed up for.
    place.run("PerformanceComparison", *"--bytes 65536 --rounds 1 --windows 2 --duration 0.02 --warm-up 0.1 --json".split(), str(written))
    rows = json.loads(written.read_text())["rows"]
    for row in rows:
        ours = row["way"] in ("copy", "place", "untouched")
        expect(not ours or row["receiver_allocated_bytes"] == 0, f"{row['way']}, {row['bytes']} bytes: {row['receiver_allocated_bytes']} bytes of objects")
    expect({row["way"] for row in rows} == {"pipes", "channels", "copy", "place", "untouched"}, f"{len(rows)} rows of the comparison")
    detail(f"{len(rows)} rows of PerformanceComparison")


if __name__ == "__main__":
    run_command(main)
