"""What comes out of a machine is read with care, and an incomplete result never reads as a pass."""

import unittest
from unittest import mock

from horus_appliance.boot import delivery, guest, run
from horus_appliance.in_directory import InDirectory


class JournalStream(InDirectory):
    def setUp(self):
        super().setUp()
        self.path = self.root / "journal"

    def test_torn_line_waits_for_its_rest(self):
        tail = guest.JournalTail(self.path)
        self.assertEqual(tail.read_new(), [])
        self.path.write_text('{"MESSAGE":"one"}\n{"MESS')
        self.assertEqual([guest.text(entry) for entry in tail.read_new()], ["one"])
        with self.path.open("a") as file:
            file.write('AGE":"two"}\n')
        self.assertEqual([guest.text(entry) for entry in tail.read_new()], ["two"])
        self.assertEqual(len(tail.entries), 2)

    def test_fields_of_every_kind_become_text(self):
        self.assertEqual(guest.text({"MESSAGE": [104, 105, 255]}), "hi�")
        self.assertEqual(guest.text({"UNIT": ["a", "b"]}, "UNIT"), "b")
        self.assertEqual(guest.text({"MESSAGE": None}), "")
        self.assertEqual(guest.text({}), "")


class Verdict(unittest.TestCase):
    """delivery.check() on boots that went wrong in one way each."""

    report = {"schema": delivery.SCHEMA, "phases": [{"name": name, "samples": 10} for name in delivery.PHASES]}
    summary = {"HORUS_PHASE": "summary", "HORUS_MISSES": "0"}

    def verdict(self, **changes) -> str:
        good = {"entries": [self.summary], "report": self.report, "failed_units": [], "powered_off": True}
        return "\n".join(delivery.check(run.Boot(**{**good, **changes})))

    def test_good_boot_has_no_finding(self):
        self.assertEqual(self.verdict(), "")

    def test_each_fault_is_found(self):
        robot = [{"unit": "robot.service"}]
        last_words = [self.summary, {"_SYSTEMD_UNIT": "robot.service", "MESSAGE": "segfault at 0"}]
        killed = [self.summary, {"_SYSTEMD_UNIT": "horus-determinism.service", "MESSAGE": "out of memory"}]
        unmeasured = [{"name": "node-quiet", "samples": 0, "reason": "no CPU"}]
        for changes, words in (
            ({"report": {}, "entries": killed}, "out of memory"),
            ({"failed_units": robot, "entries": last_words}, "segfault at 0"),
            ({"report": {**self.report, "failed_units": robot}}, "robot.service failed"),
            ({"failed_units": None}, "did not arrive"),
            ({"report": {**self.report, "phases": unmeasured}}, "no CPU"),
            ({"report": {**self.report, "phases": self.report["phases"][:-1]}}, "not in the report"),
            ({"report": {**self.report, "schema": "horus-report/9"}}, "horus-report/9"),
            ({"entries": []}, "HORUS_MISSES"),
            ({"powered_off": False}, "power off"),
        ):
            with self.subTest(words):
                self.assertIn(words, self.verdict(**changes))


class Ended(InDirectory):
    """A machine that ends before its results are there."""

    def boots_after(self, said: str, accelerated: bool) -> int:
        (self.root / "qemu.log").touch()
        serial = self.root / "serial.log"
        serial.write_text(said)
        machine = mock.Mock(
            accelerated=accelerated, serial_log=serial, directory=self.root,
            running=lambda: False, journal=mock.Mock(entries=[], read_new=list),
        )  # fmt: skip
        with mock.patch.object(run, "Machine", return_value=machine) as made, self.assertRaisesRegex(run.ApplianceFailed, "ended before"):
            run.boot(mock.Mock(), "test")
        return made.call_count

    def test_is_booted_once_more_only_where_the_emulator_ended_it(self):
        race = "[    3.5] Oops: int3: 0000 [#1] PREEMPT_RT SMP NOPTI"
        self.assertEqual(self.boots_after(race, accelerated=False), 2)
        self.assertEqual(self.boots_after(race, accelerated=True), 1)
        self.assertEqual(self.boots_after("Kernel panic - not syncing: VFS", accelerated=False), 1)


class Credentials(unittest.TestCase):
    def test_texts_for_one_unit_are_joined(self):
        merged = guest.merge({"a": "1", "b": "2"}, {"a": "3"})
        self.assertEqual(merged, {"a": "1\n3", "b": "2"})

    def test_results_are_collected_however_the_unit_ends(self):
        text = guest.observing_units("robot.service")["systemd.unit-dropin.robot.service"]
        self.assertIn("OnSuccess=", text)
        self.assertIn("OnFailure=", text)
