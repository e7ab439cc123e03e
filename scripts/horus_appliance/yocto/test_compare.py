"""Figures of BitBake's image: from its manifest and its file system, and as the table shows them."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance.console import ApplianceFailed
from horus_appliance.image import mkosi
from horus_appliance.yocto import compare


class Figures(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_packages_are_the_first_words_of_the_manifest(self):
        (self.folder / "horus-image-genericx86-64.rootfs.manifest").write_text("busybox core2_64 1.37.0\nhorus core2_64 0.1.0\n\n")
        self.assertEqual(compare.packages_of_manifest(self.folder), ["busybox", "horus"])

    def test_folder_without_a_manifest_says_what_makes_one(self):
        with self.assertRaisesRegex(ApplianceFailed, r"scripts/image yocto"):
            compare.packages_of_manifest(self.folder)

    def test_a_system_in_ext4_takes_what_is_not_free(self):
        image = mkosi.Image("appliance", self.folder, "1.0")
        content = self.folder / "content"
        content.mkdir()
        (content / "file").write_bytes(b"x" * 3_000_000)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(content), str(image.disk), "16M"], check=True)
        with mock.patch.object(compare.sizes, "partition", return_value=(0, 16 << 20)):
            self.assertTrue(3_000_000 < compare.system_bytes(image) < 8_000_000, compare.system_bytes(image))

    def test_table_has_a_row_a_figure(self):
        one = dict.fromkeys(compare.ROWS, 1_234_567) | {"packages": ["a", "b"], "kernel": "6.18.15-yocto"}
        lines = compare.table(one, one | {"packages": ["a"]}).splitlines()
        self.assertEqual(len(lines), 2 + len(compare.ROWS))
        self.assertIn("| packages | 2 | 1 |", lines)
        self.assertIn("| median, ns | 1 234 567 | 1 234 567 |", lines)
