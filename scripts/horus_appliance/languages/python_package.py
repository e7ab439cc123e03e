"""The package for Python, horus-rt: its wheel, and an environment in which it is installed with what tests and benchmarks need."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import python, system
from horus_appliance.languages import zig
from horus_appliance.paths import BUILD, CONF, RUNTIME

# As it is installed. It is imported as horus, which is another package on PyPI.
NAME = "horus-rt"
BINDING = RUNTIME / "bindings" / "python"
REQUIREMENTS = Path(__file__).with_name("python_package.txt")
# The first Python whose stable interface has buffers.
OLDEST = (3, 11)


def ensure(name: str = "python-package") -> Path:
    """An environment below out/build with maturin, NumPy and a type checker; gives the folder of its programs."""
    if sys.version_info < OLDEST:
        raise CannotRun(f"the package needs Python {'.'.join(map(str, OLDEST))}, and this is {sys.version.split()[0]}: run this with a newer one")
    return python.ensure(BUILD / name, REQUIREMENTS)


def wheel(programs: Path, place: Path, target: str | None = None) -> Path:
    """Builds the wheel by maturin into `place`, in place of an older one for this processor; gives its file. Without a target it is for this machine."""
    step(f"building the wheel by maturin{f' for {target}' if target else ''}")
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        command = [programs / "maturin", "build", "--release", "--locked", "--interpreter", programs / "python", "--out", folder]
        if target:
            system.add_rust_target(target)
            command += ["--zig", "--compatibility", f"manylinux_{zig.GLIBC.replace('.', '_')}", "--target", target]
            environment = {"PYTHONPATH": str(zig.site(target))}
        else:
            system.ensure_command("cc", "gcc")
            environment = {"CARGO": str(plain_cargo(Path(folder)))}
        done = subprocess.run(command, cwd=BINDING, capture_output=True, text=True, check=False, env={**os.environ, **environment})
        if done.returncode != 0:
            raise CannotRun(f"maturin could not build the wheel:\n{(done.stdout + done.stderr)[-3000:]}")
        built = next(Path(folder).glob("*.whl"))
        machine = re.search(r"manylinux_\d+_\d+_(\w+)\.whl$", built.name)[1]
        for older in place.glob(f"{NAME.replace('-', '_')}-*_{machine}.whl"):
            older.unlink()
        return Path(shutil.move(built, place / built.name))


# What maturin tells pyo3 is what pyo3 finds itself. As a plain cargo build has other variables and no arguments for rustc (they strip the module),
# each of the two would compile pyo3 and the module again after the other.
PLAIN_CARGO = """#!/bin/sh
unset PYO3_BUILD_EXTENSION_MODULE PYO3_CONFIG_FILE PYO3_ENVIRONMENT_SIGNATURE PYO3_NO_PYTHON PYO3_PYTHON PYTHON_SYS_EXECUTABLE
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    if [ "$argument" = -- ]; then
        shift "$left"
        break
    fi
    set -- "$@" "$argument"
done
exec cargo "$@"
"""


def plain_cargo(place: Path) -> Path:
    """Cargo for maturin, called as for a plain cargo build."""
    script = place / "plain-cargo"
    script.write_text(PLAIN_CARGO)
    script.chmod(0o755)
    return script


def install(programs: Path, built: Path) -> None:
    """Installs a wheel, in place of the one before."""
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--force-reinstall", built]
    subprocess.run(pip, check=True)


def uninstall(programs: Path) -> None:
    """Takes the package out of an environment, if it is there; by its earlier name, too."""
    subprocess.run([programs / "python", "-m", "pip", "uninstall", "--quiet", "--yes", NAME, "horus"], capture_output=True, check=True)


def copy_of_cargo_build(place: Path) -> Path:
    """The package as a plain cargo build makes it, as in Yocto; gives the folder for PYTHONPATH."""
    step("building the extension module by cargo alone")
    subprocess.run(["cargo", "build", "--locked", "--release", "--package", "horus-python"], cwd=RUNTIME, check=True)
    subprocess.run([sys.executable, CONF / "install", "--destdir", place, "--module", RUNTIME / "target" / "release", "--site", "."], check=True)
    return place
