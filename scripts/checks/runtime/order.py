"""Programs of nodes in Rust, C++ and Python, started in every order and killed: python3 -m checks.runtime.order [COUNT].

runtime/horus/tests/any_order.rs starts three programs and compares what they wrote down. Here two of the three are in other languages, each in each place.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.languages import programs, ring
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library
from horus_appliance.paths import RUNTIME

RUNS = 8
LONGEST_SECONDS = 300
TEST = ["cargo", "test", "--locked", "--package", "horus", "--test", "any_order", "--", "--nocapture"]


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    system.ensure_command("g++", "g++")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        step("building the program in C++ and in Python")
        prefix = place / "prefix"
        library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        in_cpp = str(programs.build(programs.Program("cpp/order.cpp"), ["g++", "-O2"], prefix, place))
        in_python = " ".join(str(word) for word in ring.in_python(place / "Python")).replace("ring.py", "order.py")
        for source, relay, sink in ((None, in_cpp, in_python), (in_python, None, in_cpp), (in_cpp, in_python, None)):
            step(f"{count} runs in every order")
            roles = {"HORUS_ROLE_SOURCE": source, "HORUS_ROLE_RELAY": relay, "HORUS_ROLE_SINK": sink}
            detail(run({name: command for name, command in roles.items() if command}, count))
    print(f"what nodes in Rust, C++ and Python accept arrives once, in order, or is counted, in 3 x {count} runs")
    return 0


def run(roles: dict, count: int) -> str:
    """Runs the test with these roles; returns its sentence."""
    done = subprocess.run(
        TEST, cwd=RUNTIME, env={**os.environ, **roles, "HORUS_ORDERS": str(count)}, capture_output=True, text=True, errors="replace",
        timeout=LONGEST_SECONDS, check=False,
    )  # fmt: skip
    said = re.search(rf"^{count} runs of three programs.*$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or said is None:
        raise ApplianceFailed(f"{roles}: {done.stdout[-4000:]}{done.stderr[-6000:]}")
    return said[0]


if __name__ == "__main__":
    run_command(main)
