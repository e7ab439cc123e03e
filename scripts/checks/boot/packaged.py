"""Runs the boot tests on an image made of packages that another builder made: what ./scripts/boot --packages asks for."""

import unittest
from pathlib import Path
from typing import Optional

from checks import discover
from checks.boot import boot_test_x86_64, emulated_test_arm64
from horus_appliance.boot import run as boot
from horus_appliance.host.architecture import ARM64, X86_64, Architecture

CASES = {X86_64: boot_test_x86_64.TunedAppliance, ARM64: emulated_test_arm64.Arm64Appliance}


def run(architecture: Architecture, packages: Path) -> tuple[bool, Optional[boot.Boot]]:
    """Whether the appliance made of `packages` passes every test of the usual one, and its boot, if it came to one."""
    case = type("PackagedAppliance", (CASES[architecture],), {"packages": packages})
    status = discover.run(unittest.defaultTestLoader.loadTestsFromTestCase(case), verbosity=2)
    return status == 0, getattr(case, "done", None)
