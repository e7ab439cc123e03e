"""The boot tests of the Debian image, of one that BitBake built with the option dev: scripts/boot --yocto FOLDER --test.

Its disk is larger than the image, and is started twice: with 2 CPUs, and with 3 from what the first boot left.
"""

import os
import subprocess
import unittest
from pathlib import Path

from checks.boot import boot_test_x86_64
from checks.boot.boot_test_x86_64 import started
from horus_appliance.boot import delivery, guest, run
from horus_appliance.determinism import gate, isolation
from horus_appliance.image import mkosi
from horus_appliance.paths import CONF
from horus_appliance.yocto import image as yocto_image
from horus_appliance.yocto.tools import LAYER

DISK = 4 << 30
# What the layer asks of the kernel of a PC.
FRAGMENTS = [CONF / "rt/kernel/rt.cfg", *(LAYER / f"recipes-kernel/linux/files/{name}.cfg" for name in ("boot", "pc", "uefi", "units"))]
CONFIG = """
[Unit]
Description=The running kernel's configuration
[Service]
Type=oneshot
SyslogIdentifier=kernel-config
ExecStart=/bin/sh -c 'zcat /proc/config.gz | grep "^CONFIG_"'
"""
BOOTS = """
[Unit]
Description=Question of the second boot
[Service]
Type=oneshot
SyslogIdentifier=horus-probe
ExecStart=/bin/sh -c 'echo "boots: $$(journalctl --list-boots --no-pager --quiet | grep -c ^)"'
"""


class YoctoAppliance(boot_test_x86_64.TunedAppliance):
    """The image as it is flashed, started by UEFI firmware for the first time."""

    folder: Path | None = None  # where a build left its images
    root = "ext4"  # docs/decisions/0009-how-the-yocto-image-differs.md
    more = started("config.service", CONFIG)
    options = {"prepare": lambda disk: os.truncate(disk, DISK)}

    @classmethod
    def built(cls) -> mkosi.Image:
        if not cls.folder:
            raise unittest.SkipTest("an image of BitBake's: ./scripts/boot --yocto FOLDER --test")
        return yocto_image.unpack(cls.folder, cls.architecture)

    def test_doctor_finds_nothing(self):
        self.assertEqual(self.answers()["doctor"], "0")
        self.assertEqual(self.done.report["audit"]["score"], 100)

    def test_running_kernel_is_configured_as_the_fragments_say(self):
        has = {guest.text(entry) for entry in self.done.with_field("SYSLOG_IDENTIFIER", "kernel-config")}
        self.assertIn("CONFIG_PREEMPT_RT=y", has)
        asked = [line for fragment in FRAGMENTS for line in fragment.read_text().splitlines()]
        self.assertEqual([line for line in asked if line.startswith("CONFIG_") and line not in has], [])
        refused = {line.split()[1] for line in asked if line.startswith("# CONFIG_")}
        self.assertEqual([line for line in has if line.partition("=")[0] in refused], [])

    def test_machine_knows_its_parts(self):
        """It does not: BitBake leaves the list beside its image."""
        self.assertEqual(self.answers()["parts"].strip(), "0")

    def test_data_fill_the_disk(self):
        self.assertGreater(int(self.answers()["data-bytes"]), DISK // 3)


class SecondBoot(boot_test_x86_64.BootTest):
    """The same disk again, in a machine with one CPU more."""

    @classmethod
    def setUpClass(cls):
        if not YoctoAppliance.folder:
            raise unittest.SkipTest("the second boot of an image of BitBake's")
        first = YoctoAppliance.done.directory / YoctoAppliance.image.disk.name
        cls.image = YoctoAppliance.image
        questions = guest.merge(started("horus-probe.service"), isolation.credentials(seconds=5))
        cls.done = run.boot(
            cls.image, f"second-{cls.image.name}", 3, YoctoAppliance.seconds, guest.merge(questions, started("boots.service", BOOTS)),
            prepare=lambda disk: subprocess.run(["cp", "--sparse=always", first, disk], check=True),
        )  # fmt: skip

    def test_report_is_complete(self):
        self.assertEqual(delivery.check(self.done), [])

    def test_two_cpus_are_isolated(self):
        self.assertEqual((self.answers()["isolated"], self.answers()["pid1"], self.answers()["doctor"]), ("1-2", "0", "0"))
        self.assertEqual(gate.isolation(isolation.counts(self.done.entries)), [])

    def test_journal_has_both_boots(self):
        self.assertEqual(self.answers()["boots"], "2")

    def test_clean_power_off(self):
        self.assert_clean_power_off()


def cases(folder: Path) -> unittest.TestSuite:
    """The tests of the image in `folder`, the first boot before the second."""
    YoctoAppliance.folder = folder
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    return unittest.TestSuite([load(YoctoAppliance), load(SecondBoot)])
