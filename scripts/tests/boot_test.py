"""Runs the boot test on an image that is not the usual one."""

import unittest
from pathlib import Path
from typing import Optional

from horus_appliance import boot
from horus_appliance.architecture import ARM64, X86_64, Architecture
from tests import test_boot, test_boot_arm64

CASES = {X86_64: test_boot.TunedAppliance, ARM64: test_boot_arm64.Arm64Appliance}


def run(architecture: Architecture, packages: Path) -> tuple[bool, Optional[boot.Boot]]:
    """Whether the appliance made of `packages` passes every test of the usual one, and its boot, if it came to one."""
    case = type("PackagedAppliance", (CASES[architecture],), {"packages": packages})
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    return result.wasSuccessful() and result.testsRun > 0, getattr(case, "done", None)
