"""Builds the images that the boot tests boot, while other checks run; one of them after a build that was killed."""

import signal
import subprocess
import sys
import time
import unittest

from horus_appliance.host import system
from horus_appliance.image import mkosi
from horus_appliance.paths import BUILD, REPOSITORY


class Images(unittest.TestCase):
    def test_killed_build_leaves_no_process_and_the_next_one_is_whole(self):
        mkosi.build("appliance")
        partial = start_and_kill_a_build("untuned")
        left = subprocess.run(["pgrep", "--full", "--list-full", str(partial)], capture_output=True, text=True, check=False)
        self.assertEqual(left.stdout, "", "the killed build goes on")
        self.assertTrue(mkosi.build("untuned").disk.is_file())


def start_and_kill_a_build(variant: str):
    """Starts a build in a process of its own and kills it while mkosi works; returns the directory that it worked in."""
    partial = BUILD / "image" / f"{variant}.partial"
    system.remove_tree(partial)
    (BUILD / "image" / variant / "inputs.sha256").unlink(missing_ok=True)  # so that there is something to build
    process = subprocess.Popen(
        [sys.executable, REPOSITORY / "scripts/image", "debian", "--variant", variant],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 900
    while not partial.is_dir() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(5)
    process.kill()
    if process.wait() != -signal.SIGKILL:
        raise AssertionError(f"the build that was to be killed had ended before, with status {process.returncode}")
    time.sleep(1)
    return partial
