"""What a boot costs until a node runs: the instructions that the machine's CPU worked in virtual time, without what it waited for a disk."""

import re

from horus_appliance.boot import guest

# When ping says that it is about to tick: the time since the kernel's start, and what the only CPU has done in it.
COUNTING = {
    "systemd.unit-dropin.horus-ping.service": "[Service]\nExecStartPost=+-/bin/sh -c 'read -r up idle < /proc/uptime; echo \"boot cost: $$up $$(grep ^cpu0 /proc/stat)\"'\n"
}
TICKS_A_SECOND = 100  # the unit of /proc/stat (proc(5), USER_HZ)


def instructions(entries: list) -> int | None:
    """Instructions that were worked until then. A host that is slow to read its disk makes the machine wait, and the figure no larger."""
    for entry in entries:
        if match := re.match(r"boot cost: ([\d.]+) cpu0 \d+ \d+ \d+ (\d+) (\d+)", guest.text(entry)):
            idle, waiting = int(match[2]), int(match[3])
            return round((float(match[1]) - (idle + waiting) / TICKS_A_SECOND) * 1e9)
    return None
