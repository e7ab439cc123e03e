"""Boots the second slot of an image on a machine with 4 CPUs of which two are switched off, after emergencies and with a damaged superblock."""

import json

from checks.boot import boot_test_x86_64, disks, machines, slots
from checks.boot.boot_test_x86_64 import started
from horus_appliance.boot import guest

import horus_conf

# A newer version than any that is built.
NEWER = "999.0.0"


class FourCpus(machines.OtherMachines):
    """Each boot carries several questions."""

    def assert_watch(self, record: dict):
        """It had the last isolated CPU that is online, at its own priority, and ended its record when it was stopped."""
        (phase,) = record["phases"]
        self.assertEqual((record["schema"], record["valid"], record["invalid_reasons"]), ("horus-watch/1", True, []))
        self.assertEqual((phase["cpu"], phase["policy"]), (1, "FIFO/20"))
        self.assertGreaterEqual(phase["samples"], 20)

    def test_second_slot_cpus_that_are_switched_off_a_damaged_superblock_and_a_fourth_emergency(self):
        """As on a machine whose hyper-threads nosmt switches off: the kernel counts them as isolated all the same."""

        def damage(disk):
            slots.fill_second(disk, self.image, NEWER, f"{machines.UNMEASURED} maxcpus=2")
            disks.write_into_data(disk, "lib/horus/emergencies", "3\n")
            disks.damage_superblock(disk)

        drift = (boot_test_x86_64.GUEST / "drift.service").read_text()
        for name in ("DRIFT", "DRIFT_OVER"):
            drift = drift.replace(f"@{name}@", boot_test_x86_64.message_id(name))
        watch = {"systemd.unit-dropin.horus-watch.service": "[Unit]\nConditionVirtualization=\n"}
        units = guest.merge(started("drift.service", drift), guest.merge(started("watch.service"), watch))
        answers = self.boot_on(4, damage, guest.merge(machines.NO_SUCH_DISK, units))
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
