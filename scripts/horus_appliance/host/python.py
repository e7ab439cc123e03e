"""Programs from PyPI at pinned versions, in a Python environment of their own below out/build."""

import fcntl
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from horus_appliance.console import CannotRun, Skipped, detail
from horus_appliance.host import system


def ensure(environment: Path, requirements: Path, *options: str) -> Path:
    """Makes an environment when it is missing or of other versions; returns the directory of its programs. `options` are pip's."""
    environment.parent.mkdir(parents=True, exist_ok=True)
    with environment.with_name(f"{environment.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side, and two of them may want the same environment
        return ensured(environment, requirements, *options)


def ensured(environment: Path, requirements: Path, *options: str) -> Path:
    """As `ensure`, for who alone makes this environment now."""
    programs, stamp = environment / "bin", environment / "requirements.txt"
    if stamp.is_file() and stamp.read_text() == requirements.read_text() and (programs / "python").exists():
        return programs
    if not importlib.util.find_spec("ensurepip"):
        system.install(["python3-venv"])
    detail(f"installing {environment.name} from PyPI (about 20 seconds, once a clone)")
    system.remove_tree(environment)
    # Made at its final place, because programs in there name their interpreter by its path; complete with its stamp.
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *options, "-r", requirements]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "from versions: none" in done.stderr:
            raise Skipped(f"PyPI does not answer, or has nothing for this machine: {done.stderr.strip()[-300:]}")
        raise CannotRun(f"pip could not install {requirements.name}:\n{done.stderr.strip()[-1500:]}\nCheck the network, then run this again.")
    shutil.copyfile(requirements, stamp)
    return programs
