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


class UnitsAndFragments(unittest.TestCase):
    """systemd leaves out what a kernel cannot do: each setting of our units with the option that it rests on."""

    RESTS_ON = {
        "IPAddressDeny": "CGROUP_BPF", "DeviceAllow": "CGROUP_BPF", "DevicePolicy": "CGROUP_BPF", "MemoryMax": "MEMCG", "StartupCPUWeight": "FAIR_GROUP_SCHED",
        "CPUQuota": "CFS_BANDWIDTH", "SystemCallFilter": "SECCOMP_FILTER", "PrivateNetwork": "NET_NS", "TimeoutIdleSec": "AUTOFS_FS",
    }  # fmt: skip

    def options(self) -> dict:
        return {name: value for file in kconfig.LAYER_FRAGMENTS.glob("*.cfg") for name, value in kconfig.read_options(file).items()}

    def test_what_units_ask_for_is_in_the_kernel(self):
        units = "\n".join(path.read_text() for path in CONF.glob("*/rootfs/usr/lib/systemd/system/**/*") if path.is_file())
        asked = {name: option for name, option in self.RESTS_ON.items() if f"\n{name}=" in units}
        self.assertGreaterEqual(set(asked), {"IPAddressDeny", "DeviceAllow", "MemoryMax"})
        self.assertEqual([f"{name}= needs CONFIG_{option}=y" for name, option in asked.items() if self.options().get(option) != "y"], [])

    def test_a_watchdog_that_pid_1_arms_and_a_radio_that_a_unit_joins_by_have_drivers(self):
        self.assertIn("RuntimeWatchdogSec=", (CONF / "base/rootfs/usr/lib/systemd/system.conf.d/60-horus.conf").read_text())
        drivers = ("ITCO_WDT", "SP5100_TCO", "WDAT_WDT", "I6300ESB_WDT", "IWLWIFI", "IWLMVM")
        self.assertEqual([name for name in drivers if self.options().get(name) not in ("m", "y")], [])

    def test_firmware_of_the_image_is_of_drivers_that_the_kernel_has(self):
        image = (kconfig.REPOSITORY / "meta-horus/recipes-core/images/horus-image-uefi.inc").read_text()
        self.assertIn("linux-firmware-iwlwifi", image)
        self.assertNotIn("bnx2", image)


class AuditAndFragment(unittest.TestCase):
    def test_every_option_that_a_rule_reads_is_set_as_the_rule_expects(self):
        options = kconfig.read_options(kconfig.FRAGMENT)
        rules = [rule for file in (CONF / "rt" / "audit").glob("*.toml") for rule in tomllib.loads(file.read_text())["rule"]]
        read = [(rule["id"], name, rule["expect"]["equals"]) for rule in rules if rule["read"].startswith("kconfig:")
                for name in rule["read"].removeprefix("kconfig:").split(",")]  # fmt: skip
        self.assertGreater(len(read), 10)
        for identifier, name, expected in read:
            self.assertEqual(options.get(name), expected, f"rule {identifier} reads {name}; set it in conf/rt/kernel/rt.cfg")
