"""Boots the same image on machines of other sizes, with disks that are damaged, and after emergencies. Each boot carries several questions."""

import time
from typing import Callable

from checks.boot import boot_test_x86_64, disks, slots
from checks.boot.boot_test_x86_64 import DETERMINISM_SECONDS, MISS, started
from horus_appliance.boot import guest, run
from horus_appliance.boot.machine import Machine
from horus_appliance.image import mkosi

import horus_conf

# A newer version than any that is built.
NEWER = "999.0.0"
# For how long the whole machine is stopped, in seconds.
PAUSE = 0.3
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
        self.assertEqual({guest.text(entry, "HORUS_NODE") for entry in starts}, {"ping", "pong"})
        self.assertEqual([guest.text(entry) for entry in starts if "REFUSED" in guest.text(entry)], [])
        return self.answers()

    def test_3_cpus_a_provoked_deadline_miss_and_a_data_partition_that_holds_something_else(self):
        stall = '[Service]\nEnvironment="HORUS_PING_STALL=30ms 100"\n'
        provoked = guest.merge({"systemd.unit-dropin.horus-ping.service": stall}, started("provocations.service"))
        answers = self.boot_on(3, disks.make_swap, provoked, firmware=False, extra_parameters=UNMEASURED, during=stop_for_a_while)
        self.assertEqual((answers["isolated"], answers["pid1"]), ("1-2", "0"))
        misses = [entry for entry in self.of_kind(MISS) if guest.text(entry, "HORUS_NODE") == "ping"]
        self.assertTrue(misses)
        worst = max(int(guest.text(entry, "HORUS_WORST_RESPONSE_NS")) for entry in misses)
        self.assertGreaterEqual(worst, 30_000_000)
        # Who broke them: ping's own step, which stalls; and a program that is too important.
        culprits = {(guest.text(entry, "HORUS_CULPRIT_KIND"), guest.text(entry, "HORUS_CULPRIT").partition("/")[0]) for entry in self.of_kind(MISS)}
        self.assertIn("own-code", {kind for kind, _ in culprits})
        self.assertIn(("task", "yes"), culprits)
        # Nobody of the machine, when all of it stood still.
        longest = max((int(guest.text(entry, "HORUS_CULPRIT_NS")) for entry in self.of_kind(MISS) if guest.text(entry, "HORUS_CULPRIT_KIND") == "nobody"), default=0)
        self.assertGreaterEqual(longest, PAUSE * 1e9 / 2)
        blamed = "\n".join(guest.text(entry) for entry in self.done.with_field("SYSLOG_IDENTIFIER", "horus-blame"))
        for words in (r"own code", r"task yes/\d+"):
            self.assertRegex(blamed, words)

        self.assertEqual(answers["data-state"], "ram")
        self.assertTrue(answers["data"].startswith("horus-ram"), answers["data"])
        self.assertIn("HORUS: /var:", self.serial)
        self.assertEqual(answers["doctor"], "1", "the audit finds that /var is in memory")

    def test_second_slot_cpus_that_are_switched_off_a_damaged_superblock_and_a_fourth_emergency(self):
        """As on a machine whose hyper-threads nosmt switches off: the kernel counts them as isolated all the same."""

        def damage(disk):
            slots.fill_second(disk, self.image, NEWER, f"{UNMEASURED} maxcpus=2")
            disks.write_into_data(disk, "lib/horus/emergencies", "3\n")
            disks.damage_superblock(disk)

        answers = self.boot_on(4, damage, NO_SUCH_DISK)
        # Its kernel image is the newest, so the loader starts it, and the system comes from the slot that it names.
        self.assertEqual(answers["disks"].split()[0], "/dev/vda3")
        self.assertEqual(answers["slot"], horus_conf.system_label(NEWER))
        # Those of the image, but for the second slot's: systemd-repart, which runs at each boot, took none of them back.
        self.assertEqual(answers["partitions"].split(), ["horus-esp", self.image.system_label, horus_conf.system_label(NEWER), "horus-data"])
        self.assertEqual((answers["isolated"], answers["pid1"], answers["doctor"]), ("1-3", "0", "0"))

        self.assertIn("from a copy of its superblock", self.serial)
        self.assertTrue(answers["data"].startswith("/dev/vda4"), answers["data"])

        for said in ("Press Enter within 15 s for a shell", "The machine stays up with what it has"):
            self.assertRegex(self.serial, rf"HORUS: emergency mode: .*mnt\.mount.* {said}")
