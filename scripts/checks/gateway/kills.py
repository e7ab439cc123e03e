"""Kills the gateway and its log a thousand times while they write: python3 -m checks.gateway.kills.

Nothing that was acknowledged may be lost, and nothing torn replayed. cargo's own tests do the same some dozens of times.
"""

import os
import subprocess

from horus_appliance.console import run_command, step
from horus_appliance.paths import RUNTIME

# Most at the log itself, where a kill costs little and meets more places of a write.
KILLS = {"log_killed": 750, "gateway_killed": 250}


def main() -> int:
    for test, count in KILLS.items():
        step(f"{test}: {count} kills")
        command = ["cargo", "test", "--locked", "--package", "horus-gateway", "--test", test]
        subprocess.run(command, cwd=RUNTIME, env={**os.environ, "HORUS_TEST_KILLS": str(count)}, check=True)
    print(f"{sum(KILLS.values())} kills, nothing that was acknowledged is lost, nothing torn was replayed")
    return 0


if __name__ == "__main__":
    run_command(main)
