"""Boots the appliance for 64-bit ARM in QEMU and asks of it what boot_test_x86_64.py asks of the one for x86-64; then runs the runtime's own
tests on its kernel. Emulated processors order memory accesses as this machine's does: about that, the loom models speak."""

import dataclasses
import re
import unittest

from checks.boot import boot_test_x86_64
from checks.boot.provoked import disk as provoked
from checks.boot.provoked import misses
from checks.runtime import guest_tests
from horus_appliance.boot import guest, run
from horus_appliance.host.architecture import ARM64, CannotCross
from horus_appliance.image import mkosi

# All tests of the runtime, one program after the other: about ten times as long as on the machine that emulates.
RUNTIME_TESTS_SECONDS = 2400


def setUpModule():
    """Builds the image first, because some machines cannot build for another processor at all."""
    try:
        mkosi.build(architecture=ARM64)
    except CannotCross as reason:
        raise unittest.SkipTest(str(reason)) from reason


class Arm64Appliance(boot_test_x86_64.TunedAppliance):
    """The image for 64-bit ARM as it is flashed, started by UEFI firmware: every test of the one for x86-64."""

    architecture = ARM64

    def test_rules_for_other_processors_do_not_apply(self):
        rules = {rule["id"]: rule for rule in self.done.report["audit"]["rules"]}
        for name in ("C10-watchdog", "C11", "P4"):
            self.assertEqual(rules[name]["status"], "NA", rules[name])
            self.assertIn("only for x86_64", rules[name]["reason"])
        self.assertEqual(rules["C10"]["observed"], "arch_sys_counter")


class WitnessOnArm64(misses.ToldMisses):
    """Who broke a deadline, by the events that this kernel has."""

    def test_names_culprits(self):
        self.done = run.boot(
            mkosi.build("appliance", architecture=ARM64), "test-misses-arm64", 3, 0, misses.provocations(), "provocations.service", 1800, firmware=False,
            extra_parameters="systemd.mask=horus-determinism.timer", during=misses.stop_for_a_while, disks={provoked.DISK: provoked.make_disk(ARM64)},
        )  # fmt: skip
        self.assert_misses_are_told({})  # no interrupts, which nothing floods there


class RuntimeOnArm64(unittest.TestCase):
    """The runtime's own tests, on two CPUs of a 64-bit ARM kernel."""

    def test_runtime_passes_its_tests(self):
        built = mkosi.build("appliance", architecture=ARM64)
        disk = guest_tests.make_disk(ARM64)
        # Not isolated: these tests want threads and processes that run at the same time, on any CPU where the scheduler puts
        # them.
        untuned = dataclasses.replace(built, variant="untuned")
        done = run.boot(
            untuned, "test-runtime-arm64", 2, 0, boot_test_x86_64.started("horus-tests.service"), "horus-tests.service", firmware=False,
            extra_parameters="systemd.mask=horus-determinism.timer systemd.mask=horus-ping.service systemd.mask=horus-pong.service",
            disks={guest_tests.DISK: disk}, patience=RUNTIME_TESTS_SECONDS,
        )  # fmt: skip
        lines = [guest.text(entry) for entry in done.with_field("SYSLOG_IDENTIFIER", "horus-tests")]
        ended = dict(re.findall(r"^test (\S+): exit (\d+),", "\n".join(lines), re.MULTILINE))
        failed = [name for name, status in ended.items() if status != "0"]
        self.assertEqual(failed, [], "\n".join(lines))
        self.assertIn("tests: all run", lines)
        results = re.findall(r"^result \S+: ok\. (\d+) passed", "\n".join(lines), re.MULTILINE)
        self.assertEqual(len(results), len(ended))
        self.assertGreater(sum(map(int, results)), 100)
        print("\n".join(line for line in lines if line.startswith(("result", "test "))))
