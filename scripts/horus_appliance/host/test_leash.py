"""What a user's builds leave behind when they are killed: sudo, which starts them, does not end with its caller."""

import os
import subprocess
import sys
import time
import unittest

from horus_appliance.host import builder

CALLER = """
import os, subprocess, sys
leash = ["sh", "-c", sys.argv[1], "leash", str(os.getpid())]
subprocess.Popen([*leash, "sh", "-c", "echo $$; exec sleep 1000"], start_new_session=True).wait()
"""


class Leash(unittest.TestCase):
    def test_command_ends_with_a_caller_that_is_killed(self):
        with subprocess.Popen([sys.executable, "-c", CALLER, builder.LEASH], stdout=subprocess.PIPE, text=True) as caller:
            command = int(caller.stdout.readline())
            caller.kill()
        for _ in range(100):
            if not os.path.exists(f"/proc/{command}"):
                return
            time.sleep(0.1)
        os.kill(command, 9)
        self.fail("the command goes on without its caller")

    def test_command_has_its_input_and_its_status_is_told(self):
        leashed = ["sh", "-c", builder.LEASH, "leash", str(os.getpid()), "sh", "-c", "cat; exit 5"]
        done = subprocess.run(leashed, input="text", capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("text", 5))
