"""Boots the real image in QEMU and looks at what it did. Nothing here asserts a latency: the machine is an emulated one."""

import json
import os
import re
import subprocess
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

from checks.boot import cuts, disks
from horus_appliance.boot import delivery, guest, run
from horus_appliance.determinism import gate, isolation
from horus_appliance.host import system
from horus_appliance.host.architecture import X86_64
from horus_appliance.image import mkosi, sizes
from horus_appliance.paths import CONF, REPOSITORY

GUEST = Path(__file__).with_name("guest")
DETERMINISM_SECONDS = 10
CUTS = int(os.environ.get("HORUS_CUTS", "20"))

# Message identifiers: runtime/horus/src/journal.rs.
SUMMARY = "DETERMINISM_SUMMARY"
MISS = "DEADLINE_MISS"

SUMMARY_FIELDS = """
    HORUS_SCHEMA HORUS_SAMPLES HORUS_PERIOD_NS HORUS_DEADLINE_NS HORUS_MISSES HORUS_MAX_CONSECUTIVE HORUS_MAX_NS
    HORUS_MISS_BOUND_95 HORUS_VALID HORUS_VERDICT HORUS_AUDIT_SCORE HORUS_AUDIT_FATAL HORUS_AUDIT_HIGH HORUS_VIRTUAL
    HORUS_FAILED_UNITS HORUS_REPORT
""".split()
PHASE_FIELDS = ["HORUS_SAMPLES", "HORUS_MAX_NS"]
SAMPLES_OF_A_MEDIAN = 20  # below, no quantile is told: ten samples have to lie beyond it (runtime/measure/src/quantile.rs)


def message_id(name: str) -> str:
    """The identifier that the runtime's source gives to a kind of entry."""
    source = (REPOSITORY / "runtime/horus/src/journal.rs").read_text()
    return source.partition(f"pub const {name}: &str = \"")[2][:32]


def started(unit: str, text: str = "") -> dict:
    """Credentials that start a unit with the system: one of the folder guest, or one of this text."""
    return {
        f"systemd.extra-unit.{unit}": text or (GUEST / unit).read_text(),
        "systemd.unit-dropin.multi-user.target": f"[Unit]\nWants={unit}\n",
    }


class BootTest(unittest.TestCase):
    """One boot, looked at by several tests."""

    done: run.Boot
    image: mkosi.Image

    def answers(self) -> dict:
        lines = [guest.text(entry) for entry in self.done.with_field("SYSLOG_IDENTIFIER", "horus-probe")]
        return dict(line.split(": ", 1) for line in lines if ": " in line)

    def of_kind(self, name: str) -> list:
        return self.done.with_field("MESSAGE_ID", message_id(name))

    def replay_of_writes(self) -> cuts.Replay:
        """All that a recorded machine wrote to its data partition, for cuts of its power; `image` is what it was started from."""
        if os.geteuid() != 0:
            self.skipTest("loop devices are root's")
        directory = self.done.directory / "cuts"
        directory.mkdir()
        # As large as the machine has made it.
        partition = sizes.partition(self.done.directory / self.image.disk.name, "horus-data")
        replay = cuts.Replay(self.image.disk, partition, self.done.directory / "writes", directory)
        self.addCleanup(replay.close)
        return replay

    def assert_clean_power_off(self):
        self.assertTrue(self.done.powered_off)
        self.assertIn("Power down", (self.done.directory / "serial.log").read_text(errors="replace"))


# What a determinism run says when the host took the CPU away for longer than the longest stall that the self-test injects.
HOST_STALLS = ["self-test: FAILED: *the machine stalls by itself*", "message-*: half trip *, lost *", "HORUS NOT VALID, no verdict: *"]


class TunedAppliance(BootTest):
    """The image as it is flashed, started by UEFI firmware."""

    architecture = X86_64
    # On a busy machine a message's two ends seldom run at the same time: 10 s gave the last message phase 2 to 19 samples.
    seconds = 30
    packages: Path | None = None  # what the image is made of, other than conf/ and the runtime built here
    root = "erofs"  # the system partition's form
    options: dict = {}  # further ones of the machine
    more: dict = {}  # further credentials

    @classmethod
    def built(cls) -> mkosi.Image:
        return mkosi.build("appliance", architecture=cls.architecture, packages=cls.packages)

    @classmethod
    def setUpClass(cls):
        cls.image = cls.built()
        questions = guest.merge(guest.merge(started("horus-probe.service"), isolation.credentials(seconds=5)), cls.more)
        cls.done = run.boot(cls.image, f"test-{cls.image.name}", 2, cls.seconds, questions, record=True, **cls.options)

    def test_report_is_complete(self):
        self.assertEqual(delivery.check(self.done), [])

    def test_kernel_is_preempt_rt(self):
        self.assertIn("PREEMPT_RT", self.done.report["kernel"])
        self.assertTrue(any("PREEMPT_RT" in guest.text(entry) for entry in self.done.with_field("_TRANSPORT", "kernel")))

    def test_no_unit_failed(self):
        self.assertEqual(self.done.failed_units, [])
        self.assertEqual(self.done.report["failed_units"], [])

    def test_no_ordering_cycle_and_no_kernel_warning(self):
        for words in ("ordering cycle", "------------[ cut here ]------------"):
            self.assertEqual([guest.text(entry) for entry in self.done.entries if words in guest.text(entry)], [])

    def test_every_warning_is_explained(self):
        explained = re.findall(r"^\| `(.*?)` \|", (REPOSITORY / "docs/boot-messages.md").read_text(), re.MULTILINE)
        self.assertTrue(explained)
        explained.append("horus-collect.service: multiple trigger source candidates *")  # a unit of the test, which both ends of another start
        if any("stalls by itself" in reason for reason in self.done.report["invalid_reasons"]):
            explained += HOST_STALLS
        said = [guest.text(entry).partition("\n")[0] for entry in self.done.entries if int(guest.text(entry, "PRIORITY") or 6) <= 4]
        self.assertEqual([text for text in said if not any(fnmatchcase(text, form) for form in explained)], [])

    def test_audit_fails_in_nothing_fatal_or_high(self):
        failed = {
            rule["id"]: rule for rule in self.done.report["audit"]["rules"]
            if rule["status"] == "FAIL" and rule["severity"] in ("fatal", "high")
        }  # fmt: skip
        self.assertEqual(failed, {})
        self.assertGreaterEqual(len(self.done.report["audit"]["rules"]), 25)

    def test_summary_entry_has_all_fields(self):
        (summary,) = self.of_kind(SUMMARY)
        self.assertEqual([name for name in SUMMARY_FIELDS if name not in summary], [])
        self.assertEqual(guest.text(summary, "HORUS_VERDICT"), "none")
        self.assertIn("no verdict", guest.text(summary))

    def test_every_phase_has_an_entry_with_its_figures(self):
        entries = {guest.text(entry, "HORUS_PHASE"): entry for entry in self.of_kind("DETERMINISM_PHASE")}
        for phase in delivery.PHASES:
            with self.subTest(phase):
                self.assertEqual([name for name in PHASE_FIELDS if name not in entries[phase]], [])
                samples = int(guest.text(entries[phase], "HORUS_SAMPLES"))
                self.assertEqual("HORUS_P50_NS" in entries[phase], samples >= SAMPLES_OF_A_MEDIAN, f"{samples} samples")

    def test_meter_found_the_injected_stall(self):
        self_test = self.done.report["self_test"]
        self.assertGreaterEqual(self_test["found_ns"], self_test["injected_ns"])
        # A host that takes the CPU away for longer than the longest injected stall makes the run invalid, and rightly.
        reasons = self.done.report["invalid_reasons"]
        self.assertEqual([reason for reason in reasons if "stalls by itself" not in reason], [])
        self.assertEqual(self.done.report["valid"], not reasons)

    def test_report_has_the_promised_shape(self):
        report = self.done.report
        self.assertEqual(report["schema"], "horus-report/2")
        self.assertTrue(report["virtual"])
        for name in ("boot_id", "image", "kernel", "cmdline", "valid", "audit", "phases", "self_test"):
            self.assertIn(name, report)
        for name in ("name", "cpu", "period_ns", "deadline_ns", "samples", "misses", "max_consecutive", "p50_ns",
                     "p99_ns", "max_ns", "miss_bound_95"):  # fmt: skip
            for phase in report["phases"]:
                self.assertIn(name, phase)

    def test_message_phase_stands_beside_its_floor(self):
        phase = next(phase for phase in self.done.report["phases"] if phase["name"] == "message-quiet")
        self.assertTrue(phase["floor_p50_ns"] or "floor" in "\n".join(phase["notes"]), phase["notes"])

    def test_system_is_read_only_and_the_journal_is_on_the_data_partition(self):
        answers = self.answers()
        self.assertIn(self.root, answers["root"])
        self.assertIn("ro", answers["root"].split()[-1].split(","))
        self.assertEqual(answers["system"], "read-only")
        self.assertTrue(answers["data"].startswith("/dev/vda4"))
        self.assertTrue(answers["journal"].startswith("/var/log/journal/"))

    def test_system_comes_from_the_slot_that_its_kernel_image_names(self):
        self.assertEqual(self.answers()["slot"], self.image.system_label)

    def test_reports_are_kept_by_the_name_that_the_build_of_the_image_gave_it(self):
        identity = self.done.report["identity"]
        self.assertEqual((identity["build_id"], identity["build_id_from"]), (self.answers()["build"], "os-release"))
        self.assertRegex(identity["build_id"], "^[0-9a-f]{32}$")

    def test_pid_1_stays_on_the_housekeeping_cpu(self):
        self.assertEqual(self.answers()["isolated"], "1")
        self.assertEqual(self.answers()["pid1"], "0")

    def test_no_foreign_program_runs_on_the_isolated_cpu(self):
        counted = isolation.counts(self.done.entries)
        self.assertEqual(counted["cpu"], 1)
        self.assertEqual(gate.isolation(counted), [])

    def test_units_are_sandboxed_or_say_why_not(self):
        # A template is judged by an instance that systemd makes up.
        exposed = {key.rpartition(" ")[2].replace("@test_instance.", "@."): float(value.split()[0]) for key, value in self.answers().items() if "Overall exposure" in key}
        ours = {path.name: path.read_text() for path in CONF.glob("*/rootfs/usr/lib/systemd/system/*.service")}
        self.assertLessEqual(set(ours), set(exposed))
        for unit, text in ours.items():
            self.assertTrue(exposed[unit] <= 2.5 or "systemd-analyze security" in text, f"{unit}: {exposed[unit]}")

    def test_hardened_settings_are_the_kernels(self):
        wanted = [line.split(" = ") for path in CONF.glob("base/rootfs/usr/lib/sysctl.d/*.conf") for line in path.read_text().splitlines() if " = " in line]
        answers = self.answers()
        self.assertTrue(wanted)
        self.assertEqual([(key, answers.get(key)) for key, _ in wanted], [(key, value) for key, value in wanted])

    def test_console_greets(self):
        serial = (self.done.directory / "serial.log").read_text(errors="replace")
        self.assertIn("journalctl -u horus-determinism", serial)

    def test_journal_explains_our_entries(self):
        self.assertGreaterEqual(int(self.answers()["catalog"]), 7)

    def test_machine_knows_its_parts(self):
        packages, crates, of_openssl = map(int, self.answers()["parts"].split())
        self.assertGreater(packages, 50)
        self.assertEqual(crates > 50, not self.packages, "what another builder packed comes without crates")
        self.assertGreater(of_openssl, 0)

    def test_measuring_programs_start(self):
        """Some of the libraries that their packages want are left out of the image."""
        self.assertEqual(self.answers()["programs"], "stress-ng, cyclictest")

    def test_names_are_asked_of_the_server_that_dhcp_named(self):
        self.assertIn("nameserver 10.0.2.3", self.answers()["names"])

    def test_nothing_listens_where_nobody_was_let_in(self):
        """No key is in horus.toml. The one of UDP is the DHCP client's, which asks for an address."""
        self.assertIn(self.answers()["listeners"], ("0 tcp, 0 udp", "0 tcp, 1 udp", "0 tcp, 2 udp"))

    def test_boot_waits_for_no_network(self):
        self.assertEqual(self.answers()["waiting for a network"], "disabled")

    def test_first_tick_has_a_time(self):
        self.assertGreater(self.done.first_tick(), 0)

    def test_nothing_on_the_console_is_yellow_or_red(self):
        shown = (self.done.directory / "serial.log").read_text(errors="replace")
        self.assertEqual([line for line in shown.splitlines() if re.search(r"\x1b\[0;(1;)?(31|33|38:5:185)", line)], [])
        self.assertNotIn("ABSOLUTELY NO WARRANTY", shown)

    def test_serial_console_shows_a_shell(self):
        self.assertIn("root@horus", (self.done.directory / "serial.log").read_text(errors="replace"))

    def test_clean_power_off(self):
        self.assert_clean_power_off()

    def test_shutdown_takes_the_mark_of_a_running_boot_off_the_disk(self):
        disk = self.done.directory / self.image.disk.name
        self.assertIn("not found", disks.debugfs(disk, ["stat lib/horus/running"]))
        self.assertIn("Inode:", disks.debugfs(disk, ["stat lib/horus/tried"]))

    def test_any_cut_leaves_a_partition_that_is_mounted_and_reports_that_are_whole(self):
        system.ensure_command("journalctl", "systemd")
        replay = self.replay_of_writes()
        for number, cut in enumerate(replay.states(CUTS, seed=1)):
            with self.subTest(cut=number), disks.mounted(cut) as (state, place):
                self.assertIn(state["state"], ("clean", "repaired"))
                reports = [json.loads(report.read_text()) for report in place.glob("lib/horus/reports/*.json")]
                said = subprocess.run(["journalctl", "--directory", place / "log/journal", "--quiet", "--lines=1"], capture_output=True, text=True, check=False)
                self.assertNotIn("truncated", said.stderr)
        self.assertTrue(reports, "the last state is that of a machine that was switched off, which has its report")
