"""Flashing to real block devices (loop devices): what is written, and what is said when the device goes away.

They are skipped where there is no root or no loop device.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance.console import ApplianceFailed, CannotRun
from horus_appliance.flash import devices, flashing, settings
from horus_appliance.flash.test_flash import MIB, WithImage
from horus_appliance.host import system
from horus_appliance.paths import REPOSITORY

PULLED_OUT = """#!{python}
import os, signal, subprocess, sys, time
if sys.argv[-1] != "{device}":
    os.execv("{real}", ["{real}", *sys.argv[1:]])
real = subprocess.Popen(["{real}", *sys.argv[1:]])
time.sleep(0.2)
real.send_signal(signal.SIGSTOP)
os.truncate("{card}", 0)
subprocess.run(["losetup", "--set-capacity", "{device}"], check=True)
real.send_signal(signal.SIGCONT)
sys.exit(real.wait())
"""


def setUpModule():
    if reason := what_is_missing():
        raise unittest.SkipTest(reason)


class OnALoopDevice(WithImage):
    """A block device that the whole command can be run on."""

    def loop(self, size: int, directory: Path = None) -> Path:
        file = (directory or self.root) / "card"
        with file.open("wb") as stream:
            stream.truncate(size)
        made = subprocess.run(["losetup", "--find", "--show", str(file)], capture_output=True, text=True, check=True)
        path = Path(made.stdout.strip())
        self.addCleanup(subprocess.run, ["losetup", "--detach", str(path)], check=False, capture_output=True)
        return path

    def run_flash(self, status: int, image: Path, device: Path, *arguments: str, named: bool = True, **options) -> subprocess.CompletedProcess:
        """Runs the command, which wants a built-in disk named twice, and has to end with `status`."""
        internal = ["--internal", device.name] if named else []
        command = [sys.executable, str(REPOSITORY / "scripts/flash"), str(image), str(device), *internal, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status != 0:
            self.assertNotIn("done:", done.stdout)
        return done

    def assert_untouched(self, device: Path) -> None:
        self.assertEqual(start_of(device, MIB), b"\0" * MIB)


class LoopDevices(OnALoopDevice):
    """The whole command on real block devices."""

    def test_an_image_is_written_and_read_back(self):
        for image in (self.image, self.compressed()):
            with self.subTest(image=image):
                device = self.loop(20 * MIB)
                done = self.run_flash(0, image, device, "--yes")
                self.assertIn(f"reading {device} back", done.stdout)
                self.assertIn(f"done: {device} holds {image.name}", done.stdout)
                self.assertEqual(start_of(device, 3 * MIB), self.image.read_bytes()[: 3 * MIB])
                subprocess.run(["losetup", "--detach", str(device)], check=True)

    def test_an_image_without_a_map_gets_one(self):
        self.bmap.unlink()
        self.run_flash(0, self.image, self.loop(20 * MIB), "--yes")

    def test_nobody_is_asked_where_there_is_nobody_and_nothing_is_written(self):
        device = self.loop(20 * MIB)
        done = self.run_flash(2, self.image, device)
        self.assertIn("Add --yes", done.stderr)
        self.assert_untouched(device)

    def test_a_person_types_the_name_or_nothing_is_written(self):
        device = self.loop(20 * MIB)
        for typed, status in (("yes", 2), ("", 2), (device.name, 0)):
            command = f"{sys.executable} {REPOSITORY / 'scripts/flash'} {self.image} {device} --internal {device.name}"
            done = subprocess.run(
                ["script", "--quiet", "--return", "--command", command, "/dev/null"], input=f"{typed}\n", capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertIn("Everything on it will be lost", done.stdout)
            if status:
                self.assertIn("nothing was written, as you wished", done.stdout)
                self.assert_untouched(device)

    def test_a_loop_device_is_built_in(self):
        done = self.run_flash(2, self.image, self.loop(20 * MIB), "--yes", named=False)
        self.assertIn("--internal loop", done.stderr)

    def test_a_mounted_device_is_refused_and_so_is_one_held_by_somebody(self):
        device = self.loop(20 * MIB)
        subprocess.run(["mke2fs", "-q", "-F", str(device)], check=True)
        place = self.root / "mounted"
        place.mkdir()
        subprocess.run(["mount", str(device), str(place)], check=True)
        try:
            done = self.run_flash(2, self.image, device, "--yes")
            self.assertIn(f"mounted {device} on {place}", done.stderr)
            with self.assertRaises(CannotRun):
                devices.claim(devices.look_up(device))
        finally:
            subprocess.run(["umount", str(place)], check=True)

    def test_the_disk_that_this_system_runs_from_is_refused(self):
        root = subprocess.run(["findmnt", "--noheadings", "--output", "SOURCE", "/"], capture_output=True, text=True, check=True).stdout.strip()
        if not root.startswith("/dev/"):
            self.skipTest(f"the root file system is {root}, no disk of this machine")
        done = self.run_flash(2, self.image, Path(root), "--yes")
        self.assertRegex(done.stderr, "this system runs from|is a partition|made of other devices")

    def test_a_device_that_stops_taking_data_is_an_error_and_not_done(self):
        # A card whose second half is a lie: the file behind the device is on a file system with room for 6 MiB only.
        place = self.root / "small"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(place)], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(place)], check=False)
        with self.image.open("r+b") as file:
            file.seek(MIB)
            file.write(os.urandom(14 * MIB))
        subprocess.run(["bmaptool", "create", self.image, "-o", self.bmap], check=True, capture_output=True)
        device = self.loop(20 * MIB, place)
        done = self.run_flash(1, self.image, device, "--yes")
        self.assertIn("does NOT hold the image", done.stderr)
        self.assert_untouched(device)  # wiped

    def test_a_device_that_vanishes_while_it_is_written_is_named_and_not_done(self):
        device = self.loop(20 * MIB)
        # In bmaptool's place: the real one, stopped soon after it began to write, then the medium goes, as when a card is pulled out.
        fake = self.root / "bin"
        fake.mkdir()
        script = fake / "bmaptool"
        script.write_text(PULLED_OUT.format(python=sys.executable, real=shutil.which("bmaptool"), card=self.root / "card", device=device))
        script.chmod(0o755)
        environment = {**os.environ, "PATH": f"{fake}:{os.environ['PATH']}"}
        done = self.run_flash(1, self.image, device, "--yes", env=environment)
        self.assertIn(f"{device} vanished", done.stderr)
        self.assertIn("NOT usable", done.stderr)

    def test_data_that_does_not_read_as_it_was_written_is_found(self):
        device = self.loop(20 * MIB)
        found = devices.look_up(device)
        subprocess.run(["bmaptool", "-q", "copy", "--bmap", str(self.bmap), str(self.image), str(device)], check=True)
        flashing.read_back(found, self.bmap)
        with device.open("r+b") as stream:
            stream.seek(15 * MIB - 1)
            before = stream.read(1)
            stream.seek(15 * MIB - 1)
            stream.write(bytes([before[0] ^ 1]))
        message = self.error_of(lambda: flashing.read_back(found, self.bmap), ApplianceFailed)
        self.assertIn(f"blocks range {14 * MIB // 4096}-", message)

    def test_interrupting_leaves_no_half_image_that_boots(self):
        device = self.loop(20 * MIB)
        subprocess.run(["bmaptool", "-q", "copy", "--bmap", str(self.bmap), str(self.image), str(device)], check=True)
        found = devices.look_up(device)
        with mock.patch.object(flashing.subprocess, "run", side_effect=KeyboardInterrupt):
            message = self.error_of(lambda: flashing.write(self.image, self.bmap, found), ApplianceFailed)
        self.assertIn("you interrupted", message)
        self.assert_untouched(device)


class Settings(OnALoopDevice):
    """How the machine is reached, on the boot partition of what was flashed."""

    def setUp(self):
        super().setUp()
        system.ensure_command("sfdisk", "fdisk")
        system.ensure_command("mkfs.vfat", "dosfstools")
        layout = "label: gpt\nname=horus-esp, start=2048, size=10MiB, type=U\nname=horus-root, size=3MiB\n"
        subprocess.run(["sfdisk", "--quiet", str(self.image)], input=layout, text=True, check=True)
        subprocess.run(["mkfs.vfat", "--offset=2048", str(self.image), str(10 * 1024)], check=True, capture_output=True)
        self.bmap.unlink()
        subprocess.run(["bmaptool", "create", self.image, "-o", self.bmap], check=True, capture_output=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@laptop", "-f", self.root / "key"], check=True)

    def test_are_written_after_the_image_was_verified_and_read_back(self):
        device = self.loop(20 * MIB)
        password = self.write("password", 'say "hello"\n')
        done = self.run_flash(
            0, self.image, device, "--yes", "--ssh-key", f"{self.root}/key.pub", "--hostname", "arm3", "--time-server", "192.168.1.1", "--address",
            "192.168.1.20/24", "--wifi", "Café", "--wifi-password-file", str(password), "--wifi-country", "DE",
        )  # fmt: skip
        self.assertRegex(done.stdout, rf"(?s)reading {device} back.*writing horus.toml.*done:")
        self.assertNotIn("hello", done.stdout + done.stderr)
        written = tomllib.loads(settings.read(device))
        self.assertEqual(
            written, {
                "hostname": "arm3", "ssh_keys": [(self.root / "key.pub").read_text().strip()], "time_servers": ["192.168.1.1"],
                "network": {"address": "192.168.1.20/24"}, "wifi": {"ssid": "Café", "password": 'say "hello"', "country": "DE"},
            },
        )  # fmt: skip

    def test_without_options_there_is_no_file_and_the_device_is_the_image(self):
        device = self.loop(20 * MIB)
        self.run_flash(0, self.image, device, "--yes")
        self.assertIn("horus.toml", self.error_of(lambda: settings.read(device), ApplianceFailed))
        flashing.read_back(devices.look_up(device), self.bmap)

    def test_a_disk_without_our_boot_partition_is_not_done(self):
        subprocess.run(["sfdisk", "--quiet", "--part-label", str(self.image), "1", "another"], check=True)
        self.bmap.unlink()
        device = self.loop(20 * MIB)
        done = self.run_flash(1, self.image, device, "--yes", "--hostname", "arm3")
        self.assertIn("no boot partition", done.stderr)
        self.assert_untouched(device)  # wiped

    def test_what_cannot_be_asked_or_read_writes_nothing(self):
        device = self.loop(20 * MIB)
        for arguments, said in (
            (("--wifi", "lab"), "--wifi-password-file"), (("--ssh-key", f"{self.root}/key"), "is a private key"),
            (("--ssh-key", f"{self.root}/none.pub"), "cannot be read"), (("--gateway", "10.0.0.1"), "goes with --address"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(said, self.run_flash(2, self.image, device, "--yes", *arguments).stderr)
                self.assert_untouched(device)


def start_of(device: Path, size: int) -> bytes:
    with device.open("rb") as stream:
        return stream.read(size)


def what_is_missing() -> str:
    """Why no loop device can be had and mounted here; empty when they can."""
    if os.geteuid() != 0:
        return "flashing to loop devices needs root: run this with sudo"
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(4 * MIB)
        made = subprocess.run(["losetup", "--find", "--show", file.name], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"this machine gives no loop device ({made.stderr.strip()}): run this outside of a container"
        device = made.stdout.strip()
        subprocess.run(["mke2fs", "-q", "-F", device], check=True)
        with tempfile.TemporaryDirectory() as place:
            mounted = subprocess.run(["mount", device, place], capture_output=True, text=True, check=False)
            subprocess.run(["umount", place], capture_output=True, check=False)
        subprocess.run(["losetup", "--detach", device], check=True)
        return "" if mounted.returncode == 0 else f"this machine lets no program mount ({mounted.stderr.strip()}): run this outside of a container"
