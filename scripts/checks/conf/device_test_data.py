"""What becomes of /var when the data partition is damaged: conf/base's data-partition on loop devices with each kind of damage.

They are skipped where there is no root or no loop device.
"""

import gzip
import os
import random
import re
import subprocess
import unittest
from pathlib import Path

from horus_appliance.host import system
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

SCRIPT = CONF / "base/rootfs/usr/lib/horus/data-partition"
UNIT = CONF / "base/rootfs/usr/lib/systemd/system/horus-data.service"
CAP_SYS_RESOURCE = 24
MIB = 1 << 20
SIZE = 512 * MIB  # that of the image's partition: copies of the superblock at 128 and 384 MiB

# Damaged inodes that one round of e2fsck did not make usable, among others: a pipe where a file was (14), a file system that had errors
# left (16), a socket and a pipe that the kernel refuses (28, 56).
DAMAGES = (1, 2, 3, 14, 16, 28, 44, 47, 56)


def setUpModule():
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        raise unittest.SkipTest("needs root and loop devices")
    system.ensure_command("mke2fs", "e2fsprogs")


def as_the_unit() -> list:
    """What starts a program with the rights that the unit leaves to root, and no other."""
    (line,) = re.findall(r"^CapabilityBoundingSet=(.+)$", UNIT.read_text(), re.MULTILINE)
    return ["setpriv", "--bounding-set", ",".join(["-all", *(f"+{name.lower().removeprefix('cap_')}" for name in line.split())]), "--"]


def may_grow() -> bool:
    """Whether root may make a mounted ext4 larger here. In a container it seldom may; there a boot test alone shows the growth."""
    (line,) = re.findall(r"^CapBnd:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return bool(int(line, 16) & 1 << CAP_SYS_RESOURCE)


def rubbish(count: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(count)  # the same in every run: damage that is repaired today is repaired tomorrow


class DataPartition(InDirectory):
    device = ""

    def setUp(self):
        super().setUp()
        self.file, self.run_directory = self.root / "card", self.root / "run"
        self.disk = self.run_directory / "disk"
        self.make_file_system("-t", "ext4", "-b", "4096")
        made = subprocess.run(["losetup", "--find", "--show", str(self.file)], capture_output=True, text=True, check=True)
        self.device = made.stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", self.device], check=False, capture_output=True)
        self.addCleanup(subprocess.run, ["umount", "--quiet", str(self.run_directory / "emptied"), str(self.disk)], check=False, capture_output=True)

    def make_file_system(self, *options: str, size: int = SIZE) -> None:
        tree = self.root / "tree"
        (tree / "lib/horus/reports").mkdir(parents=True, exist_ok=True)
        (tree / "lib/horus/reports/latest.json").write_text("a report\n")
        with self.file.open("wb") as stream:  # the same file, which the device is made of
            stream.truncate(size)
        subprocess.run(["mke2fs", "-q", *options, "-d", str(tree), str(self.file)], check=True, capture_output=True)
        if self.device:
            subprocess.run(["losetup", "--set-capacity", self.device], check=True)
            subprocess.run(["blockdev", "--flushbufs", self.device], check=True)

    def size_of_file_system(self) -> int:
        status = os.statvfs(self.disk)
        return status.f_blocks * status.f_frsize

    def damage(self, *places: tuple) -> None:
        """Overwrites bytes of the partition, each place as (offset, bytes)."""
        with open(self.device, "r+b") as stream:
            for offset, data in places:
                stream.seek(offset)
                stream.write(data)

    def start(self) -> bytes:
        with open(self.device, "rb") as stream:
            return stream.read(MIB)

    def call(self, what: str, **more: str) -> str:
        environment = {**os.environ, "HORUS_RUN": str(self.run_directory), "HORUS_PARTITION": self.device, **({} if may_grow() else {"HORUS_GROW": "true"}), **more}
        done = subprocess.run([*as_the_unit(), str(SCRIPT), what], env=environment, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    def mounted(self) -> dict:
        """Mounts as a boot does; gives the state that is told, with what was said of it."""
        said = self.call("mount")
        state = dict(line.split("=", 1) for line in (self.run_directory / "data").read_text().splitlines())
        (self.disk / "written").write_text("by a node\n")  # whatever happened: nodes can write
        return {**state, "said": said}

    def assert_report_is_there(self):
        self.assertEqual((self.disk / "lib/horus/reports/latest.json").read_text(), "a report\n")

    def test_whole_file_system_is_mounted_without_a_word(self):
        state = self.mounted()
        self.assertEqual((state["state"], state["reason"], state["device"]), ("clean", "", self.device))
        self.assertNotIn("<4>", state["said"])
        self.assert_report_is_there()

    def test_file_system_that_was_not_unmounted_is_clean(self):
        self.mounted()
        frozen = self.root / "frozen"  # as a power cut leaves it: copied while it is mounted
        subprocess.run(["sync"], check=True)
        subprocess.run(["cp", "--sparse=always", str(self.file), str(frozen)], check=True)
        self.call("leave")
        subprocess.run(["dd", f"if={frozen}", f"of={self.device}", "bs=1M", "status=none"], check=True)
        state = self.mounted()
        self.assertEqual(state["state"], "clean")
        self.assertIn("ended without a shutdown", state["said"])
        self.assert_report_is_there()

    def test_damaged_superblock_is_restored_from_a_copy(self):
        self.damage((0, rubbish(64 * 1024)))
        state = self.mounted()
        self.assertEqual(state["state"], "repaired")
        self.assertIn("from a copy", state["reason"])
        self.assert_report_is_there()

    def test_next_copy_of_the_superblock_serves_when_the_first_is_damaged_too(self):
        self.damage((0, rubbish(64 * 1024)), (128 * MIB, rubbish(64 * 1024)))
        state = self.mounted()
        self.assertEqual(state["state"], "repaired")
        self.assert_report_is_there()

    def test_small_blocks_have_their_copies_elsewhere(self):
        self.make_file_system("-t", "ext4", "-b", "1024")
        self.damage((0, rubbish(4096)))
        state = self.mounted()
        self.assertEqual(state["state"], "repaired")
        self.assertIn("from a copy", state["reason"])
        self.assert_report_is_there()

    def test_damaged_inodes_and_journal_are_repaired(self):
        described = subprocess.run(["dumpe2fs", self.device], capture_output=True, text=True, check=True).stdout
        table = int(described.split("Inode table at ", 1)[1].split("-", 1)[0])
        first, journal, files = table * 4096, 7, 14  # inodes of 256 bytes
        for place in [(first + 256 * journal, rubbish(256)), *((first + 256 * files, rubbish(2048, seed)) for seed in DAMAGES)]:
            with self.subTest(place[0], start=place[1][:4]):
                self.damage(place)
                self.assertEqual(self.mounted()["state"], "repaired")
                self.call("leave")

    def test_what_nothing_can_read_is_emptied_and_kept_as_an_image(self):
        start = rubbish(MIB)
        self.damage((0, start), *((place * MIB, rubbish(MIB)) for place in range(128, 512, 128)))
        state = self.mounted()
        self.assertEqual(state["state"], "emptied")
        kept = self.disk / Path(state["kept"]).relative_to("/var")
        with gzip.open(kept) as image:
            self.assertEqual(image.read(MIB), start)
        self.assertIn("made anew", state["said"])

    def test_partition_of_zeros_has_nothing_to_keep(self):
        with open(self.device, "r+b") as stream:
            for _ in range(SIZE // MIB):
                stream.write(bytes(MIB))
        state = self.mounted()
        self.assertEqual((state["state"], state.get("kept")), ("emptied", None))
        self.assertIn("nothing but zeros", state["reason"])
        self.assertNotIn("keeping an image", state["said"])
        self.assertTrue((self.disk / "lib/horus/running").read_text(), "a cut of this boot is noticed")

    def test_whole_file_system_that_the_kernel_cannot_mount_is_left_alone(self):
        # A feature of a newer kernel, as after going back to an older image: e2fsck finds nothing wrong, and mount refuses.
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "mount").write_text('#!/bin/sh\ncase "$*" in *ext4*) exit 32 ;; esac\nexec /bin/mount "$@"\n')
        (tools / "mount").chmod(0o755)
        said = self.call("mount", PATH=f"{tools}:{os.environ['PATH']}")
        self.assertIn("left as it is", said)
        subprocess.run(["umount", str(self.disk)], check=True)
        self.assertEqual(self.mounted()["state"], "clean")
        self.assert_report_is_there()

    def test_file_system_that_no_program_can_check_is_left_alone(self):
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "e2fsck").write_text("#!/bin/sh\nexit 137\n")  # as one that was killed for want of memory
        (tools / "e2fsck").chmod(0o755)
        before = self.start()
        self.assertIn("left as it is", self.call("mount", PATH=f"{tools}:{os.environ['PATH']}"))
        self.assertEqual(self.start(), before)

    def test_file_system_of_somebody_else_is_left_alone(self):
        subprocess.run(["mkswap", self.device], capture_output=True, check=True)
        before = self.start()
        state = self.mounted()
        self.assertEqual(state["state"], "ram")
        self.assertIn("swap", state["reason"])
        self.assertEqual(self.start(), before)

    def test_medium_that_cannot_be_written(self):
        subprocess.run(["blockdev", "--setro", self.device], check=True)
        self.addCleanup(subprocess.run, ["blockdev", "--setrw", self.device], check=True)
        state = self.mounted()
        self.assertEqual(state["state"], "ram")
        self.assertIn("write-protected", state["reason"])

    def test_full_file_system_is_no_damaged_one(self):
        self.mounted()
        for name in ("lib/horus/tried", "lib/horus/running", "written"):
            (self.disk / name).unlink()
        with (self.disk / "rest").open("wb", buffering=0) as rest, self.assertRaisesRegex(OSError, "No space"):
            for _ in range(SIZE // MIB):
                rest.write(bytes(MIB))
        subprocess.run(["umount", str(self.disk)], check=True)
        self.assertNotIn("<4>", self.call("mount"))
        self.assert_report_is_there()

    def test_file_system_whose_reserve_is_used_up_is_full_and_not_damaged(self):
        """Free blocks are below what ext4 keeps for itself: then a new file gets none. Splitting the extents of a file takes them from there."""
        self.make_file_system("-t", "ext4", "-b", "4096", size=400 * MIB)
        self.mounted()
        for name in ("lib/horus/tried", "lib/horus/running", "written"):
            (self.disk / name).unlink()
        first = self.disk / "first"
        subprocess.run(["fallocate", "--length", "200M", str(first)], check=True)
        with (self.disk / "rest").open("wb", buffering=0) as rest, self.assertRaisesRegex(OSError, "No space"):
            for _ in range(SIZE // MIB):
                rest.write(bytes(MIB))
        with first.open("r+b", buffering=0) as file:
            for place in range(0, 200 * MIB, 8192):
                file.seek(place)
                file.write(rubbish(4096))
        subprocess.run(["umount", str(self.disk)], check=True)
        self.assertNotIn("<4>", self.call("mount"))
        self.assertIn("state=clean", (self.run_directory / "data").read_text())
        self.assert_report_is_there()

    @unittest.skipUnless(may_grow(), "root has no CAP_SYS_RESOURCE here; the boot test from outside grows one")
    def test_file_system_grows_to_its_partition_with_the_rights_of_the_unit(self):
        self.mounted()
        self.call("leave")
        os.truncate(self.file, 3 * SIZE)
        subprocess.run(["losetup", "--set-capacity", self.device], check=True)
        state = self.mounted()
        self.assertEqual(state["state"], "clean")
        self.assertGreater(self.size_of_file_system(), 2.5 * SIZE)
        self.assertNotIn("<4>", state["said"])
        self.assert_report_is_there()

    def test_unit_has_the_right_to_grow_a_file_system(self):
        self.assertIn("+sys_resource", as_the_unit()[2].split(","))

    def test_file_system_that_cannot_grow_says_so_and_is_used(self):
        tools = self.root / "grow"
        tools.write_text("#!/bin/sh\necho 'Failed to resize: Operation not permitted' >&2\nexit 1\n")
        tools.chmod(0o755)
        said = self.call("mount", HORUS_GROW=str(tools))
        self.assertRegex(said, "<4>.*does not fill its partition.*Operation not permitted")
        self.assertIn("state=clean", (self.run_directory / "data").read_text())

    def test_cut_boots_are_counted_until_one_ends_well(self):
        self.mounted()
        (self.disk / "lib/horus/running").write_text("an-earlier-boot\n")
        subprocess.run(["umount", str(self.disk)], check=True)
        self.assertIn("ended without a shutdown", self.mounted()["said"])
        self.assertEqual((self.run_directory / "cut-boots").read_text(), "an-earlier-boot\n")
        self.call("leave")
        (self.run_directory / "cut-boots").unlink()
        self.assertNotIn("shutdown", self.mounted()["said"])
        self.assertFalse((self.run_directory / "cut-boots").exists())

    def test_what_a_cut_left_of_the_journal_is_cleaned_up(self):
        self.mounted()
        journal = self.disk / "log/journal/0"
        journal.mkdir(parents=True)
        # As journald makes one: room for all of it, of which the start is written.
        cut = journal / "system@1.journal~"
        subprocess.run(["fallocate", "--length", str(8 * MIB), str(cut)], check=True)
        with cut.open("r+b") as file:
            file.write(b"LPKSHHRH" + rubbish(4096))
        os.chown(cut, 0, 4)
        cut.chmod(0o640)
        before = cut.read_bytes()
        self.assertGreaterEqual(cut.stat().st_blocks * 512, 8 * MIB)
        (journal / "system@2.journal").write_bytes(b"LPKSHHRH" + b"\0" * 264)
        self.call("leave")
        self.mounted()
        self.assertEqual([path.name for path in journal.iterdir()], ["system@1.journal~"])
        status = cut.stat()
        self.assertLess(status.st_blocks * 512, MIB)
        self.assertEqual((cut.read_bytes(), status.st_gid), (before, 4))
        self.call("leave")
        self.mounted()
        self.assertEqual(cut.stat().st_ino, status.st_ino, "one that was cleaned up is left alone")
