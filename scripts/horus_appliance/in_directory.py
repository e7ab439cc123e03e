"""A directory of each test's own, gone after it."""

import tempfile
import unittest
from pathlib import Path

from horus_appliance.console import CannotRun


class InDirectory(unittest.TestCase):
    """A test that writes files below `root`."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def error_of(self, call, kind=CannotRun) -> str:
        """What a call says that has to fail."""
        with self.assertRaises(kind) as caught:
            call()
        return str(caught.exception)
