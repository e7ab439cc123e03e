"""Flashing: which devices and images are refused, and with which remedy."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from horus_appliance.console import CannotRun
from horus_appliance.flash import devices, flashing, images, settings
from horus_appliance.flash.devices import Device
from horus_appliance.host import system
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY

MIB = 1 << 20


def facts(**changes) -> dict:
    """A card in a USB reader, as lsblk describes it."""
    card = {"path": "/dev/sdz", "type": "disk", "size": 64 * MIB, "ro": False, "rm": True, "hotplug": True, "tran": "usb",
            "model": "Card Reader ", "serial": "12", "mountpoints": [None], "pkname": None}  # fmt: skip
    return {**card, **changes}


def refused(internal: str = "", image_bytes: int = MIB, **changes) -> str:
    described = facts(**changes)
    return devices.refusal(Device(Path(described["path"]), described), image_bytes, internal)


class WhatIsRefused(unittest.TestCase):
    def test_a_card_that_is_free_is_not_and_one_may_be_just_large_enough(self):
        self.assertEqual(refused(), "")
        self.assertEqual(refused(image_bytes=64 * MIB), "")

    def test_each_reason_is_told_with_its_remedy(self):
        mounted = {"children": [facts(path="/dev/sdz1", type="part", mountpoints=["/media/me/photos"])]}
        for changes, expected in (
            ({"type": "part", "path": "/dev/sdz1", "pkname": "sdz"}, "Name the disk: /dev/sdz"),
            ({"type": "lvm"}, "made of other devices"),
            ({"children": [facts(path="/dev/md0", type="raid1")]}, "part of /dev/md0"),
            (mounted, "mounted /dev/sdz1 on /media/me/photos"),
            (mounted, "umount /dev/sdz1"),
            ({"ro": True}, "read-only"),
            ({"size": 0}, "is there a card"),
            ({"image_bytes": 64 * MIB + 1}, "has 67108864 bytes and the image needs 67108865"),
        ):
            self.assertIn(expected, refused(**changes))

    def test_the_system_disk_even_where_it_is_named_twice(self):
        for place in ("/", "/boot/efi", "[SWAP]"):
            message = refused("sdz", children=[facts(path="/dev/sdz1", type="part", mountpoints=[place])])
            self.assertIn("this system runs from", message)

    def test_a_built_in_disk_unless_it_is_named_twice(self):
        built_in = {"rm": False, "hotplug": False, "tran": "nvme"}
        self.assertIn("--internal sdz", refused(**built_in))
        self.assertIn("'sdy', and the device is 'sdz'", refused("sdy"))
        self.assertEqual(refused("sdz", **built_in), "")

    def test_a_soldered_chip_is_told_from_a_card_of_the_same_bus(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(devices, "SYS_BLOCK", Path(directory)):
            kind = Path(directory, "mmcblk0/device/type")
            kind.parent.mkdir(parents=True)
            for text, expected in (("MMC", "--internal mmcblk0"), ("SD", "")):
                kind.write_text(f"{text}\n")
                message = refused(path="/dev/mmcblk0", rm=False, hotplug=True, tran="mmc")
                self.assertTrue(expected in message if expected else message == "", message)

    def test_no_answer_writes_nothing(self):
        for silence in (EOFError, KeyboardInterrupt):
            with mock.patch("builtins.input", side_effect=silence), mock.patch("sys.stdin.isatty", return_value=True), redirect_stdout(io.StringIO()):
                with self.assertRaisesRegex(CannotRun, "nothing was written"):
                    flashing.ask(Device(Path("/dev/sdz"), facts()), Path("some.wic"), MIB)

    def test_what_is_no_device(self):
        for path in ("/dev/no-such-disk", "/dev/null", __file__):
            with self.assertRaisesRegex(CannotRun, f"{path}: not a block device"):
                devices.look_up(Path(path))


class WithImage(InDirectory):
    """Tests with an image of their own: 3 MiB of data at the start, 1 MiB near the end, nothing between."""

    def setUp(self):
        system.ensure_command("bmaptool", "bmap-tools")
        super().setUp()
        self.image = self.root / "some.wic"
        with self.image.open("wb") as file:
            file.write(os.urandom(3 * MIB))
            file.seek(images.BOOT_SIGNATURE.start)
            file.write(b"\x55\xaa")
            file.seek(14 * MIB)
            file.write(os.urandom(MIB))
            file.truncate(16 * MIB)
        self.bmap = self.root / "some.wic.bmap"
        subprocess.run(["bmaptool", "create", self.image, "-o", self.bmap], check=True, capture_output=True)

    def compressed(self) -> Path:
        system.ensure_command("zstd", "zstd")
        subprocess.run(["zstd", "-q", str(self.image)], check=True)
        return self.root / "some.wic.zst"


class ImageAndBlockMap(WithImage):
    def difference(self, image: Path) -> str:
        return self.error_of(lambda: images.verify(image, images.find_block_map(image)))

    def test_an_image_and_its_map_agree_packed_and_unpacked(self):
        for image in (self.image, self.compressed()):
            images.verify(image, images.find_block_map(image))
        self.assertEqual(images.image_bytes(self.bmap), 16 * MIB)

    def test_one_changed_byte_of_the_image_is_found_before_anything_is_written(self):
        with self.image.open("r+b") as file:
            file.seek(14 * MIB + 5)
            file.write(b"?")
        expected = f"checksum mismatch for blocks range {14 * MIB // 4096}-"
        self.assertIn(expected, self.difference(self.image))
        self.assertIn(expected, self.difference(self.compressed()))

    def test_a_cut_image_is_found(self):
        packed = self.compressed()
        os.truncate(packed, packed.stat().st_size - 100)
        self.assertIn("checksum mismatch", self.difference(packed))
        os.truncate(self.image, 14 * MIB)
        self.assertIn("cannot set image size", self.difference(self.image))

    def test_a_changed_or_cut_map_is_refused(self):
        text = self.bmap.read_text()
        self.bmap.write_text(text.replace("0-767", "0-766"))
        self.assertIn("checksum mismatch for bmap file", self.difference(self.image))
        for changed in (text[:-60], "", "<bmap/>", text.replace("sha256", "sha1"), text.replace("chksum", "sum")):
            self.bmap.write_text(changed)
            self.assertIn("not a usable block map", self.error_of(lambda: images.image_bytes(self.bmap)))

    def test_a_packed_image_without_a_map_is_refused_with_the_way_out(self):
        packed = self.compressed()
        self.bmap.unlink()
        self.assertIn("zstd -d", self.error_of(lambda: images.find_block_map(packed)))

    def test_what_is_no_disk_image(self):
        empty = self.root / "empty.raw"
        empty.touch()
        package = self.root / "horus.tegraflash.tar.zst"
        package.write_text("x")
        text = self.root / "README.md"
        text.write_text("# No image\n" * 100)
        cases = (
            (empty, "is empty"), (text, "does not begin with a partition table"), (package, "over USB"),
            (self.bmap, "Name the image itself"), (self.root / "none", "no image file"),
        )  # fmt: skip
        for path, expected in cases:
            self.assertIn(expected, self.error_of(lambda path=path: images.check_kind(path)))


class Settings(InDirectory):
    """What the options of flashing become."""

    KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII31cyfnz/Qi4MTQ6s4ES8YmxDx4WtsxL7GAnI4n88/x"

    def test_nothing_asked_for_is_no_file(self):
        self.assertEqual(settings.Wishes().text(), "")

    def test_any_text_survives(self):
        for text in ('quo"te', "back\\slash", "Café", "tab\there", "]["):
            read = tomllib.loads(settings.Wishes(wifi=text, wifi_password=text).text())
            self.assertEqual(read, {"wifi": {"ssid": text, "password": text}})

    def test_keys_of_several_files_and_comments_between_them(self):
        first = self.write("a.pub", f"# mine\n{self.KEY} me\n\n{self.KEY}\n")
        second = self.write("b.pub", f"sk-ssh-ed25519@openssh.com {'A' * 60}\n")
        read = tomllib.loads(settings.Wishes(ssh_keys=(first, second)).text())
        self.assertEqual(read["ssh_keys"], [f"{self.KEY} me", self.KEY, f"sk-ssh-ed25519@openssh.com {'A' * 60}"])

    def test_what_is_no_public_key_is_refused_with_the_remedy(self):
        for text, said in (("-----BEGIN OPENSSH PRIVATE KEY-----", ".pub"), ("", "ssh-keygen"), ("me@laptop", "ssh-keygen"), (self.KEY[:30], "ssh-keygen")):
            path = self.write("key", text)
            self.assertIn(said, self.error_of(lambda path=path: settings.public_keys(path)))


class ImagerList(WithImage):
    """The list for Raspberry Pi Imager says what the files say."""

    def test_sizes_and_checksums_of_the_packed_and_the_unpacked_image(self):
        packed, target = self.compressed(), self.root / "list.json"
        command = [sys.executable, REPOSITORY / "scripts/imager-list", packed, "raspberrypi5", "--output", target]
        subprocess.run(command, check=True, capture_output=True)
        entry = json.loads(target.read_text())["os_list"][0]
        for path, size, checksum in ((self.image, "extract_size", "extract_sha256"), (packed, "image_download_size", "image_download_sha256")):
            self.assertEqual((entry[size], entry[checksum]), (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()))
        self.assertEqual((entry["devices"], entry["url"]), (["pi5-64bit"], packed.as_uri()))


class LsblkStillSpeaksAsExpected(unittest.TestCase):
    def test_every_column_that_is_read_is_there(self):
        columns = "PATH,TYPE,SIZE,RO,RM,HOTPLUG,TRAN,MODEL,SERIAL,MOUNTPOINTS,PKNAME"
        done = subprocess.run(["lsblk", "--json", "--bytes", "--output", columns], capture_output=True, text=True, check=True)
        for one in json.loads(done.stdout)["blockdevices"]:
            self.assertLessEqual(set(columns.lower().split(",")), set(one))
