"""PyTorch takes messages as tensors over their own bytes: python3 -m checks.languages.python_torch.

It is Debian's, for CPUs, with the image's Python: what PyPI has is ten times larger, for graphics cards.
"""

import platform
import tempfile
from pathlib import Path

from checks.languages import python_tree
from checks.languages.python_wheels import run
from horus_appliance.console import detail, run_command, step
from horus_appliance.languages import python_package
from horus_appliance.host.architecture import ARCHITECTURES

SAYS = "import torch; print(torch.__version__)"


def main() -> int:
    architecture = next(one for one in ARCHITECTURES.values() if one.machine == platform.machine())
    tree = python_tree.ensure(architecture, "python3-numpy", "python3-msgpack", "python3-torch", name="torch")
    with tempfile.TemporaryDirectory() as folder:
        site = python_package.copy_of_cargo_build(Path(folder) / "site")
        tests = python_package.BINDING / "tests"
        step("the tests with PyTorch")
        detail(run(tree, ["-c", SAYS], [site], site))
        run(tree, ["-m", "unittest", "-v", "test_torch"], [site, tests], f"{site}:{tests}")
    print("PyTorch takes messages without a copy, and keeps them as long as its tensors")
    return 0


if __name__ == "__main__":
    run_command(main)
