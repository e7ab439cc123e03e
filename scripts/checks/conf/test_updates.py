"""The transfer files by which systemd-sysupdate writes an update, and what else names the same things."""

import configparser
import re
import unittest

from horus_appliance.paths import CONF, RUNTIME

import horus_conf

TRANSFERS = CONF / "base/rootfs/usr/lib/sysupdate.d"
UPDATE = RUNTIME / "update/src"


def constant(file: str, name: str) -> str:
    """The value of a constant of the crate."""
    return re.search(rf'const {name}: [^=]+ = "?([^";]+)"?;', (UPDATE / file).read_text()).group(1)


def read(name: str) -> configparser.ConfigParser:
    transfer = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    transfer.optionxform = str
    transfer.read(TRANSFERS / name)
    return transfer


class Transfers(unittest.TestCase):
    def setUp(self):
        self.system, self.kernel = read("50-horus-system.transfer"), read("70-horus-kernel.transfer")

    def test_there_are_two_and_the_kernel_image_comes_last(self):
        self.assertEqual(sorted(path.name for path in TRANSFERS.iterdir()), ["50-horus-system.transfer", "70-horus-kernel.transfer"])

    def test_both_take_what_the_command_has_received(self):
        ends = re.search(r'const ENDS: [^=]+ = \["([^"]+)", "([^"]+)"\];', (UPDATE / "bundle.rs").read_text()).groups()
        place = f"/{constant('machine.rs', 'PLACE')}/{constant('machine.rs', 'STAGED')}"
        for transfer, end in zip((self.kernel, self.system), ends):
            self.assertEqual(transfer["Source"]["Path"], place)
            self.assertEqual(transfer["Source"]["MatchPattern"], f"{constant('bundle.rs', 'START')}%W_@v{end}")
            self.assertEqual(transfer["Transfer"]["ProtectVersion"], "%A", "the version that runs is never written over")

    def test_a_slot_is_named_as_the_kernel_image_of_its_version_says(self):
        self.assertEqual(self.system["Target"]["MatchPattern"], horus_conf.system_label("@v"))

    def test_the_kernel_image_is_put_where_and_named_as_the_boot_loader_and_the_command_read_it(self):
        target = self.kernel["Target"]
        self.assertEqual(target["Path"], f"/{constant('loader.rs', 'PLACE')}")
        self.assertEqual(target["TriesLeft"], constant("loader.rs", "TRIES"))
        self.assertEqual(target["MatchPattern"].split(), ["horus_@v+@l.efi", "horus_@v+@l-@d.efi", "horus_@v.efi"])

    def test_the_unit_may_write_where_both_write(self):
        unit = (CONF / "horus/rootfs/usr/lib/systemd/system/horus-update-install.service").read_text()
        (writes,) = re.findall(r"^ReadWritePaths=(.*)$", unit, flags=re.MULTILINE)
        self.assertEqual(writes.split(), ["/boot", f"/{constant('machine.rs', 'PLACE')}"])
