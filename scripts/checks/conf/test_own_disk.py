"""Which partitions udev names when a machine has two HORUS disks, on a tree that stands for a machine's /proc and /sys."""

import subprocess

from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

SCRIPT = CONF / "base/rootfs/usr/lib/udev/horus-own-disk"
OURS, THEIRS = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


class OwnDisk(InDirectory):
    def setUp(self):
        super().setUp()
        for number, disk in enumerate("ab"):
            for part in (2, 3):
                self.write(f"sys/devices/vd{disk}/vd{disk}{part}/partition", f"{part}\n")
                link = self.root / f"sys/dev/block/254:{16 * number + part}"
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(f"../../devices/vd{disk}/vd{disk}{part}")
        self.command_line(f"ro horus.disk={OURS} quiet")
        self.root_is("254:18")  # /dev/vdb2

    def command_line(self, words: str) -> None:
        self.write("proc/cmdline", words + "\n")

    def root_is(self, device: str) -> None:
        self.write("proc/self/mountinfo", f"22 1 0:21 / /proc rw - proc proc rw\n23 1 {device} / / ro - erofs /dev/root ro\n")

    def taken(self, partition: str, disk: str) -> bool:
        place = self.root.resolve() / "sys/devices" / partition[:3] / partition
        return subprocess.run([SCRIPT, place, disk, self.root], check=False).returncode == 0

    def test_initial_ram_disk_takes_the_disk_that_the_command_line_names(self):
        self.write("etc/initrd-release", "")
        self.assertEqual([self.taken("vda2", THEIRS), self.taken("vdb2", OURS)], [False, True])

    def test_initial_ram_disk_takes_any_disk_where_none_is_named(self):
        self.write("etc/initrd-release", "")
        self.command_line("ro quiet")
        self.assertTrue(self.taken("vda2", THEIRS))

    def test_system_takes_its_own_disk_whatever_the_guids(self):
        for disk in (OURS, THEIRS):
            self.assertEqual([self.taken("vda3", disk), self.taken("vdb3", disk)], [False, True])

    def test_system_that_is_on_no_partition_takes_any_disk(self):
        self.root_is("253:0")
        self.assertTrue(self.taken("vda3", THEIRS))
