"""The check of units finds what systemd would skip in silence."""

import re
import shutil
import unittest

from checks.conf import units
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF, REPOSITORY

GOOD = "[Unit]\nDescription=Some\n[Service]\nType=oneshot\nExecStart=/usr/bin/horus --version\n[Install]\nWantedBy=multi-user.target\n"


@unittest.skipUnless(shutil.which("systemd-analyze"), "the check itself installs systemd where it is missing")
class Units(InDirectory):
    def said_of(self, text: str, name: str = "some.service") -> str:
        self.write(f"{units.SYSTEM_UNITS}/{name}", text)
        count, said = units.complaints([self.root])
        self.assertEqual(count, 1)
        return "\n".join(said)

    def test_a_sound_unit_passes(self):
        self.assertEqual(self.said_of(GOOD), "")

    def test_a_misspelled_key_a_missing_program_and_a_wrong_value_are_named(self):
        for before, after, expected in (
            ("ExecStart=", "RestratSec=1s\nExecStart=", "RestratSec"),
            ("/usr/bin/horus", "/usr/bin/hors", "hors is not executable"),
            ("Type=oneshot", "Type=onceshot", "onceshot"),
            ("[Service]", "[Srevice]", "Srevice"),
        ):
            self.assertIn(expected, self.said_of(GOOD.replace(before, after)))

    def test_a_drop_in_is_verified_with_its_unit(self):
        said = self.said_of("[Service]\nExecStart=\nExecStart=/usr/sbin/no-such-program\n", "nvpmodel.service.d/60.conf")
        self.assertIn("no-such-program", said)

    def test_the_units_of_the_bridge_differ_in_what_they_run_and_when(self):
        differing = ("#", "Description=", "ConditionPathExists=", "ExecStart=")
        lines = [(CONF / "horus/rootfs" / units.SYSTEM_UNITS / f"horus-{name}.service").read_text().splitlines() for name in ("bridge", "fleet")]
        bridge, fleet = ([line for line in unit if not line.startswith(differing)] for unit in lines)
        self.assertEqual(bridge, fleet)
        # A topic that it makes in a group's directory is given to that group: without this its first message is its last.
        self.assertIn("SystemCallFilter=fchown fchownat", bridge)

    def test_an_installed_node_has_a_minute_to_get_ready(self):
        """Of its start's second of computing time a busy machine, or one that is emulated, gives it little."""
        (line,) = re.findall("^TimeoutStartSec=(.+)$", (CONF / "horus/rootfs" / units.SYSTEM_UNITS / "horus-node@.service").read_text(), re.MULTILINE)
        self.assertGreaterEqual(int(line.removesuffix("s")), 60)

    def test_an_installed_node_has_a_folder_for_what_its_parameters_save_that_no_new_version_replaces(self):
        unit = (CONF / "horus/rootfs" / units.SYSTEM_UNITS / "horus-node@.service").read_text()
        (folder,) = re.findall("^StateDirectory=(.+)$", unit, re.MULTILINE)
        (program,) = re.findall("^ExecStart=(.+)/%i/%i$", unit, re.MULTILINE)
        self.assertEqual(folder, "horus/params/%i")
        self.assertFalse(f"/var/lib/{folder}".startswith(program))
        self.assertIn("/var/lib/horus/params/NAME", (REPOSITORY / "docs" / "parameters.md").read_text())

    def test_every_board_with_a_rootfs_is_looked_at(self):
        self.assertEqual(len(units.trees()), 1 + len(list(CONF.glob("machine/*/rootfs"))))

    def test_packages_whose_programs_a_unit_calls_are_told(self):
        self.assertEqual(units.packages_needed(CONF / "machine/jetson-orin-nano/rootfs"), {"tegra-nvpmodel", "tegra-tools-jetson-clocks"})
        self.assertEqual(units.packages_needed(CONF / "dev/rootfs"), {"util-linux-agetty"})
        self.assertEqual(units.packages_needed(CONF / "base/rootfs"), {"openssh-sshd", "wpa-supplicant"})
        self.assertEqual(units.packages_needed(CONF / "rt/rootfs"), set())
