"""All that can be said of the Yocto layer without the layers below it: python3 -m checks.layer.static.

Prints one line a check. Exit status: 0 all passed, 1 something is wrong, 2 this machine cannot tell, 77 skipped (the programs that
check cannot be installed without the network). What needs the layers, or builds, is scripts/check-layer's.
"""

import subprocess
import sys
import unittest
from pathlib import Path

from checks import discover
from checks.layer import lint, tuning
from horus_appliance.console import ApplianceFailed, run_command
from horus_appliance.paths import SCRIPTS
from horus_appliance.yocto import crates, tools


def reading_problems() -> list:
    """Where the reading of recipes and kas files fails its own tests."""
    result = unittest.TestResult()
    discover.load("bitbake_test_").run(result)
    wrong = [f"{test}: {text}" for test, text in result.failures + result.errors]
    return wrong if result.testsRun else [*wrong, "no test was run"]


def checks() -> dict:
    """What is asked, by its name."""
    from checks.layer import kas_files, parse  # these import BitBake's library and kas

    return {
        "kas files and their lock": kas_files.problems,
        "recipes parse, files and licences are there": parse.problems,
        "the reading of recipes finds mistakes": reading_problems,
        "crates are those of Cargo.lock": crates.problems,
        "oelint-adv": lint.problems,
        "partition layouts": parse.layout_problems,
        "no tuning value outside conf/": tuning.problems,
    }


def main() -> int:
    if Path(sys.prefix) != tools.ENVIRONMENT:  # goes on in there
        program = tools.ensure() / "python"
        return subprocess.run([program, "-m", "checks.layer.static"], cwd=SCRIPTS, check=False).returncode
    found = []
    for name, check in checks().items():
        problems = check()
        print(f"{'FAILED' if problems else 'passed'}  {name}", flush=True)
        found += [f"{name}: {problem}" for problem in problems]
    if found:
        raise ApplianceFailed(f"{len(found)} problems in the Yocto layer:\n  " + "\n  ".join(found))
    return 0


if __name__ == "__main__":
    run_command(main)
