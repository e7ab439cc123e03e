"""Boots the image for robots, with all options, which nobody can enter, beside a second HORUS disk that the machine finds first."""

import os

from checks.boot import boot_test_x86_64, disks
from horus_appliance.boot import delivery, guest, run
from horus_appliance.image import mkosi

# Of the machine's disk: several times the image.
DISK = 4 << 30
REPORT = r"verdict +(MEASURED|NOT VALID), no verdict"


class ReleaseAppliance(boot_test_x86_64.BootTest):
    """Nobody gets in, the report is made all the same, and system and data come from the disk that the firmware started."""

    @classmethod
    def setUpClass(cls):
        built = mkosi.build("full")
        with disks.another(built.disk) as other:
            cls.done = run.boot(
                built, "test-release", 2, boot_test_x86_64.DETERMINISM_SECONDS, boot_test_x86_64.started("horus-probe.service"),
                disks={"other": other}, disks_first=True, console=REPORT, prepare=lambda disk: os.truncate(disk, DISK),
            )  # fmt: skip

    def test_report_is_complete(self):
        self.assertEqual(delivery.check(self.done), [])

    def test_there_is_no_shell_no_password_and_no_listener(self):
        self.assertTrue(self.answers()["shells"].endswith("0 on the serial line"), self.answers()["shells"])
        self.assertEqual(self.answers()["passwords"], "0")
        # The one of UDP is the DHCP client's, which asks for an address.
        self.assertIn(self.answers()["listeners"], ("0 tcp, 0 udp", "0 tcp, 1 udp", "0 tcp, 2 udp"))
        self.assertNotIn("root@horus", (self.done.directory / "serial.log").read_text(errors="replace"))

    def test_serial_console_shows_how_the_run_went(self):
        self.assertRegex((self.done.directory / "serial.log").read_text(errors="replace"), REPORT)

    def test_the_disk_that_was_started_wins_and_the_other_is_named(self):
        self.assertEqual(self.answers()["disks"].split(), ["/dev/vdb2", "/dev/vdb4"])
        self.assertTrue([guest.text(entry) for entry in self.done.entries if "another disk holds HORUS partitions" in guest.text(entry)])
        failed = [rule["id"] for rule in self.done.report["audit"]["rules"] if rule["status"] == "FAIL"]
        self.assertIn("D2", failed)

    def test_data_fills_the_disk(self):
        """The file system, which holds files, and not only the partition."""
        self.assertGreater(int(self.answers()["data-bytes"]), DISK // 2)
        self.assertEqual([guest.text(entry) for entry in self.done.entries if "does not fill its partition" in guest.text(entry)], [])

    def test_boot_partition_of_the_disk_that_was_started_is_there_when_somebody_looks(self):
        files, _, device = self.answers()["boot-partition"].partition(", ")
        self.assertIn("EFI", files.split())
        self.assertEqual(device, "/dev/vdb1")

    def test_clean_power_off(self):
        self.assert_clean_power_off()
