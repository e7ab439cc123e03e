"""Machines of other sizes, with disks that are damaged: how they boot, and what holds on each of them."""

from typing import Callable

from checks.boot.boot_test_x86_64 import DETERMINISM_SECONDS, started
from checks.boot.provoked import disk as provoked
from checks.boot.provoked import misses
from horus_appliance.boot import guest, run
from horus_appliance.image import mkosi

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
