"""Builds Horus.Net and its test programs, and runs them under .NET 8 and under Mono: python3 -m checks.languages.csharp."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import dotnet, library
from horus_appliance.host.dotnet import Dotnet, Framework
from horus_appliance.paths import RUNTIME

BINDING = RUNTIME / "bindings" / "csharp"
LONGEST_SECONDS = 300


@dataclass(frozen=True)
class Host:
    """A framework, and what runs its programs."""

    framework: Framework
    command: list

    def run(self, program: Path, *arguments: str) -> list:
        return [*self.command, str(program), *arguments]


def main() -> int:
    tools = dotnet.ensure()
    dotnet.ensure_mono()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "prefix"
        library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        for host in (Host(tools.net8, tools.run(Path())[:-1]), Host(tools.standard, ["mono"])):
            step(f"C# for {host.framework.name}, run by {Path(host.command[0]).name}")
            place = Path(folder) / host.framework.name
            build(tools, host.framework, place)
            for program, arguments in PROGRAMS:
                run(host, prefix, place / f"{program}.exe", *arguments)
    print("the programs in C# compile without a warning, and run under .NET 8 and under Mono")
    return 0


PROGRAMS = (("Topics", ()),)


def build(tools: Dotnet, framework: Framework, place: Path) -> None:
    """Horus.Net, and the programs beside it."""
    sources = sorted((BINDING / "src").rglob("*.cs"))
    assembly = tools.compile(framework, sources, place / "Horus.Net.dll", "-unsafe", f"-doc:{place / 'Horus.Net.xml'}")
    for program in sorted((BINDING / "tests").glob("*.cs")):
        if program.stem != "Check":
            tools.compile(framework, [program, BINDING / "tests" / "Check.cs"], place / f"{program.stem}.exe", f"-r:{assembly}")


def run(host: Host, prefix: Path, program: Path, *arguments: str) -> str:
    """Runs a program on topics of its own; it has to end well."""
    done = output(host, prefix, program, *arguments)
    if done.returncode != 0:
        raise ApplianceFailed(f"{program.name} {' '.join(arguments)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
    detail(f"{program.stem} {' '.join(arguments)}")
    return done.stdout


def output(host: Host, prefix: Path, program: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Runs a program on topics of its own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {**os.environ, **dotnet.ENVIRONMENT, "HORUS_SHM_DIR": topics, "HORUS_LIBRARY": str(prefix / "lib" / "libhorus.so.1")}
        return subprocess.run(
            host.run(program, *arguments), env=environment, capture_output=True, text=True, errors="replace", timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip


if __name__ == "__main__":
    run_command(main)
