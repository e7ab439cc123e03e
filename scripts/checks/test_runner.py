"""Checks run side by side, but never two that hold the same or beside one that runs alone, and none of their words are lost."""

import dataclasses
import io
import os
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from unittest import mock

from checks import catalogue, runner
from checks.runner import Check
from horus_appliance.console import SKIP_STATUS

# Says when it began and when it ended; its words are its exit status, its name, and the names of those that it waits for. A busy machine starts
# them late, and they meet all the same.
PROGRAM = """
import os, pathlib, sys, time
began, place, (status, name, *others) = time.monotonic(), pathlib.Path(os.environ["MEETING"]), sys.argv[1:]
(place / name).touch()
time.sleep(0.3)
while not all((place / other).exists() for other in others) and time.monotonic() < began + 60:
    time.sleep(0.01)
print("ran", began, time.monotonic())
sys.exit(int(status))
"""


def check(name: str, status: int = 0, meets: str = "", **more) -> Check:
    return Check(name, [sys.executable, "-c", PROGRAM, str(status), name, *meets.split()], **more)


class SideBySide(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        environment = mock.patch.dict(os.environ, {"MEETING": place.name})
        environment.start()
        self.addCleanup(environment.stop)

    def run_all(self, *checks: Check) -> dict:
        """Runs the checks; gives each one's result and its beginning and end, where its output was captured."""
        said = io.StringIO()
        with redirect_stdout(said):
            self.results = {result.name: result for result in runner.run(list(checks))}
        self.said = said.getvalue()
        times, name = {}, ""
        for line in self.said.splitlines():
            if "] --- " in line:
                name = line.partition("] --- ")[2].rpartition(" (")[0]
            elif line.startswith("ran "):
                times[name] = tuple(float(word) for word in line.split()[1:])
        return times

    def overlap(self, one: tuple, other: tuple) -> bool:
        return max(one[0], other[0]) < min(one[1], other[1])

    def test_four_run_at_a_time_and_no_fifth(self):
        times = self.run_all(*(check(name, meets=" ".join(set("abcd") - {name})) for name in "abcd"), check("e"))
        self.assertTrue(all(self.overlap(times[one], times[other]) for one in "abcd" for other in "abcd"))
        self.assertFalse(all(self.overlap(times["e"], times[name]) for name in "abcd"))

    def test_two_that_hold_the_same_wait_for_each_other_and_a_third_goes_before(self):
        times = self.run_all(check("a", holds=("x", "y"), meets="c"), check("b", holds=("y",)), check("c", meets="a"))
        self.assertFalse(self.overlap(times["a"], times["b"]))
        self.assertTrue(self.overlap(times["a"], times["c"]))

    def test_one_that_takes_up_what_another_builds_waits_for_its_end_and_for_no_one_who_is_not_asked_for(self):
        times = self.run_all(check("takes", after=("builds", "not asked for")), check("other", meets="builds"), check("builds", meets="other"))
        self.assertTrue(self.overlap(times["other"], times["builds"]))
        self.assertGreater(times["takes"][0], times["builds"][1])

    def test_the_time_of_its_processes_is_told(self):
        busy = Check("busy", ["sh", "-c", f"{sys.executable} -c 'import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass'"])
        self.run_all(busy, check("asleep"))
        self.assertGreater(self.results["busy"].cpu_seconds, 0.3)
        self.assertGreater(self.results["busy"].cpu_seconds, self.results["asleep"].cpu_seconds)

    def test_one_that_runs_alone_comes_last_and_has_nothing_beside_it(self):
        started = time.monotonic()
        times = self.run_all(check("alone", alone="it measures"), check("a", meets="b"), check("b", meets="a"))
        self.assertTrue(self.overlap(times["a"], times["b"]))
        self.assertGreater(self.said.index("--- alone"), self.said.index("--- b"))
        self.assertGreater(time.monotonic() - started, 0.6)
        self.assertEqual(list(self.results), ["alone", "a", "b"], "told in the order in which they were asked for")

    def test_those_alone_that_bear_each_other_run_together_and_with_no_other(self):
        quiet, other = ({"alone": "it waits for others", "together": group} for group in ("quiet", "other"))
        times = self.run_all(check("loud", alone="it measures"), check("a", meets="b", **quiet), check("b", meets="a", **quiet), check("c"), check("d", **other))
        self.assertTrue(self.overlap(times["a"], times["b"]))
        self.assertFalse(self.overlap(times["a"], times["d"]))
        self.assertFalse(self.overlap(times["a"], times["c"]))
        self.assertGreater(self.said.index("--- loud"), 0)

    def test_what_others_wait_for_gets_more_of_the_cpus(self):
        ask = Check("ask", ["sh", "-c", "nice"]), Check("first", ["sh", "-c", "nice"], first=True)
        self.run_all(*ask)
        mine = os.nice(0)
        self.assertRegex(self.said, rf"--- ask .*\n{min(mine + runner.NICE, 19)}\n")
        self.assertRegex(self.said, rf"--- first .*\n{mine}\n")

    def test_each_end_has_its_word_and_a_failing_check_is_shown_in_full(self):
        long = Check("long", [sys.executable, "-c", "print('line\\n' * 20000, 'the end'); raise SystemExit(3)"])
        self.run_all(check("good"), check("skipped", SKIP_STATUS), long)
        self.assertEqual([result.word for result in self.results.values()], ["passed", "SKIPPED", "FAILED"])
        self.assertIn("status 3", self.results["long"].reason)
        self.assertEqual(self.said.count("line\n"), 20000)
        self.assertIn("the end", self.said)

    def test_what_can_wait_comes_last_and_is_left_out_and_named_where_time_is_short(self):
        checks = [dataclasses.replace(check("spare"), can_wait=True), check("plain")]
        for minutes, word in ((10, "passed"), (0, "SKIPPED")):
            with redirect_stdout(io.StringIO()) as said:
                results = runner.run(checks, 1, minutes)
            self.assertEqual([(result.name, result.word) for result in results], [("spare", word), ("plain", "passed")])
            self.assertEqual("--- spare" in said.getvalue(), word == "passed")
            self.assertEqual(said.getvalue().rfind("--- spare") > said.getvalue().rfind("--- plain"), word == "passed")
        self.assertIn("./scripts/test --only 'spare'", results[0].reason)

    def test_what_takes_long_is_begun_early_or_left_out(self):
        long = dataclasses.replace(check("long"), until=0.5)
        with redirect_stdout(io.StringIO()):
            early, late = runner.run([long], minutes=1), runner.run([check("plain"), dataclasses.replace(long, until=1e-9, after=("plain",))], minutes=1)
        self.assertEqual([result.word for result in early], ["passed"])
        self.assertEqual([(result.name, result.word) for result in late], [("plain", "passed"), ("long", "SKIPPED")])

    def test_what_runs_alone_is_left_out_later(self):
        slow = Check("slow", ["sleep", "2"])
        checks = [slow, *(dataclasses.replace(check(name), can_wait=True, **more) for name, more in (("beside", {}), ("boots", {"alone": "it boots"})))]
        # However late a busy machine is, the first share is over behind the slow one, and the second one is not.
        for seconds, words in ((100.0, ["SKIPPED", "passed"]), (1.0, ["SKIPPED", "SKIPPED"])):
            with mock.patch.object(runner, "SHARE", 0.01), redirect_stdout(io.StringIO()):
                results = runner.run(checks, 1, seconds / 60)
            self.assertEqual([result.word for result in results], ["passed", *words])
        self.assertIn("80% of", results[2].reason)


class Catalogue(unittest.TestCase):
    def test_names_are_one_each_and_whatever_boots_runs_alone(self):
        names = [one.name for one in catalogue.CHECKS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([one.name for one in catalogue.CHECKS if "boot tests" in one.name and not one.alone], [])

    def test_checks_that_build_in_one_target_directory_hold_it(self):
        for one in catalogue.CHECKS:
            if one.command[0] == "cargo" and one.command[1] != "fmt" and "--target-dir" not in one.command:
                profile = catalogue.RELEASE if "--release" in one.command else catalogue.DEBUG
                profile = catalogue.BRIDGES if one.directory == catalogue.BRIDGE else profile
                self.assertTrue(one.alone or profile in one.holds, one.name)

    def test_nothing_waits_for_what_can_wait(self):
        can_wait = {one.name for one in catalogue.CHECKS if one.can_wait}
        self.assertEqual([one.name for one in catalogue.CHECKS if can_wait.intersection(one.after)], [])

    def test_tests_that_another_check_runs_too_run_once_and_alone_where_that_does_not_run(self):
        parts = [one for one in catalogue.CHECKS if one.within]
        self.assertEqual(len(parts), 2)
        for part in parts:
            (whole,) = [one for one in catalogue.CHECKS if one.name == part.within]
            self.assertEqual((runner.each_once([part, whole]), runner.each_once([part])), ([whole], [part]))
            package = part.command[part.command.index("--package") + 1]
            said = " ".join(whole.command)
            self.assertTrue(f"--package {package} " in f"{said} " or "--workspace" in said and f"--exclude {package} " not in said, part.name)

    def test_what_a_check_waits_for_is_there_and_comes_before_it(self):
        names = [one.name for one in catalogue.CHECKS]
        for place, one in enumerate(catalogue.CHECKS):
            self.assertEqual([name for name in one.after if name not in names[:place]], [], one.name)
