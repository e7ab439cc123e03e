"""A check that tests some crates of the runtime takes up what was built for all: where cargo chooses other features for them, it builds again."""

import subprocess
import unittest

from checks import catalogue
from horus_appliance.paths import RUNTIME


def tree(*chosen: str) -> set:
    """Every package that a choice of crates and its tests are built with, and the features that it has there."""
    command = ["cargo", "tree", "--locked", *chosen, "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p} {f}"]
    said = subprocess.run(command, cwd=RUNTIME, capture_output=True, text=True, check=True).stdout
    return {line.removesuffix(" (*)") for line in said.splitlines()}


class Features(unittest.TestCase):
    def test_crates_that_are_tested_by_themselves_are_built_as_all_are(self):
        of_all, chosen = tree("--workspace"), {}
        for check in catalogue.CHECKS:
            if check.directory == RUNTIME and catalogue.DEBUG in check.holds and "--package" in check.command:
                words = check.command
                packages = [word for before, word in zip(words, words[1:]) if before == "--package"]
                chosen[check.name] = tree(*(f"--package={package}" for package in packages)) - of_all
        self.assertIn("the command's tests", chosen)
        self.assertEqual({name: others for name, others in chosen.items() if others}, {})
