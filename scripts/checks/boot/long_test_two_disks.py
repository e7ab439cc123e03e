"""Boots a machine with two copies of one disk, which nothing tells from each other."""

from checks.boot import boot_test_x86_64
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
        self.assertTrue([entry for entry in self.done.entries if "It is a copy" in guest.text(entry)])
