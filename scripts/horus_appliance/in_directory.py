"""A directory of each test's own, gone after it."""

import tempfile
import unittest
from pathlib import Path


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
