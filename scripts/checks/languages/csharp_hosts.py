"""Where test programs in C# are built, and how they are run: by .NET 8, and by Mono."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.console import ApplianceFailed, detail
from horus_appliance.languages import dotnet
from horus_appliance.languages.dotnet import Dotnet, Framework
from horus_appliance.paths import BENCHMARKS, RUNTIME

BINDING = RUNTIME / "bindings" / "csharp"
COMPARISON = BENCHMARKS / "languages" / "csharp"
LONGEST_SECONDS = 120


@dataclass(frozen=True)
class Host:
    """A framework, and what runs its programs."""

    framework: Framework
    command: list


@dataclass(frozen=True)
class Place:
    """A folder with programs for a host, and the library that they use."""

    host: Host
    folder: Path
    library: Path

    def command(self, program: str, *arguments: str) -> list:
        return [*self.host.command, str(self.folder / f"{program}.exe"), *arguments]

    def run(self, program: str, *arguments: str) -> str:
        """Runs a program that has to end well; gives what it said."""
        done = self.output(program, *arguments)
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise ApplianceFailed(f"{program} {' '.join(arguments)} ended with {done.returncode}:\n{said[-4000:]}")
        detail(" ".join([program, *(Path(argument).name for argument in arguments)]))
        return said

    def output(self, program: str, *arguments: str, environment: dict | None = None) -> subprocess.CompletedProcess:
        """Runs a program on topics of its own."""
        with self.start(program, *arguments, environment=environment) as process:
            try:
                stdout, stderr = process.communicate(timeout=LONGEST_SECONDS)
            finally:
                process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    @contextmanager
    def start(self, program: str, *arguments: str, environment: dict | None = None) -> Iterator[subprocess.Popen]:
        """Starts a program on topics of its own."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
            own = {"HORUS_SHM_DIR": topics, "HORUS_LIBRARY": str(self.library), **dotnet.ENVIRONMENT, **(environment or {})}
            with subprocess.Popen(
                self.command(program, *arguments), env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                errors="replace",
            ) as process:  # fmt: skip
                yield process


def build(tools: Dotnet, place: Place) -> None:
    """Horus.Net, and the test programs beside it."""
    sources = sorted((BINDING / "src").rglob("*.cs"))
    framework, folder = place.host.framework, place.folder
    assembly = tools.compile(framework, sources, folder / "Horus.Net.dll", "-unsafe", f"-doc:{folder / 'Horus.Net.xml'}")
    for program in sorted((BINDING / "tests").glob("*.cs")):
        if program.stem != "Check":
            # One of them has a fixed buffer, which asks for it; those of the guide are compiled without.
            tools.compile(framework, [program, BINDING / "tests" / "Check.cs"], folder / f"{program.stem}.exe", f"-r:{assembly}", "-unsafe")


def comparison(tools: Dotnet, place: Place) -> Path:
    """The benchmark, beside Horus.Net, which is built when it is missing."""
    assembly = place.folder / "Horus.Net.dll"
    if not assembly.exists():
        tools.compile(place.host.framework, sorted((BINDING / "src").rglob("*.cs")), assembly, "-unsafe")
    return tools.compile(place.host.framework, sorted(COMPARISON.glob("*.cs")), place.folder / "PerformanceComparison.exe", f"-r:{assembly}")


def ring(folder: Path, library: Path) -> list:
    """The command of the program that passes messages on in a ring of languages, on .NET 8."""
    tools = dotnet.ensure()
    place = Place(Host(tools.net8, tools.run(Path())[:-1]), folder, library)
    build(tools, place)
    environment = {"HORUS_LIBRARY": str(library), **dotnet.ENVIRONMENT}
    return ["env", *(f"{name}={value}" for name, value in environment.items()), *place.command("Ring")]


def expect(holds: bool, otherwise: str) -> None:
    """Ends the check with a sentence unless something holds."""
    if not holds:
        raise ApplianceFailed(otherwise)
