"""The kernel's configuration: the fragment is read as Kconfig reads it, what did not stick is found, and the audit agrees with it."""

import tomllib
import unittest

from checks.conf import kconfig
from horus_appliance.console import CannotRun
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF


class Fragment(InDirectory):
    def read(self, text: str) -> dict:
        return kconfig.read_options(self.write("some.cfg", text))

    def test_options_set_and_not_set(self):
        text = "# A reason.\nCONFIG_A=y\n\n# CONFIG_B is not set\nCONFIG_C=\"x\"\n"
        self.assertEqual(self.read(text), {"A": "y", "B": "n", "C": '"x"'})

    def test_a_line_that_kconfig_would_skip_in_silence_is_refused_with_its_number(self):
        for line in ("PREEMPT_RT=y", "CONFIG_A = y", " CONFIG_A=y", "CONFIG_A"):
            with self.assertRaisesRegex(CannotRun, "some.cfg:2"):
                self.read(f"# CONFIG_B is not set\n{line}\n")

    def test_a_fragment_without_options_is_refused(self):
        with self.assertRaises(CannotRun):
            self.read("# nothing\n")


class Dropped(unittest.TestCase):
    def test_what_the_configuration_has_otherwise_is_named_with_what_it_has(self):
        wanted = {"A": "y", "B": "n", "C": "y", "HZ": "1000", "PREEMPT": "y"}
        found = {"A": "y", "B": "m", "C": "n", "HZ": "250", "HZ_1000": "y", "PREEMPT_RT": "y"}
        said = ["B: wanted n, is m", "C: wanted y, is n", "HZ: wanted 1000, is 250", "PREEMPT: wanted y, is n"]
        self.assertEqual(kconfig.dropped(wanted, found), [f"CONFIG_{line}" for line in said])


class AuditAndFragment(unittest.TestCase):
    def test_every_option_that_a_rule_reads_is_set_as_the_rule_expects(self):
        options = kconfig.read_options(kconfig.FRAGMENT)
        rules = [rule for file in (CONF / "rt" / "audit").glob("*.toml") for rule in tomllib.loads(file.read_text())["rule"]]
        read = [(rule["id"], name, rule["expect"]["equals"]) for rule in rules if rule["read"].startswith("kconfig:")
                for name in rule["read"].removeprefix("kconfig:").split(",")]  # fmt: skip
        self.assertGreater(len(read), 10)
        for identifier, name, expected in read:
            self.assertEqual(options.get(name), expected, f"rule {identifier} reads {name}; set it in conf/rt/kernel/rt.cfg")
