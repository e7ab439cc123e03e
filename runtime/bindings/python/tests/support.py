"""What the tests share: topics of their own, and programs in processes of their own."""

import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent
LONGEST_SECONDS = 60


class TopicsCase(unittest.TestCase):
    """Each test has a directory of topics."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="horus-python-")
        self.addCleanup(folder.cleanup)
        self.directory = folder.name
        before = os.environ.get("HORUS_SHM_DIR")
        os.environ["HORUS_SHM_DIR"] = folder.name
        self.addCleanup(lambda: os.environ.pop("HORUS_SHM_DIR") if before is None else os.environ.update(HORUS_SHM_DIR=before))

    def start(self, program, *arguments):
        """A program in a process of its own, on the test's topics."""
        command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory)
        # A test never waits for longer than this, and leaves no process behind.
        limit = threading.Timer(LONGEST_SECONDS, process.kill)
        limit.start()
        self.addCleanup(lambda: (limit.cancel(), process.kill(), process.communicate()))
        return process

    def run_program(self, program, *arguments):
        """The same, to its end."""
        process = self.start(program, *arguments)
        said, complained = process.communicate()
        return process.returncode, said, complained

    def wait_for_line(self, process, line):
        """Waits until a process prints this."""
        said = process.stdout.readline()
        self.assertEqual(said.strip(), line, msg=process.poll() is not None and process.stderr.read())
