"""The tree of hashes that the option 'secure' appends to an image, as cryptsetup's own veritysetup sees it."""

import importlib.util
import os
import re
import shutil
import subprocess

from horus_appliance.host import system
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY

SALT = bytes(range(32))


# lib/horus/verity.py, which BitBake imports from the layer.
SPECIFICATION = importlib.util.spec_from_file_location("verity", REPOSITORY / "meta-horus/lib/horus/verity.py")
verity = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(verity)


class VerifiedImage(InDirectory):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("veritysetup", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
            system.install(["cryptsetup-bin"])

    def setUp(self):
        super().setUp()
        self.image = self.root / "image"

    def made(self, blocks: int) -> tuple:
        self.image.write_bytes(os.urandom(4096 * blocks))
        return verity.append_tree(str(self.image), SALT)

    def verify(self, blocks: int, root_hash: str) -> bool:
        command = [
            "veritysetup", "verify", "--no-superblock", "--hash=sha256", f"--salt={SALT.hex()}", f"--data-blocks={blocks}", f"--hash-offset={blocks * 4096}",
            "--data-block-size=4096", "--hash-block-size=4096", "--format=1", str(self.image), str(self.image), root_hash,
        ]  # fmt: skip
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        return subprocess.run(command, capture_output=True, env=environment, check=False).returncode == 0

    def test_veritysetup_accepts_trees_of_one_two_and_three_levels(self):
        for blocks in (2, 128, 129, 128 * 128 + 1):
            self.assertTrue(self.verify(*self.made(blocks)), f"{blocks} blocks")

    def test_veritysetup_finds_one_changed_byte(self):
        blocks, root_hash = self.made(300)
        with self.image.open("r+b") as file:
            file.seek(4096 * 299 + 17)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        self.assertFalse(self.verify(blocks, root_hash))

    def test_image_of_broken_blocks_is_refused_with_the_remedy(self):
        self.image.write_bytes(b"x" * 5000)
        with self.assertRaisesRegex(ValueError, "IMAGE_ROOTFS_ALIGNMENT"):
            verity.append_tree(str(self.image), SALT)

    def test_command_line_names_the_verified_device_and_keeps_the_rest(self):
        line = verity.command_line("root=PARTLABEL=horus_1.2.3 ro quiet", 10, "ab" * 32, SALT)
        self.assertTrue(line.startswith("root=/dev/dm-0 ro quiet dm-mod.waitfor=PARTLABEL=horus_1.2.3 dm-mod.create="))
        table = re.search(r'dm-mod\.create="horus-root,,,ro,(.*)"$', line)[1].split()
        # Sectors, version, devices, block sizes, blocks, first block of the tree, digest: the fields of dm-verity's documentation.
        self.assertEqual(table[:12], "0 80 verity 1 PARTLABEL=horus_1.2.3 PARTLABEL=horus_1.2.3 4096 4096 10 10 sha256".split() + ["ab" * 32])
        self.assertEqual(line.count("root=PARTLABEL"), 0)
