"""A project of `horus new --lang csharp`, built with the package Horus.Net, tested and run by its own README.md.

The commands are those of docs/csharp.md and of the project. The SDK here does not know .NET 8, so its MSBuild is told .NET Core 3.1 in its place, and the
programs run on .NET 8. A registry is not asked: `nuget.config` of the project names the folder of the package.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.languages import guides
from checks.languages.csharp_hosts import LONGEST_SECONDS, expect
from horus_appliance.console import detail, step
from horus_appliance.languages import dotnet
from horus_appliance.paths import RUNTIME

NAME = "upright"
# How `horus deploy` ends when nothing was installed.
UNCHANGED = 2


def check(tools: dotnet.Dotnet, folder: Path, package: Path) -> None:
    """Makes a project with `package` where its nuget.config looks for it; tests and runs it."""
    step("a project in C#, with the package")
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "horus-cli", "--bin", "horus"]
    subprocess.run(build, cwd=RUNTIME, check=True)
    sources = folder / "sources"
    packages = sources / "out" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(package, packages)
    (sources / "runtime" / "horus").mkdir(parents=True)
    (sources / "runtime" / "horus" / "Cargo.toml").touch()
    (folder / "programs").mkdir()
    (folder / "programs" / "horus").symlink_to(RUNTIME / "target" / "release" / "horus")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {**tools.run_projects(folder / "dotnet"), **dotnet.ENVIRONMENT, "HORUS_SHM_DIR": topics, "HORUS_SOURCE": str(sources / "runtime" / "horus")}
        environment["PATH"] = f"{folder / 'programs'}:{environment['PATH']}"
        said = guides.run(guides.commands("csharp.md", "horus new --lang csharp"), environment, folder)
        expect("it drives towards where it falls: True; it stops when it is late: True" in said, f"the test of the project says:\n{said}")
        project = folder / NAME
        own = re.findall(r"^```sh\n(.*?)^```", (project / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        expect(own == ["dotnet run --project tests\n", "dotnet run\n"], f"the README.md of the project has the commands {own}")
        described = guides.run("dotnet run -- --describe", environment, project)
        expect('"name": "control"' in described and '"scheduling_policy": "fifo:80"' in described, f"the program describes no node with its settings:\n{described}")
        nodes = project / "src" / "Nodes.cs"
        nodes.write_text(nodes.read_text().replace("gain * ", "gain + missing * "))
        done = run("dotnet run --project tests", project, environment)
        expect(done.returncode != 0 and "Nodes.cs" in done.stdout and "'missing'" in done.stdout, f"a mistake is not told:\n{done.stdout[-2000:]}")
        done = run("horus deploy robot.local", project, environment)
        expect(done.returncode == UNCHANGED and "no image has .NET" in done.stdout, f"`horus deploy` ended with {done.returncode}:\n{done.stdout}")
    detail("made, tested in virtual time, described; a mistake in it is told, and that no image runs it")


def run(command: str, folder: Path, environment: dict) -> subprocess.CompletedProcess:
    """Runs a command that has to fail; gives what it said."""
    return subprocess.run(
        command.split(), cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        timeout=LONGEST_SECONDS, check=False,
    )  # fmt: skip
