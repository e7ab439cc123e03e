"""A run of all checks begins where the disk has room for what it builds, and ends with one sentence where it has not."""

import os
from unittest import mock

from checks import space
from horus_appliance.in_directory import InDirectory

GIB = 1024**3
NEED = space.HELD_BYTES + space.BESIDE_BYTES


class Space(InDirectory):
    def require(self, held: float, free: float) -> None:
        with mock.patch.object(space, "held", return_value=held), mock.patch.object(space.shutil, "disk_usage", return_value=mock.Mock(free=free)):
            space.require()

    def test_disk_that_is_too_full_is_refused_with_what_to_do_next(self):
        message = self.error_of(lambda: self.require(2 * GIB, NEED - 5 * GIB))
        for words in (f"needs {space.gib(NEED)} of disk", "hold 2.0 GiB", "3.0 GiB are missing", "Free some space", "./scripts/test --changed"):
            self.assertIn(words, message)

    def test_what_earlier_runs_left_is_not_asked_for_again(self):
        self.require(0, NEED)
        self.require(NEED - GIB, GIB)
        self.require(NEED + GIB, 0)

    def test_file_of_two_names_counts_once_and_an_absent_folder_nothing(self):
        file = self.write("deps/program", "x" * 1_000_000)
        (self.root / "release").mkdir()
        os.link(file, self.root / "release" / "program")
        self.assertLess(space.held((self.root / "deps", self.root / "release", self.root / "absent")), 1_500_000)
        self.assertGreaterEqual(space.held((self.root / "deps", self.root / "release")), 1_000_000)
        self.assertEqual(space.held((self.root / "absent",)), 0)
