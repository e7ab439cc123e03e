"""A folder of packages in place of NuGet's registry, with the two that a library for .NET Standard 2.0 is compiled against.

They have the names and versions that the SDK and the project ask for, and hold reference assemblies that the SDK brings itself: `netstandard.dll` 2.0 and
`System.Memory.dll`. So MSBuild takes the project file as it is, and the package that it makes asks for the real ones.
"""

import re
import zipfile
from pathlib import Path

SPECIFICATION = """<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata><id>{name}</id><version>{version}</version><authors>stand-in</authors><description>Reference assemblies of the SDK</description>
  <dependencies><group targetFramework=".NETStandard2.0" /></dependencies></metadata>
</package>
"""
# What the real one does: its assemblies are no dependencies at run time.
TARGETS = """<Project>
  <ItemGroup><Reference Include="$(MSBuildThisFileDirectory)ref/netstandard.dll"><Private>false</Private></Reference></ItemGroup>
</Project>
"""
STANDARD, STANDARD_VERSION = "NETStandard.Library", "2.0.3"  # the version that SDK 3.1 asks for
MEMORY = "System.Memory"


def make(folder: Path, project: Path, netstandard: Path, memory: Path) -> Path:
    """Writes the two packages; the version of one stands in the project file."""
    folder.mkdir()
    version = re.search(rf'Include="{re.escape(MEMORY)}" Version="([0-9.]+)"', project.read_text())[1]
    targets = {f"build/netstandard2.0/{STANDARD}.targets": TARGETS.encode(), "build/netstandard2.0/ref/netstandard.dll": netstandard.read_bytes()}
    write(folder, STANDARD, STANDARD_VERSION, {**targets, "lib/netstandard1.0/_._": b""})
    write(folder, MEMORY, version, {f"lib/netstandard2.0/{MEMORY}.dll": memory.read_bytes()})
    return folder


def write(folder: Path, name: str, version: str, files: dict) -> None:
    with zipfile.ZipFile(folder / f"{name}.{version}.nupkg", "w") as package:
        package.writestr(f"{name}.nuspec", SPECIFICATION.format(name=name, version=version))
        for path, data in files.items():
            package.writestr(path, data)
