"""Finds and runs the tests of scripts/ whose files begin with PREFIX: python3 -m checks.discover PREFIX [-v].

A file's first word says where its tests can run, and a new file runs by itself:

    test_*.py            anywhere
    device_test_*.py     as root, with loop devices
    bitbake_test_*.py    in the environment of yocto/tools, which has BitBake's library
    image_test_*.py      builds images for this machine's processor
    virtual_test_*.py    boots one in virtual time, which a busy machine does not change
    boot_test_*.py       boots an image for this machine's processor
    other_test_*.py      the same, beside those: two machines boot at a time, and each group takes as long
    beside_test_*.py     the same, for tests that bear what runs beside them
    update_test_*.py     the same, for updates
    cuts_test_*.py       the same, with the power cut at any moment of it
    long_test_*.py       the same, for what only --long runs
    emulated_test_*.py   boots one for another

Exit status: 0 all passed, 1 one failed or none was found, 77 all were skipped.
"""

import sys
import unittest

from horus_appliance.console import SKIP_STATUS
from horus_appliance.paths import SCRIPTS

PREFIXES = ("test_", "device_test_", "bitbake_test_", "image_test_", "virtual_test_", "boot_test_", "other_test_", "beside_test_", "update_test_", "cuts_test_", "long_test_", "emulated_test_")


def load(prefix: str) -> unittest.TestSuite:
    """The tests of every file whose name begins with `prefix`."""
    return unittest.TestLoader().discover(str(SCRIPTS), pattern=f"{prefix}*.py", top_level_dir=str(SCRIPTS))


def run(tests: unittest.TestSuite, verbosity: int = 1) -> int:
    """Runs tests; gives the exit status."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=verbosity).run(tests)
    reasons = dict.fromkeys(reason for _, reason in result.skipped)
    if not result.wasSuccessful() or not (result.testsRun or reasons):
        return 1
    if result.testsRun > len(result.skipped):
        return 0
    print(f"SKIPPED: {'; '.join(reasons)}")
    return SKIP_STATUS


if __name__ == "__main__":
    if sys.argv[1:2] not in ([prefix] for prefix in PREFIXES):
        sys.exit(f"usage: python3 -m checks.discover {'|'.join(PREFIXES)} [-v]")
    sys.exit(run(load(sys.argv[1]), 2 if "-v" in sys.argv else 1))
