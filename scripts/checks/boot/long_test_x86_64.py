"""Boots what is rare, or takes long: two copies of one disk, which nothing tells from each other, and a restart by emergency mode."""

from checks.boot import boot_test_machines, boot_test_x86_64, disks
from horus_appliance.boot import guest, run
from horus_appliance.image import mkosi


class TwoCopies(boot_test_x86_64.BootTest):
    def test_of_two_copies_system_and_data_come_from_one(self):
        image = mkosi.build("appliance")
        self.done = run.boot(
            image, "test-two-copies", 2, 0, boot_test_x86_64.started("horus-probe.service"), collect_after="horus-probe.service",
            disks={"other": image.disk}, disks_first=True,
        )  # fmt: skip
        self.assertEqual(self.done.failed_units, [])
        system, data = self.answers()["disks"].split()
        self.assertEqual(system[:-1], data[:-1])
        self.assertTrue([entry for entry in self.done.entries if "another disk holds HORUS partitions" in guest.text(entry)])


class Emergency(boot_test_x86_64.BootTest):
    def test_third_emergency_restarts_the_machine_and_the_next_stays_up(self):
        self.done = run.boot(
            mkosi.build("appliance"), "test-emergency", 2, 0, guest.merge(boot_test_x86_64.started("horus-probe.service"), boot_test_machines.NO_SUCH_DISK),
            collect_after="horus-probe.service", firmware=False, extra_parameters="systemd.mask=horus-determinism.timer", restarts=True,
            prepare=lambda disk: disks.write_into_data(disk, "lib/horus/emergencies", "2\n"),
        )  # fmt: skip
        serial = (self.done.directory / "serial.log").read_text(errors="replace")
        for said in ("Restart 3 of 3", "The machine stays up with what it has"):
            self.assertIn(said, serial)
        self.assertNotIn("ended without a shutdown", serial)
        self.assert_clean_power_off()
