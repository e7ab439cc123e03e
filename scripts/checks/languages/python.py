"""Builds the Python package as an image does, by cargo alone, and runs its tests: python3 -m checks.languages.python."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from horus_appliance.console import ApplianceFailed, run_command, step
from horus_appliance.host import python
from horus_appliance.paths import BUILD, RUNTIME

BINDING = RUNTIME / "bindings" / "python"
REQUIREMENTS = Path(__file__).with_name("python.txt")
LONGEST_SECONDS = 600


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        interpreter = install(Path(folder))
        step("tests of the Python package")
        command = [str(interpreter), "-m", "unittest", "discover", "-s", str(BINDING / "tests")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST_SECONDS, check=False)
        if done.returncode != 0:
            raise ApplianceFailed(f"'{' '.join(command)}' failed:\n{done.stderr[-6000:]}")
    print(done.stderr.strip().splitlines()[-3])
    return 0


def install(place: Path) -> Path:
    """Builds the package into a folder, where Python finds it from now on; gives an interpreter that has NumPy."""
    interpreter = python.ensure(BUILD / "python", REQUIREMENTS, "--only-binary=:all:") / "python"
    profile = os.environ.get("HORUS_LIBRARY_PROFILE", "release")
    step(f"building the Python module ({profile})")
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--profile", profile, "--package", "horus-python"], cwd=RUNTIME, check=True)
    shutil.copytree(BINDING / "python" / "horus", place / "horus")
    module = RUNTIME / "target" / ("debug" if profile == "dev" else profile) / "lib_horus.so"
    shutil.copy(module, place / "horus" / "_horus.abi3.so")
    os.environ["PYTHONPATH"] = str(place)
    return interpreter


if __name__ == "__main__":
    run_command(main)
