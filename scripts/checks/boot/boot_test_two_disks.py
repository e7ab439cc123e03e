"""Boots machines that have two HORUS disks."""

import subprocess
import zlib
from pathlib import Path

from checks.boot import boot_test_x86_64
from horus_appliance.boot import guest, run
from horus_appliance.image import mkosi
from horus_appliance.paths import BUILD


class TwoDisks(boot_test_x86_64.BootTest):
    """Machines with a second HORUS disk: system and data come from the one that the firmware started."""

    def boot_beside(self, other: Path, disks_first: bool) -> list:
        self.done = run.boot(
            mkosi.build("appliance"), self.id().rpartition(".")[2], 2, 0, boot_test_x86_64.started("horus-probe.service"), collect_after="horus-probe.service",
            disks={"other": other}, disks_first=disks_first,
        )  # fmt: skip
        self.assertEqual(self.done.failed_units, [])
        self.assertTrue([guest.text(entry) for entry in self.done.entries if "of another HORUS disk" in guest.text(entry)])
        return self.answers()["disks"].split()

    def test_the_disk_that_was_started_wins_although_the_other_is_found_first(self):
        image = mkosi.build("appliance")
        other = BUILD / "machines" / "other-disk.raw"
        other.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "--sparse=always", image.disk, other], check=True)
        self.addCleanup(other.unlink)
        give_another_identity(other)
        self.assertEqual(self.boot_beside(other, disks_first=True), ["/dev/vdb2", "/dev/vdb3"])

    def test_of_two_copies_system_and_data_come_from_one(self):
        system, data = self.boot_beside(mkosi.build("appliance").disk, disks_first=True)
        self.assertEqual(system[:-1], data[:-1])
        self.assertTrue([entry for entry in self.done.entries if "It is a copy" in guest.text(entry)])


def give_another_identity(disk: Path) -> None:
    """Gives both partition tables of a disk (UEFI specification, 5.3.2) another GUID, as that of another build has."""
    with disk.open("r+b") as file:
        for place in (512, disk.stat().st_size - 512):
            file.seek(place)
            header = bytearray(file.read(92))
            header[56:72] = bytes(16 * [0x5A])
            header[16:20] = bytes(4)
            header[16:20] = zlib.crc32(header).to_bytes(4, "little")
            file.seek(place)
            file.write(header)
