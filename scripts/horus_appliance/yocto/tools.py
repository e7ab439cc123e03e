"""The programs that check the Yocto layer: a Python environment of their own below out/build, at pinned versions."""

import importlib.util
from pathlib import Path
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

from horus_appliance.console import CannotRun, detail
from horus_appliance.host import system
from horus_appliance.host.builder import remove_tree
from horus_appliance.paths import BUILD, REPOSITORY

REQUIREMENTS = Path(__file__).with_name("tools.txt")
ENVIRONMENT = BUILD / "layer-tools"
STAMP = ENVIRONMENT / "requirements.txt"
LAYER = REPOSITORY / "meta-horus"


class Unreachable(Exception):
    """The package registry does not answer, so what is missing cannot be installed: a check is skipped, not failed."""


def ensure() -> Path:
    """Makes the environment when it is missing or of other versions; returns the directory of its programs."""
    programs = ENVIRONMENT / "bin"
    wanted = REQUIREMENTS.read_text()
    if STAMP.is_file() and STAMP.read_text() == wanted and (programs / "python").exists():
        return programs
    if not importlib.util.find_spec("ensurepip"):
        system.install(["python3-venv"])
    detail("installing kas, oelint-adv and BitBake's library from PyPI (about 20 seconds, once a clone)")
    partial = ENVIRONMENT.with_suffix(".partial")
    remove_tree(partial)
    remove_tree(ENVIRONMENT)
    BUILD.mkdir(parents=True, exist_ok=True)
    # Made at its final place, because programs in there name their interpreter by its path; complete with its stamp.
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    command = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", REQUIREMENTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip()[-1500:]
        if "NewConnectionError" in said or "Temporary failure" in said or "No matching distribution" in said and not registry_answers():
            raise Unreachable(f"PyPI does not answer: {said[-300:]}")
        raise CannotRun(f"pip could not install {REQUIREMENTS.relative_to(REPOSITORY)}:\n{said}")
    add_missing_modules(programs)
    shutil.copyfile(REQUIREMENTS, STAMP)
    return programs


def registry_answers() -> bool:
    """Whether PyPI can be reached."""
    try:
        with urllib.request.urlopen("https://pypi.org/simple/kas/", timeout=20):
            return True
    except (urllib.error.URLError, OSError):
        return False


def add_missing_modules(programs: Path) -> None:
    """bb imports the client of BitBake's hash server, which the package leaves out; reading recipes calls none of it."""
    asked = [programs / "python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    library = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    (library / "hashserv").mkdir(exist_ok=True)
    (library / "hashserv" / "__init__.py").write_text('"""Stands in for BitBake\'s hash server, which nothing here talks to."""\n')
    (library / "hashserv" / "client.py").write_text("class ClientPool:\n    pass\n")
