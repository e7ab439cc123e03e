"""What comes out of a machine is read with care, and an incomplete result never reads as a pass."""

import json
import unittest

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

    def good(self) -> run.Boot:
        report = {"schema": delivery.SCHEMA, "phases": [{"name": name, "samples": 10} for name in delivery.PHASES]}
        return run.Boot(entries=[{"HORUS_PHASE": "summary", "HORUS_MISSES": "0"}], report=report, failed_units=[], powered_off=True)

    def test_good_boot_has_no_finding(self):
        self.assertEqual(delivery.check(self.good()), [])

    def test_each_fault_is_found(self):
        def no_report(done):
            done.report = {}
            done.entries.append({"_SYSTEMD_UNIT": "horus-determinism.service", "MESSAGE": "out of memory"})

        def failed_unit(done):
            done.failed_units = [{"unit": "robot.service"}]
            done.entries.append({"_SYSTEMD_UNIT": "robot.service", "MESSAGE": "segfault at 0"})

        def failed_unit_in_the_report_only(done):
            done.report["failed_units"] = [{"unit": "robot.service"}]

        def no_list_of_failed_units(done):
            done.failed_units = None

        def unmeasured(done):
            done.report["phases"][0] = {"name": "node-quiet", "samples": 0, "reason": "no CPU"}

        def missing_phase(done):
            del done.report["phases"][-1]

        def other_schema(done):
            done.report["schema"] = "horus-report/9"

        def no_summary(done):
            done.entries.clear()

        def hangs(done):
            done.powered_off = False

        expected = {
            no_report: "out of memory", failed_unit: "segfault at 0", failed_unit_in_the_report_only: "robot.service failed",
            no_list_of_failed_units: "did not arrive", unmeasured: "no CPU", missing_phase: "not in the report",
            other_schema: "horus-report/9", no_summary: "HORUS_MISSES", hangs: "power off",
        }  # fmt: skip
        for break_it, words in expected.items():
            done = self.good()
            break_it(done)
            with self.subTest(break_it.__name__):
                self.assertIn(words, "\n".join(delivery.check(done)))


class Credentials(unittest.TestCase):
    def test_texts_for_one_unit_are_joined(self):
        merged = guest.merge({"a": "1", "b": "2"}, {"a": "3"})
        self.assertEqual(merged, {"a": "1\n3", "b": "2"})

    def test_the_units_that_observe_and_collect_are_handed_in(self):
        given = guest.observing_units("robot.service")
        for unit in ("horus-observe", "horus-collect", "horus-stuck"):
            self.assertIn("ExecStart=", given[f"systemd.extra-unit.{unit}.service"])

    def test_results_are_collected_however_the_unit_ends(self):
        text = guest.observing_units("robot.service")["systemd.unit-dropin.robot.service"]
        self.assertIn("OnSuccess=", text)
        self.assertIn("OnFailure=", text)

    def test_unit_texts_survive_the_way_into_the_machine(self):
        argument = guest.smbios_arguments({"systemd.extra-unit.x.service": "[Unit]\nDescription=ä\n"})[1]
        self.assertNotIn(",", argument.partition(",value=")[2])
        self.assertTrue(json.dumps(argument))
