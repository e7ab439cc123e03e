"""Builds the images that the boot tests boot, while other checks run; one of them after a build that was killed."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import unquote

from checks.boot import parts, slots
from checks.boot.provoked import disk as provoked
from horus_appliance.determinism.arms import source_version
from horus_appliance.host import system
from horus_appliance.host.architecture import X86_64
from horus_appliance.image import mkosi, sizes
from horus_appliance.paths import BUILD, REPOSITORY

import horus_conf

# What may be large, each with its use. All other packages stay below LARGE.
LARGE = 2_500_000
LARGE_PACKAGES = {
    "linux-image-": "the kernel's modules: drivers of storage, networks, cameras, sensors and buses (recipes/debian/mkosi.conf leaves the others out)",
    "stress-ng": "the load of the determinism run",
    "libipsec-mb2": "stress-ng is linked with it",
    "libstdc++6": "stress-ng is linked with it",
    "libssl3t64": "systemd and kmod are linked with it",
    "libsystemd-shared": "systemd",
    "systemd": "PID 1, the journal, the network",
    "coreutils": "a person at the shell, and the scripts of units",
    "util-linux": "file systems, terminals, taskset",
    "openssh-server": "the way in, for users that have a key (docs/reach.md)",
    "openssh-client": "ssh-keygen, which makes the machine's host key",
    "wpasupplicant": "joins the Wi-Fi of horus.toml",
    "libc6": "every program is linked with it",
    "(no package)": "the runtime's programs, the kernel's own file, and lists of its modules",
}
ROOT_LIMIT = 300_000_000
COMPRESSED_LIMIT = 145_000_000
CARD = 2_000_000_000  # as a card of 2 GB is sold
# What no appliance runs: windows, graphics, compilers, interpreters, makers of initial RAM disks, package managers.
UNWANTED = r"lib(llvm|x11|xcb|wayland|z3)|mesa|x11|python|perl|initramfs|dracut|klibc|^debconf|^dpkg$|^apt$"


class Images(unittest.TestCase):
    def test_image_is_as_large_as_its_use(self):
        image = mkosi.build("appliance")
        packages = sizes.package_bytes(image)
        self.assertEqual([f"{name}: {size}" for name, size in packages.items() if size > LARGE and not name.startswith(tuple(LARGE_PACKAGES))], [])
        self.assertLess(sizes.root_bytes(image), ROOT_LIMIT)
        self.assertLess(sizes.compressed_bytes(image), COMPRESSED_LIMIT)

    def test_image_has_two_slots_of_one_size_room_for_two_kernels_and_fits_a_small_card(self):
        image = mkosi.build("appliance")
        (esp, _, room), (first, _, size), (second, _, same), (data, _, _) = slots.layout(image.disk, image)
        self.assertEqual((esp, first, second, data), ("horus-esp", image.system_label, horus_conf.EMPTY_SLOT, "horus-data"))
        self.assertEqual(size, same)
        self.assertLess(ROOT_LIMIT, size * sizes.SECTOR)
        self.assertLess(2 * image.unified_kernel.stat().st_size, room * sizes.SECTOR)
        status = image.disk.stat()
        self.assertLess(status.st_size, CARD)
        self.assertLess(status.st_blocks * sizes.SECTOR, status.st_size / 2, "the image is not sparse")
        start, length = sizes.partition(image.disk, horus_conf.EMPTY_SLOT)
        with image.disk.open("rb") as stream:
            self.assertGreaterEqual(os.lseek(stream.fileno(), start, os.SEEK_DATA), start + length, "something is in the empty slot")

    def test_repart_at_boot_grows_the_data_and_leaves_slots_as_an_update_left_them(self):
        """Also where a later version has taken the first slot, and none is empty."""
        image = mkosi.build("appliance")
        with tempfile.TemporaryDirectory(dir=BUILD) as directory:
            disk = Path(directory) / "disk.raw"
            subprocess.run(["cp", "--sparse=always", image.disk, disk], check=True)
            slots.label(disk, image, {2: "horus_2.0.0", 3: "horus_1.9.9"})
            before = slots.layout(disk, image)
            os.truncate(disk, 4 << 30)
            slots.grow(disk, image)
            after = slots.layout(disk, image)
        self.assertEqual([name for name, _, _ in before], ["horus-esp", "horus_2.0.0", "horus_1.9.9", "horus-data"])
        self.assertEqual(after[:3], before[:3])
        self.assertEqual(after[3][:2], before[3][:2])
        self.assertGreater(after[3][2], before[3][2])

    def test_repart_at_boot_leaves_out_data_that_have_no_room(self):
        """It ends well: a unit that fails tells no more than that /var is in memory."""
        image = mkosi.build("appliance")
        with tempfile.TemporaryDirectory(dir=BUILD) as directory:
            disk = Path(directory) / "disk.raw"
            subprocess.run(["cp", "--sparse=always", image.disk, disk], check=True)
            slots.make_foreign(disk, image, 4)
            before = slots.layout(disk, image)
            slots.grow(disk, image)
            self.assertEqual(slots.layout(disk, image), before)

    def test_image_has_no_package_without_a_use(self):
        manifest = json.loads((mkosi.build("appliance").directory / f"horus_{mkosi.version()}.manifest").read_text())
        names = [package["name"] for package in manifest["packages"]]
        self.assertEqual([name for name in names if re.search(UNWANTED, name)], [])
        self.assertLessEqual({"stress-ng", "rt-tests", "systemd", "e2fsprogs"}, set(names))

    def test_list_of_parts_is_one_of_cyclonedx_and_has_each_package_and_crate(self):
        image = mkosi.build("appliance")
        self.assertEqual(parts.fault(image.parts), "")
        manifest = json.loads((image.directory / f"horus_{mkosi.version()}.manifest").read_text())
        addresses = [part.get("purl", "") for part in json.loads(image.parts.read_text())["components"]]
        names = {unquote(re.match("pkg:deb/debian/([^@]*)", address)[1]) for address in addresses if address.startswith("pkg:deb/")}
        self.assertEqual(names, {package["name"] for package in manifest["packages"]})
        self.assertTrue(any(address.startswith("pkg:cargo/ring@") for address in addresses))

    def test_disk_with_what_breaks_deadlines_is_made(self):
        """A boot test takes it up; its programs are built here, while other checks run."""
        self.assertGreater(provoked.make_disk(X86_64).stat().st_size, 100_000)

    def test_both_kernels_that_are_compared_are_of_the_same_sources(self):
        names = []
        for variant in ("appliance", "stock"):
            manifest = json.loads((mkosi.build(variant).directory / f"horus_{mkosi.version()}.manifest").read_text())
            names += [package["name"] for package in manifest["packages"] if re.match(r"linux-image-\d", package["name"])]
        self.assertEqual(["-rt-" in name for name in names], [True, False], names)
        self.assertEqual(len({source_version(name) for name in names}), 1, names)

    def test_killed_build_leaves_no_process_and_the_next_one_is_whole(self):
        mkosi.build("appliance")
        partial = start_and_kill_a_build("untuned")
        left = subprocess.run(["pgrep", "--full", "--list-full", str(partial)], capture_output=True, text=True, check=False)
        self.assertEqual(left.stdout, "", "the killed build goes on")
        self.assertTrue(mkosi.build("untuned").disk.is_file())


def start_and_kill_a_build(variant: str):
    """Starts a build in a process of its own and kills it while mkosi works; returns the directory that it worked in."""
    partial = BUILD / "image" / f"{variant}.partial"
    system.remove_tree(partial)
    (BUILD / "image" / variant / "inputs.sha256").unlink(missing_ok=True)  # so that there is something to build
    process = subprocess.Popen(
        [sys.executable, REPOSITORY / "scripts/image", "debian", "--variant", variant],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 900
    while not partial.is_dir() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(5)
    process.kill()
    if process.wait() != -signal.SIGKILL:
        raise AssertionError(f"the build that was to be killed had ended before, with status {process.returncode}")
    time.sleep(1)
    return partial
