"""A user's first hour, with nothing masked: a flashed disk that is larger than the image, the firmware, the determinism run, then `horus new` and
`horus deploy` in the order in which docs/nodes.md prints them."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks.boot import boot_test_x86_64
from checks.boot.reach import deploying
from checks.boot.reach.beside_test_reach import SSH, ssh_options
from horus_appliance.boot import run
from horus_appliance.boot.machine import Machine
from horus_appliance.flash import settings
from horus_appliance.host import system
from horus_appliance.image import mkosi
from horus_appliance.paths import RUNTIME

DISK = 4 << 30
PATIENCE = 1800


class FirstHour(boot_test_x86_64.BootTest):
    @classmethod
    def setUpClass(cls):
        system.ensure_command("ssh", "openssh-client")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.home = Path(directory.name)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.home / "key"], check=True)
        wishes = settings.Wishes(hostname="arm3", ssh_keys=(cls.home / "key.pub",))

        def prepare(disk: Path) -> None:
            os.truncate(disk, DISK)
            settings.write(disk, wishes.text())

        cls.done = run.boot(
            mkosi.build("full"), "test-first-hour", 2, boot_test_x86_64.DETERMINISM_SECONDS, boot_test_x86_64.started("horus-probe.service"),
            patience=PATIENCE, forward=(SSH,), prepare=prepare, during=cls.work,
        )  # fmt: skip

    @classmethod
    def work(cls, machine: Machine) -> None:
        laptop = deploying.Laptop(cls.home, ["ssh", *ssh_options(cls.home, "key"), "-p", machine.ports[SSH]])
        cls.jitter = laptop.ask("cat /run/horus/release-jitter")
        cls.boot_partition = laptop.ask("cat /boot/horus.toml")
        cls.new = laptop.run(deploying.HORUS, "new", str(laptop.project))
        shutil.copy(RUNTIME / "Cargo.lock", laptop.project)  # the crates that this machine has
        cls.deployed = laptop.deploy()
        cls.state = laptop.ask(f"systemctl show --property=ActiveState {deploying.UNIT}")
        cls.greeting = laptop.ask("cat /run/issue.d/60-horus.issue")

    def test_a_new_project_is_deployed_after_a_run_that_says_nothing_about_a_board(self):
        self.assertIn("no-verdict", self.jitter)
        self.assertEqual((self.new.returncode, self.deployed.returncode), (0, 0), self.deployed.stdout + self.deployed.stderr)
        self.assertIn("is not counted", self.deployed.stdout)
        self.assertIn("upright 0.1.0 is ready", self.deployed.stdout)
        self.assertEqual(self.state, "ActiveState=active")

    def test_settings_are_where_the_guide_says(self):
        self.assertIn('hostname = "arm3"', self.boot_partition)

    def test_greeting_has_the_address_that_came_after_it(self):
        self.assertRegex(self.greeting, r"network +\S+ 10\.0\.2\.15")

    def test_data_fills_the_disk(self):
        self.assertGreater(int(self.answers()["data-bytes"]), DISK // 2)

    def test_no_unit_failed(self):
        self.assertEqual(self.done.failed_units, [])
