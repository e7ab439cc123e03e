"""The list for Raspberry Pi Imager says what the files say."""

import hashlib
import json
import subprocess
import sys

from horus_appliance.console import CannotRun
from horus_appliance.flash import imager, images
from horus_appliance.host import system
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY


class ImagerList(InDirectory):
    def setUp(self):
        super().setUp()
        self.image = self.root / "horus.wic"
        sector = bytearray(b"disk" * 128)
        sector[images.BOOT_SIGNATURE] = b"\x55\xaa"
        self.image.write_bytes(bytes(sector) + b"disk" * 99_872)

    def test_sizes_and_checksums_of_the_packed_and_the_unpacked_image(self):
        system.ensure_command("zstd", "zstd")
        subprocess.run(["zstd", "-q", str(self.image)], check=True)
        packed = self.root / "horus.wic.zst"
        target = self.root / "list.json"
        command = [sys.executable, REPOSITORY / "scripts/imager-list", packed, "raspberrypi5", "--output", target]
        subprocess.run(command, check=True, capture_output=True)
        entry = json.loads(target.read_text())["os_list"][0]
        self.assertEqual(entry["extract_size"], 400_000)
        self.assertEqual(entry["extract_sha256"], hashlib.sha256(self.image.read_bytes()).hexdigest())
        self.assertEqual(entry["image_download_size"], packed.stat().st_size)
        self.assertEqual(entry["image_download_sha256"], hashlib.sha256(packed.read_bytes()).hexdigest())
        self.assertEqual((entry["devices"], entry["url"]), (["pi5-64bit"], packed.as_uri()))

    def test_an_image_that_is_not_there(self):
        with self.assertRaisesRegex(CannotRun, "no image file"):
            imager.entry(self.root / "x", "raspberrypi4", "")
