"""What the image for robots is like on a flashed disk, beside another HORUS disk that the machine finds first."""

from checks.boot import boot_test_x86_64
from horus_appliance.boot import guest

# Of the machine's disk: several times the image.
DISK = 4 << 30
REPORT = r"verdict +(MEASURED|NOT VALID), no verdict"


class AsFlashed(boot_test_x86_64.BootTest):
    """Nobody gets in without a key, and system and data come from the disk that the firmware started. The boot is that of who inherits this."""

    def serial(self) -> str:
        return (self.done.directory / "serial.log").read_text(errors="replace")

    def test_there_is_no_shell_and_no_password(self):
        self.assertTrue(self.answers()["shells"].endswith("0 on the serial line"), self.answers()["shells"])
        self.assertEqual(self.answers()["passwords"], "0")
        self.assertNotRegex(self.serial(), "root@(horus|arm3)")

    def test_serial_console_shows_how_the_run_went(self):
        self.assertRegex(self.serial(), REPORT)

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
