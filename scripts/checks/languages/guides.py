"""The commands that the guides print, and how they are run."""

import os
import re
import subprocess
from pathlib import Path

from horus_appliance.console import ApplianceFailed
from horus_appliance.paths import REPOSITORY

LONGEST_SECONDS = 1200


def commands(guide: str, words: str) -> str:
    """The one block of commands in a guide below docs/ that has these words in it."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / "docs" / guide).read_text(), re.MULTILINE | re.DOTALL)
    found = [block for block in blocks if words in block]
    if len(found) != 1:
        raise ApplianceFailed(f"docs/{guide} has {len(found)} blocks of commands with '{words}', and not one")
    return found[0]


def run(block: str, environment: dict, folder: Path = REPOSITORY) -> str:
    """Runs commands as a person types them into a shell, in the repository if not said otherwise; each has to end well. Gives what they said."""
    done = subprocess.run(
        ["bash", "-euxc", block], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, errors="replace", timeout=LONGEST_SECONDS,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise ApplianceFailed(f"commands of a guide ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done.stdout
