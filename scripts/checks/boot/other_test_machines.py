"""Boots the same image on machines of other sizes, with disks that are damaged, and after emergencies. Each boot carries several questions."""

import json
from typing import Callable

from checks.boot import boot_test_x86_64, disks, slots
from checks.boot.boot_test_x86_64 import DETERMINISM_SECONDS, started
from checks.boot.provoked import disk as provoked
from checks.boot.provoked import misses
from horus_appliance.boot import guest, run
from horus_appliance.host.architecture import X86_64
from horus_appliance.image import mkosi

import horus_conf

# A newer version than any that is built.
NEWER = "999.0.0"
# What is provoked on this processor alone.
CULPRITS_OF_X86 = {r"ping interrupt irq/\d+-ttyS0": [r"interrupt irq/\d+-ttyS0", "move it to a housekeeping CPU"]}
UNMEASURED = "systemd.mask=horus-determinism.timer"
# A mount without which systemd does not go on.
NO_SUCH_DISK = {"fstab.extra": "/dev/disk/by-partlabel/nothing /mnt ext4 x-systemd.device-timeout=3s 0 0\n"}


class OtherMachines(misses.ToldMisses):
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
        answers = self.boot_on(
            3, disks.make_swap, misses.provocations(), firmware=False, extra_parameters=UNMEASURED, during=misses.stop_for_a_while,
            disks={provoked.DISK: provoked.make_disk(X86_64)},
        )  # fmt: skip
        self.assertEqual((answers["isolated"], answers["pid1"]), ("1-2", "0"))
        self.assert_misses_are_told(CULPRITS_OF_X86)

        self.assertEqual(answers["data-state"], "ram")
        self.assertTrue(answers["data"].startswith("horus-ram"), answers["data"])
        self.assertIn("HORUS: /var:", self.serial)
        self.assertEqual(answers["doctor"], "1", "the audit finds that /var is in memory")

    def assert_watch(self, record: dict):
        """It had the last isolated CPU that is online, at its own priority, and ended its record when it was stopped."""
        (phase,) = record["phases"]
        self.assertEqual((record["schema"], record["valid"], record["invalid_reasons"]), ("horus-watch/1", True, []))
        self.assertEqual((phase["cpu"], phase["policy"]), (1, "FIFO/20"))
        self.assertGreaterEqual(phase["samples"], 20)

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
