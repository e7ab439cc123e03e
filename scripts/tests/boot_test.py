"""Runs the boot test on images that are not the usual one: python3 -m tests.boot_test runs all that there is for 64-bit ARM."""

import unittest
from pathlib import Path
from typing import Optional

from horus_appliance import boot, console, image
from horus_appliance.architecture import ARM64, X86_64, Architecture, CannotCross
from horus_appliance.checks import SKIP_STATUS
from tests import test_boot, test_boot_arm64

CASES = {X86_64: test_boot.TunedAppliance, ARM64: test_boot_arm64.Arm64Appliance}


def run(architecture: Architecture, packages: Path) -> tuple[bool, Optional[boot.Boot]]:
    """Whether the appliance made of `packages` passes every test of the usual one, and its boot, if it came to one."""
    case = type("PackagedAppliance", (CASES[architecture],), {"packages": packages})
    return passes(unittest.defaultTestLoader.loadTestsFromTestCase(case)), getattr(case, "done", None)


def passes(tests: unittest.TestSuite) -> bool:
    """Runs tests; whether there were any and all passed."""
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    return result.wasSuccessful() and result.testsRun > len(result.skipped)


def main() -> int:
    """Status 77 where this machine cannot build for another processor at all."""
    try:
        image.build(architecture=ARM64)
    except CannotCross as reason:
        print(f"SKIPPED: {reason}")
        return SKIP_STATUS
    return 0 if passes(unittest.defaultTestLoader.loadTestsFromModule(test_boot_arm64)) else 1


if __name__ == "__main__":
    console.run_command(main)
