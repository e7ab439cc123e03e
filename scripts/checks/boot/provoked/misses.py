"""What journal and `horus blame` say about misses that the script `provoke` made."""

import re
import time

from checks.boot.boot_test_x86_64 import MISS, BootTest, started
from horus_appliance.boot import guest
from horus_appliance.boot.machine import Machine

# For how long the whole machine is stopped, in seconds.
PAUSE = 0.3
# Who broke whose deadline, as fields have it, and what stands in horus blame.
NAMED = {
    r"ping own-code ping": ["own code", "make the step shorter"],
    r"ping task yes/": [r"task yes/\d+", "give it a lower priority than the node"],
    r"pong task yes/": [],
    r"ping work-item update_pages_handler in kworker/1:": ["work item update_pages_handler", "keep the kernel's deferred work on"],
    r"minor minor-fault": ["page faults of its own, [0-9]+ faults", "allocate and touch memory before the loop"],
    r"major major-fault": ["page faults of its own that waited", "lock the program's memory"],
}


def provocations() -> dict:
    """Credentials that start them, and have ping's own code stall once a second."""
    stall = '[Service]\nEnvironment="HORUS_PING_STALL=30ms 100"\n'
    return guest.merge({"systemd.unit-dropin.horus-ping.service": stall}, started("provocations.service"))


def stop_for_a_while(machine: Machine) -> None:
    """Takes the CPUs from the machine, a few times: a witness that has just answered may miss one. Gives it the time to say who it was."""
    for _ in range(4):
        machine.pause(PAUSE)
        time.sleep(3)


class ToldMisses(BootTest):
    """Assertions about a boot in which the provocations ran."""

    def misses_of(self, node: str) -> list:
        return [entry for entry in self.of_kind(MISS) if guest.text(entry, "HORUS_NODE") == node]

    def told_by_blame(self) -> str:
        return "\n".join(guest.text(entry) for entry in self.done.with_field("SYSLOG_IDENTIFIER", "horus-blame"))

    def assert_misses_are_told(self, more: dict):
        """All of it; `more` adds to NAMED."""
        self.assert_culprits_are_named({**NAMED, **more})
        self.assert_a_storm_is_bounded()
        self.assert_nodes_outlive_the_witness()

    def assert_culprits_are_named(self, expected: dict):
        worst = max(int(guest.text(entry, "HORUS_WORST_RESPONSE_NS")) for entry in self.misses_of("ping"))
        self.assertGreaterEqual(worst, 30_000_000)
        named = "\n".join(sorted({
            " ".join(guest.text(entry, field) for field in ("HORUS_NODE", "HORUS_CULPRIT_KIND", "HORUS_CULPRIT")) for entry in self.of_kind(MISS)
        }))  # fmt: skip
        texts = "\n".join(guest.text(entry) for entry in self.of_kind(MISS))
        blamed = self.told_by_blame()
        for culprit, words in expected.items():
            with self.subTest(culprit):
                self.assertRegex(named, f"(?m)^{culprit}")
                for word in words:
                    self.assertTrue(re.search(word, blamed), f"horus blame does not say {word}")
        self.assertTrue(re.search("task yes/.* and task od/|task od/.* and task yes/", texts), "two at once")
        self.assertRegex(blamed, r"own tracing: blk")
        # No program of the machine, when all of it stood still.
        longest = max((int(guest.text(entry, "HORUS_CULPRIT_NS")) for entry in self.of_kind(MISS) if guest.text(entry, "HORUS_CULPRIT_KIND") == "nobody"), default=0)
        self.assertGreaterEqual(longest, PAUSE * 1e9 / 2)
        # What the flight recorder kept of ping.
        for words in ("^CYCLE +RELEASE +STARTED AFTER +ENDED AFTER", " late$", "^pong .*, which it reads", "^ping .*, which it writes", "^sequence: [0-9]+"):
            self.assertRegex(blamed, f"(?m){words}")

    def assert_a_storm_is_bounded(self):
        storm = self.misses_of("storm")
        self.assertEqual(sum(int(guest.text(entry, "HORUS_MISSES")) for entry in storm), 40_000, "each release was missed, and is counted")
        times = [int(entry["__MONOTONIC_TIMESTAMP"]) / 1e6 for entry in storm]
        self.assertLessEqual(len(times), times[-1] - times[0] + 2, "one a second, and the last one when the program ends")
        kept, megabytes = map(int, re.search(r"storm: (\d+) traces kept, (\d+) MB in all", self.told_by_blame()).groups())
        self.assertLessEqual(kept, 2 * (times[-1] - times[0] + 2))
        self.assertLessEqual(megabytes, 66)

    def assert_nodes_outlive_the_witness(self):
        self.assertIn("nodes: 00", self.told_by_blame())
        exits = [entry for entry in self.done.with_field("UNIT", "horus-witness.service") if "status=9/KILL" in guest.text(entry)]
        killed = min(int(entry["__MONOTONIC_TIMESTAMP"]) for entry in exits)
        after = [entry for entry in self.misses_of("ping") + self.misses_of("pong") if int(entry["__MONOTONIC_TIMESTAMP"]) > killed]
        missing = {guest.text(entry, "HORUS_CULPRIT_MISSING") for entry in after}
        self.assertTrue(missing & {"the witness ended", "no witness runs"}, missing)
        self.assertIn("yes", {guest.text(entry, "HORUS_CULPRIT").partition("/")[0] for entry in after}, "it came back, and names again")
        # The tracer was read-only for a while, and then it was not there.
        said = "\n".join(guest.text(entry) for entry in self.of_kind("WITNESS_MISSING"))
        self.assertRegex(said, "CPU 1 is not traced: .* mount -o remount,rw /sys/kernel/tracing allows it")
        self.assertRegex(said, "nothing is traced: the kernel's tracer at /sys/kernel/tracing cannot be used: .*; mount tracefs there")
        self.assertIn("the witness traces nothing here", missing)
