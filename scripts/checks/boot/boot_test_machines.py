"""Boots the same image on machines of other sizes, with disks that are damaged, and after emergencies. Each boot carries several questions."""

import json
import re
import time
from typing import Callable

from checks.boot import boot_test_x86_64, disks, slots
from checks.boot.boot_test_x86_64 import DETERMINISM_SECONDS, MISS, started
from checks.boot.provoked import disk as provoked
from horus_appliance.boot import guest, run
from horus_appliance.boot.machine import Machine
from horus_appliance.image import mkosi

import horus_conf

# A newer version than any that is built.
NEWER = "999.0.0"
# For how long the whole machine is stopped, in seconds.
PAUSE = 0.3
# Who broke whose deadline, as fields have it, and what stands in horus blame.
NAMED = {
    r"ping own-code ping": ["own code", "make the step shorter"],
    r"ping task yes/": [r"task yes/\d+", "give it a lower priority than the node"],
    r"pong task yes/": [],
    r"ping interrupt irq/\d+-ttyS0": [r"interrupt irq/\d+-ttyS0", "move it to a housekeeping CPU"],
    r"ping work-item update_pages_handler in kworker/1:": ["work item update_pages_handler", "keep the kernel's deferred work on"],
    r"minor minor-fault": ["page faults of its own, [0-9]+ faults", "allocate and touch memory before the loop"],
    r"major major-fault": ["page faults of its own that waited", "lock the program's memory"],
}
UNMEASURED = "systemd.mask=horus-determinism.timer"
# A mount without which systemd does not go on.
NO_SUCH_DISK = {"fstab.extra": "/dev/disk/by-partlabel/nothing /mnt ext4 x-systemd.device-timeout=3s 0 0\n"}


def stop_for_a_while(machine: Machine) -> None:
    """Takes the CPUs from the machine, a few times: a witness that has just answered may miss one. Gives it the time to say who it was."""
    for _ in range(4):
        machine.pause(PAUSE)
        time.sleep(3)


class OtherMachines(boot_test_x86_64.BootTest):
    """The kernel itself fills in the last CPU; the data partition is what each test makes of it."""

    @classmethod
    def setUpClass(cls):
        cls.image = mkosi.build("appliance")

    def boot_on(self, cpus: int, prepare: Callable, more: dict, **options) -> dict:
        self.done = run.boot(
            self.image, self.id().rpartition(".")[2], cpus, DETERMINISM_SECONDS, guest.merge(started("horus-probe.service"), more),
            collect_after="horus-probe.service", prepare=prepare, **options,
        )  # fmt: skip
        self.serial = (self.done.directory / "serial.log").read_text(errors="replace")
        self.assertEqual(self.done.failed_units, [])
        self.assert_clean_power_off()
        starts = self.of_kind("NODE_START")
        starts = [entry for entry in starts if guest.text(entry, "HORUS_NODE") not in provoked.NODES]
        self.assertEqual({guest.text(entry, "HORUS_NODE") for entry in starts}, {"ping", "pong"})
        self.assertEqual([guest.text(entry) for entry in starts if "REFUSED" in guest.text(entry)], [])
        return self.answers()

    def test_3_cpus_a_provoked_deadline_miss_and_a_data_partition_that_holds_something_else(self):
        stall = '[Service]\nEnvironment="HORUS_PING_STALL=30ms 100"\n'
        provocations = guest.merge({"systemd.unit-dropin.horus-ping.service": stall}, started("provocations.service"))
        answers = self.boot_on(
            3, disks.make_swap, provocations, firmware=False, extra_parameters=UNMEASURED, during=stop_for_a_while,
            disks={provoked.DISK: provoked.make_disk()},
        )  # fmt: skip
        self.assertEqual((answers["isolated"], answers["pid1"]), ("1-2", "0"))
        self.assert_culprits_are_named()
        self.assert_a_storm_is_bounded()
        self.assert_nodes_outlive_the_witness()

        self.assertEqual(answers["data-state"], "ram")
        self.assertTrue(answers["data"].startswith("horus-ram"), answers["data"])
        self.assertIn("HORUS: /var:", self.serial)
        self.assertEqual(answers["doctor"], "1", "the audit finds that /var is in memory")

    def misses_of(self, node: str) -> list:
        return [entry for entry in self.of_kind(MISS) if guest.text(entry, "HORUS_NODE") == node]

    def told_by_blame(self) -> str:
        return "\n".join(guest.text(entry) for entry in self.done.with_field("SYSLOG_IDENTIFIER", "horus-blame"))

    def assert_culprits_are_named(self):
        worst = max(int(guest.text(entry, "HORUS_WORST_RESPONSE_NS")) for entry in self.misses_of("ping"))
        self.assertGreaterEqual(worst, 30_000_000)
        named = "\n".join(sorted({
            " ".join(guest.text(entry, field) for field in ("HORUS_NODE", "HORUS_CULPRIT_KIND", "HORUS_CULPRIT")) for entry in self.of_kind(MISS)
        }))  # fmt: skip
        texts = "\n".join(guest.text(entry) for entry in self.of_kind(MISS))
        blamed = self.told_by_blame()
        for culprit, words in NAMED.items():
            with self.subTest(culprit):
                self.assertRegex(named, f"(?m)^{culprit}")
                for word in words:
                    self.assertRegex(blamed, word)
        self.assertRegex(texts, "task yes/.* and task od/|task od/.* and task yes/", "two at once")
        self.assertRegex(blamed, r"own tracing: blk")
        # Nobody of the machine, when all of it stood still.
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
        self.assertIn("no witness runs", {guest.text(entry, "HORUS_CULPRIT_MISSING") for entry in after})
        self.assertIn("yes", {guest.text(entry, "HORUS_CULPRIT").partition("/")[0] for entry in after}, "it came back, and names again")

    def assert_watch(self, record: dict):
        """It had the last isolated CPU that is online, at its own priority, and ended its record when it was stopped."""
        (phase,) = record["phases"]
        self.assertEqual((record["schema"], record["valid"], record["invalid_reasons"]), ("horus-watch/1", True, []))
        self.assertEqual((phase["cpu"], phase["policy"]), (1, "FIFO/20"))
        self.assertGreaterEqual(phase["samples"], 20)
        self.assertEqual(sum(count for _, count in phase["histogram"]), phase["samples"])

    def test_second_slot_cpus_that_are_switched_off_a_damaged_superblock_and_a_fourth_emergency(self):
        """As on a machine whose hyper-threads nosmt switches off: the kernel counts them as isolated all the same."""

        def damage(disk):
            slots.fill_second(disk, self.image, NEWER, f"{UNMEASURED} maxcpus=2")
            disks.write_into_data(disk, "lib/horus/emergencies", "3\n")
            disks.damage_superblock(disk)

        drift = (boot_test_x86_64.GUEST / "drift.service").read_text()
        for name in ("DRIFT", "DRIFT_OVER"):
            drift = drift.replace(f"@{name}@", boot_test_x86_64.message_id(name))
        watch = {"systemd.unit-dropin.horus-watch.service": "[Unit]\nConditionVirtualization=\n"}
        units = guest.merge(started("drift.service", drift), guest.merge(started("watch.service"), watch))
        answers = self.boot_on(4, damage, guest.merge(NO_SUCH_DISK, units))
        # Its kernel image is the newest, so the loader starts it, and the system comes from the slot that it names.
        self.assertEqual(answers["disks"].split()[0], "/dev/vda3")
        self.assertEqual(answers["slot"], horus_conf.system_label(NEWER))
        # Those of the image, but for the second slot's: systemd-repart, which runs at each boot, took none of them back.
        self.assertEqual(answers["partitions"].split(), ["horus-esp", self.image.system_label, horus_conf.system_label(NEWER), "horus-data"])
        self.assertEqual((answers["isolated"], answers["pid1"], answers["doctor"]), ("1-3", "0", "0"))

        self.assertIn("from a copy of its superblock", self.serial)
        self.assertTrue(answers["data"].startswith("/dev/vda4"), answers["data"])

        # Interrupts that were moved: one entry when it was found, one when it was well again, and the state before in both.
        (away,), (back,) = ([entry for entry in self.of_kind(name) if guest.text(entry, "HORUS_RULE_ID") == "C4-effective"] for name in ("DRIFT", "DRIFT_OVER"))
        self.assertIn("on CPU 1", guest.text(away, "HORUS_OBSERVED"))
        self.assertTrue(guest.text(away, "HORUS_BEFORE").startswith("none"), guest.text(away))
        self.assertIn("on CPU 1", guest.text(back, "HORUS_BEFORE"))
        self.assertGreater(guest.text(back, "HORUS_SINCE"), guest.text(away, "HORUS_SINCE"))

        self.assert_watch(json.loads(answers["watch"]))

        for said in ("Press Enter within 15 s for a shell", "The machine stays up with what it has"):
            self.assertRegex(self.serial, rf"HORUS: emergency mode: .*mnt\.mount.* {said}")
