"""The settings that exist once a CPU, on a tree that stands for a machine's /sys."""

import subprocess
from pathlib import Path

from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

SCRIPT = CONF / "rt/rootfs/usr/lib/horus/tune-cpus"


class TuneCpus(InDirectory):
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
        done = subprocess.run([SCRIPT, self.root], capture_output=True, text=True, env=environment, check=False)
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
