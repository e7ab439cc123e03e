"""The scripts that conf/ runs at boot, each on a tree that stands for a machine's."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from horus_appliance.host import system
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

TUNE_CPUS = CONF / "rt/rootfs/usr/lib/horus/tune-cpus"
HOST_KEY = CONF / "base/rootfs/usr/lib/horus/ssh-host-key"
BOARD_IDENTITY = CONF / "base/rootfs/usr/lib/horus/board-identity"
RANDOM = "0123456789abcdef0123456789abcdef\n"


class HiddenErrors(unittest.TestCase):
    """What hides the errors of a program says why, behind the word "silent", on its line or the one above."""

    HIDES = re.compile(r"2>+ */dev/null|&> */dev/null|> */dev/null +2>&1|\|\| *(true|:)(\s|;|\)|$)|^Exec\w+=[@:+!|]*-")

    def unexplained(self, text: str) -> list:
        lines = text.splitlines()
        hiding = [number for number, line in enumerate(lines) if self.HIDES.search(line) and not line.lstrip().startswith("#")]
        return [number + 1 for number in hiding if not any(re.search("#.* silent: ", line) for line in lines[max(number - 1, 0) : number + 1])]

    def test_every_script_of_conf_says_what_it_hides_and_why(self):
        scripts = [path for path in CONF.rglob("*") if path.is_file() and re.match(rb"#!/bin/(ba)?sh\n", path.read_bytes())]
        self.assertGreaterEqual(len(scripts), 6)
        self.assertEqual([f"{path.relative_to(CONF)}:{line}" for path in scripts for line in self.unexplained(path.read_text())], [])

    def test_every_unit_of_conf_says_why_a_program_of_it_may_fail(self):
        units = [path for path in CONF.rglob("*") if path.suffix in (".service", ".conf") and "/systemd/system/" in str(path)]
        self.assertGreaterEqual(len(units), 20)
        self.assertEqual([f"{path.relative_to(CONF)}:{line}" for path in units for line in self.unexplained(path.read_text())], [])

    def test_what_hides_is_found(self):
        for line in ("a 2> /dev/null", "a 2>/dev/null | b", "a > /dev/null 2>&1", "a || true", "x=$(a || :)", "a &> /dev/null", "ExecStart=-/bin/a", "ExecStopPost=+-/bin/a"):
            self.assertEqual(self.unexplained(f"first\n{line}\n"), [2], line)
            self.assertEqual(self.unexplained(f"{line} # silent: why\n"), [], line)
            self.assertEqual(self.unexplained(f"# silent: why\n{line}\n"), [], line)
        self.assertEqual(self.unexplained("a > /dev/null\nb || return\n"), [])


class TuneCpus(InDirectory):
    """The settings that exist once a CPU."""

    def setUp(self):
        super().setUp()
        self.write_cpu("cpufreq/policy0/scaling_min_freq", "600000")
        self.write_cpu("cpufreq/policy0/scaling_max_freq", "2400000")
        self.write_cpu("isolated", "2-3")
        for cpu in range(4):
            if cpu:  # CPU 0 cannot be switched off and has no such file
                self.write_cpu(f"cpu{cpu}/online", "1")
            for state, latency in enumerate((1, 2, 5000)):
                self.write_cpu(f"cpu{cpu}/cpuidle/state{state}/latency", str(latency))
                self.write_cpu(f"cpu{cpu}/cpuidle/state{state}/disable", "0")
            self.write(f"sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime", "50000000")

    def path(self, name: str) -> Path:
        return self.root / "sys/devices/system/cpu" / name

    def write_cpu(self, name: str, text: str) -> None:
        self.write(f"sys/devices/system/cpu/{name}", text + "\n")

    def run_script(self) -> str:
        # In taskset's place: the tree's CPUs are not this machine's.
        self.write("bin/taskset", '#!/bin/sh\nshift 2\nexec "$@"\n').chmod(0o755)
        environment = {"PATH": f"{self.root}/bin:/usr/bin:/bin"}
        done = subprocess.run([TUNE_CPUS, self.root], capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def read(self, name: str) -> str:
        return self.path(name).read_text().strip()

    def disabled(self) -> list:
        return [path.parent.name for cpu in range(4) for path in sorted(self.path(f"cpu{cpu}").glob("cpuidle/*/disable"))
                if path.read_text().strip() == "1"]  # fmt: skip

    def test_clocks_have_equal_limits(self):
        self.run_script()
        self.assertEqual(self.read("cpufreq/policy0/scaling_min_freq"), "2400000")

    def test_isolated_cpus_lose_deep_idle_states_and_deadline_servers_and_others_keep_them(self):
        self.run_script()
        self.assertEqual(self.disabled(), ["state2", "state2"])
        self.assertEqual(self.read("cpu2/cpuidle/state2/disable"), "1")
        servers = [(self.root / f"sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime").read_text().strip() for cpu in range(4)]
        self.assertEqual(servers, ["50000000", "50000000", "0", "0"])

    def test_a_cpu_that_is_switched_off_is_left_alone(self):
        self.write_cpu("cpu3/online", "0")
        self.run_script()
        self.assertEqual(self.read("cpu3/cpuidle/state2/disable"), "0")

    def test_without_an_isolated_cpu_the_reason_is_told(self):
        self.write_cpu("isolated", "")
        self.assertIn("check isolcpus=", self.run_script())

    def test_a_machine_without_idle_states_and_clock_drivers_is_fine(self):
        for path in [*self.root.glob("sys/devices/system/cpu/cpu*/cpuidle/*/*"), *self.root.glob("sys/devices/system/cpu/cpufreq/*/*")]:
            path.unlink()
        self.run_script()


class BoardIdentity(InDirectory):
    """The machine-id of boards whose firmware has none."""

    def machine_id(self, files: dict) -> str:
        """The machine-id after the script ran on a machine with these files."""
        shutil.rmtree(self.root)
        for name, text in files.items():
            self.write(name, "").write_bytes(text)
        done = subprocess.run([BOARD_IDENTITY, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.root / "run/machine-id"
        return path.read_text() if path.exists() else ""

    def pi(self, serial: bytes) -> dict:
        return {"run/machine-id": RANDOM.encode(), "sys/firmware/devicetree/base/serial-number": serial}

    def test_a_serial_number_makes_the_same_identity_at_every_boot_and_another_on_another_board(self):
        first = self.machine_id(self.pi(b"10000000abcdef01\0"))
        self.assertRegex(first, r"^[0-9a-f]{32}\n$")
        self.assertEqual(self.machine_id(self.pi(b"10000000abcdef01\0")), first)
        self.assertNotEqual(self.machine_id(self.pi(b"10000000abcdef02\0")), first)
        self.assertNotIn("abcdef01", first)

    def test_an_identity_of_the_firmware_stays(self):
        for name in ("sys/class/dmi/id/product_uuid", "sys/firmware/devicetree/base/vm,uuid"):
            self.assertEqual(self.machine_id({**self.pi(b"1\0"), name: b"x"}), RANDOM)

    def test_without_a_serial_number_nothing_is_made_up(self):
        self.assertEqual(self.machine_id(self.pi(b"\0")), RANDOM)
        self.assertEqual(self.machine_id({"run/machine-id": RANDOM.encode()}), RANDOM)

    def test_an_identity_that_etc_stores_is_left_alone(self):
        self.assertEqual(self.machine_id({"sys/firmware/devicetree/base/serial-number": b"1\0"}), "")


class SshHostKey(InDirectory):
    """The key by which clients know the machine."""

    def fingerprint(self) -> str:
        """What the script says and writes."""
        done = subprocess.run([HOST_KEY, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = (self.root / "run/horus/ssh/fingerprint").read_text().strip()
        self.assertRegex(written, "^SHA256:")
        self.assertIn(written, done.stdout)
        return written

    def setUp(self):
        system.ensure_command("ssh-keygen", "openssh-client")
        super().setUp()
        self.key = self.write("var/lib/horus/ssh/host_ed25519", "")
        self.write("run/horus/ssh/authorized_keys", "")

    def test_a_key_is_made_once_and_nobody_else_reads_it(self):
        self.key.unlink()
        first = self.fingerprint()
        self.assertEqual(self.fingerprint(), first)
        self.assertEqual([path.name for path in self.key.parent.iterdir()], ["host_ed25519"])
        self.assertEqual(self.key.stat().st_mode & 0o777, 0o600)

    def test_a_key_that_a_power_cut_left_half_written_is_made_anew(self):
        first = self.fingerprint()  # of the empty file
        self.key.write_text(self.key.read_text()[:100])
        self.write("var/lib/horus/ssh/host_ed25519.new", "half")
        self.assertNotEqual(self.fingerprint(), first)
