"""Counts that pages state of the code are those of the code."""

import re
import unittest

from horus_appliance.paths import REPOSITORY, RUNTIME

# Sentences that say at how many steps a process is killed.
OF_STEPS = {"README.md": r"kills at (\d+) named steps", "docs/message-path.md": r"`shm/src/failpoint\.rs` names (\d+) such steps"}


def failpoints(source: str) -> list:
    """The names in the list of failpoints, which a test of the runtime holds against the places where they stand."""
    names = re.search(r"pub const NAMES: &\[&str\] = &\[(.*?)\];", source, re.DOTALL)
    return re.findall(r'"([a-z-]+:[a-z-]+)"', names[1])


class Counts(unittest.TestCase):
    def test_pages_say_how_many_steps_there_are_at_which_processes_are_killed(self):
        count = len(failpoints((RUNTIME / "shm/src/failpoint.rs").read_text()))
        found = {page: re.findall(pattern, (REPOSITORY / page).read_text()) for page, pattern in OF_STEPS.items()}
        self.assertEqual(found, {page: [str(count)] for page in OF_STEPS})

    def test_the_list_is_read_to_its_end_and_no_further(self):
        source = 'pub const NAMES: &[&str] = &[\n    "take:copied",\n    "hold:un-held",\n];\nlet other = "no:name";\n'
        self.assertEqual(failpoints(source), ["take:copied", "hold:un-held"])
