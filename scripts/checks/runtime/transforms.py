"""Transforms beside scipy's rotations: python3 -m checks.runtime.transforms [COUNT].

`runtime/horus/examples/transform_chains.rs` sends random trees of frames and looks random paths up. This computes the same paths by scipy.
"""

import subprocess
import sys
from pathlib import Path

from horus_appliance.console import ApplianceFailed, run_command
from horus_appliance.host import python
from horus_appliance.paths import BUILD, RUNTIME

REQUIREMENTS = Path(__file__).with_name("transforms.txt")
COUNT = 100_000
WITHIN = 1e-9
BUILD_EXAMPLE = ["cargo", "build", "--locked", "--package", "horus", "--example", "transform_chains"]
EXAMPLE = RUNTIME / "target/debug/examples/transform_chains"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    interpreter = python.ensure(BUILD / "transforms", REQUIREMENTS, "--only-binary=:all:") / "python"
    subprocess.run(BUILD_EXAMPLE, cwd=RUNTIME, check=True)
    beside = [interpreter, Path(__file__).with_name("transforms_by_scipy.py"), str(WITHIN)]
    with subprocess.Popen([EXAMPLE, str(count)], stdout=subprocess.PIPE) as chains:
        compared = subprocess.run(beside, stdin=chains.stdout, capture_output=True, text=True, check=False)
        chains.stdout.close()
    if chains.returncode != 0 or compared.returncode != 0:
        raise ApplianceFailed(f"transforms are not those of scipy:\n{compared.stdout}{compared.stderr}")
    told = compared.stdout.split()
    if told[0] != str(count):
        raise ApplianceFailed(f"{told[0]} chains were compared in place of {count}")
    print(f"{count} chains of up to ten frames differ from scipy's by at most {told[1]} m and {told[2]} rad")
    return 0


if __name__ == "__main__":
    run_command(main)
