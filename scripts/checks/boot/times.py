"""Prints when the last boots of the boot tests had their data and their first node: python3 -m checks.boot.times.

One line a boot, tab-separated: machine, state of /var, seconds from the kernel's start to the begin and end of horus-data.service and to the
first entry of ping. Emulated seconds of a shared machine: compare lines of one run with each other, and with nothing else.
"""

import json

from horus_appliance.boot import guest
from horus_appliance.paths import BUILD


def moment(entries: list, text: str) -> str:
    """When the first entry appeared whose message begins so, in seconds."""
    times = [int(entry["__MONOTONIC_TIMESTAMP"]) / 1e6 for entry in entries if guest.text(entry).startswith(text)]
    return f"{times[0]:.1f}" if times else "-"


def main() -> None:
    print("machine\tstate\tdata begins\tdata ready\tping starts")
    for journal in sorted((BUILD / "machines").glob("*/horus.journal")):
        entries = [json.loads(line) for line in journal.read_text().splitlines()]
        last = [entry for entry in entries if entry["_BOOT_ID"] == entries[-1]["_BOOT_ID"]]
        states = [guest.text(entry).partition(": ")[2] for entry in last if guest.text(entry).startswith("data-state: ")]
        begins, ready, ping = (moment(last, text) for text in ("Starting horus-data.service", "Finished horus-data.service", "node ping starts"))
        print(f"{journal.parent.name}\t{(states or ['-'])[0]}\t{begins}\t{ready}\t{ping}")


if __name__ == "__main__":
    main()
