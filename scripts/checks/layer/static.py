"""All that can be said of the Yocto layer without the layers below it: python3 -m checks.layer.static.

Prints one line a check. Exit status: 0 all passed, 1 something is wrong, 2 this machine cannot tell, 77 skipped (the programs that
check cannot be installed without the network). What needs the layers, or builds, is scripts/check-layer's.
"""

import json
import re
import subprocess
import sys

from checks import SKIP_STATUS
from checks.layer import lint, tuning, wic
from horus_appliance.console import ApplianceFailed, detail, run_command
from horus_appliance.paths import SCRIPTS
from horus_appliance.yocto import crates, tools
from horus_appliance.yocto.tools import LAYER, Unreachable


def inside(module: str) -> list:
    """The problems that one of our modules finds inside the environment of yocto/tools; its remarks are shown."""
    command = [tools.ensure() / "python", "-m", f"checks.layer.{module}"]
    done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("# "):
            detail(line[2:])
    found = [line for line in done.stdout.splitlines() if not line.startswith("# ")]
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        found.append(f"{module} ended with status {done.returncode}: {done.stderr.strip()[-1500:]}")
    return found


def reading_problems() -> list:
    """Where the reading of recipes and kas files fails its own tests."""
    command = [tools.ensure() / "python", "-m", "checks.discover", "bitbake_test_"]
    done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [(done.stdout + done.stderr).strip()]


def wic_problems() -> list:
    """Every partition layout of the layer, with the variables that an image of ours has, with any option."""
    layouts = sorted((LAYER / "files" / "wic").glob("*.wks*"))
    if not layouts:
        return ["meta-horus/files/wic holds no layout"]
    names = {name for path in layouts for name in re.findall(r"\$\{(\w+)\}", path.read_text())}
    command = [tools.ensure() / "python", "-m", "checks.layer.bb_reader", *sorted(names)]
    done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"bb_reader could not tell the layouts' variables: {done.stderr.strip()[-500:]}"]
    return [problem for path in layouts for problem in wic.problems_of(path, json.loads(done.stdout))]


def crate_problems() -> list:
    """Lists of crates that are not what their lock files say."""
    found = []
    for lock, target in crates.LISTS.items():
        try:
            crates.check(lock, target)
        except ApplianceFailed as failure:
            found.append(str(failure))
    return found


CHECKS = {
    "kas files and their lock": lambda: inside("kas_files"),
    "recipes parse, files and licences are there": lambda: inside("parse"),
    "the reading of recipes finds mistakes": reading_problems,
    "crates are those of Cargo.lock": crate_problems,
    "oelint-adv": lint.problems,
    "partition layouts": wic_problems,
    "no tuning value outside conf/": tuning.problems,
}


def main() -> int:
    try:
        tools.ensure()
    except Unreachable as reason:
        print(f"SKIPPED until PyPI can be reached: {reason}")
        return SKIP_STATUS
    found = []
    for name, check in CHECKS.items():
        problems = check()
        print(f"{'FAILED' if problems else 'passed'}  {name}", flush=True)
        found += [f"{name}: {problem}" for problem in problems]
    if found:
        raise ApplianceFailed(f"{len(found)} problems in the Yocto layer:\n  " + "\n  ".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
