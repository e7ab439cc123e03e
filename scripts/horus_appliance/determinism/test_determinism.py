"""What boots measured becomes a summary, tables, a picture and a decision; each decision is shown to fail."""

import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from horus_appliance.console import ApplianceFailed
from horus_appliance.determinism import arms, cost, gate, isolation, plot, table
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY, SCRIPTS

LINES = """
cpu: 1
seconds: 10.02
interrupt 5 25
interrupt 900 LOC
interrupt 7 RES
interrupt 2 TLB
timer 40 tick_nohz_handler
timer 1000 hrtimer_wakeup
thread 2000 idle swapper/1
thread 1000 node pong
thread 12 kernel ktimers/1
thread 3 ended kworker/1:2
work 4 vmstat_update
""".split("\n")


def boot(kernel: str, tuning: str, seed: int, worst: int, misses: int = 0, **more) -> dict:
    """A boot as it is kept, with invented figures."""
    phase = {"deadline_ns": 800_000, "samples": 2700, "misses": misses, "p50_ns": 13_900, "p99_ns": 17_000 + seed, "p999_ns": None, "max_ns": worst, "histogram": [[worst, 2700]]}
    phases = {"node-quiet": {**phase, "max_ns": 13_600}, "node-load": phase, "cyclictest-load": {**phase, "max_ns": 9_000}}
    reasons = [] if kernel == "rt" else ["the kernel is not PREEMPT_RT"]
    return {
        "kernel": kernel, "tuning": tuning, "seed": seed, "seconds": 10, "release": "6.12.117+deb13-amd64", "valid": not reasons, "invalid_reasons": reasons,
        "audit_score": 87, "boot_instructions": 11_900_000_000 + seed, "rates": {"1 kHz": phases}, **more,
    }  # fmt: skip


BOOTS = [
    boot("rt", "tuned", 1, 20_200), boot("rt", "tuned", 2, 21_800), boot("rt", "tuned", 3, 20_900), boot("rt", "untuned", 1, 20_400),
    boot("stock", "tuned", 1, 2_124_000, 139), boot("stock", "tuned", 2, 2_200_000, 120), boot("stock", "untuned", 1, 2_136_000, 140),
]  # fmt: skip


class Summary(unittest.TestCase):
    def test_each_arm_has_the_worst_of_all_its_boots_with_median_and_range(self):
        entries = {(entry["kernel"], entry["tuning"]): entry for entry in arms.summary(BOOTS)}
        tuned = entries["rt", "tuned"]
        self.assertEqual((tuned["max_ns"], tuned["max_ns_median"], tuned["max_ns_range"]), (21_800, 20_900, [20_200, 21_800]))
        self.assertEqual((tuned["boots"], tuned["samples"], tuned["misses"], tuned["p99_ns"]), (3, 8100, 0, 17_002))
        self.assertEqual(entries["stock", "tuned"]["misses"], 259)
        self.assertEqual(len(entries), 4)

    def test_a_phase_that_was_not_measured_is_left_out(self):
        phase = {name: 1 for name in ("deadline_ns", "samples", "misses", "p50_ns", "p99_ns", "p999_ns", "max_ns")} | {"histogram": [], "measured": True, "period_ns": 100_000}
        report = {
            "kernel": "6.12.117+deb13-rt-amd64 #1 SMP PREEMPT_RT", "valid": True, "invalid_reasons": [], "audit": {"score": 87},
            "phases": [{**phase, "name": "node-load"}, {"name": "message-load", "measured": False}],
        }  # fmt: skip
        slower = {**report, "phases": [{**phase, "name": "node-load", "period_ns": 1_000_000}]}
        found = arms.figures(arms.ARMS["rt-tuned"], 1, 10, [slower, report], 11_900_000_000)
        self.assertEqual({rate: list(phases) for rate, phases in found["rates"].items()}, {"1 kHz": ["node-load"], "10 kHz": ["node-load"]})
        self.assertEqual((found["release"], found["boot_instructions"]), ("6.12.117+deb13-rt-amd64", 11_900_000_000))

    def test_a_boot_that_did_not_measure_says_why(self):
        unmeasured = {"name": "node-load", "measured": False, "period_ns": None}
        report = {"phases": [{"name": "node-quiet", "measured": True, "period_ns": 1_000_000}, unmeasured], "invalid_reasons": ["load: stress-ng is not installed"]}
        for found, words in (([report], "stress-ng is not installed"), ([], "no report")):
            with self.assertRaisesRegex(ApplianceFailed, words):
                arms.figures(arms.ARMS["rt-tuned"], 1, 10, found, 11_900_000_000)

    def test_kernels_of_one_source_have_one_version(self):
        versions = {arms.source_version(release) for release in ("6.12.117+deb13-rt-amd64", "6.12.117+deb13-amd64")}
        self.assertEqual(versions, {"6.12.117+deb13"})


class Reports(InDirectory):
    def test_reports_that_came_one_after_the_other_are_told_apart(self):
        path = self.write("horus.report", '{"phases": 1}\n{"phases": 2}\n')
        self.assertEqual(arms.reports(path), [{"phases": 1}, {"phases": 2}])


class Isolation(unittest.TestCase):
    def test_nodes_and_the_idle_cpu_are_not_foreign(self):
        found = isolation.tally(LINES)
        self.assertEqual((found["cpu"], found["seconds"]), (1, 10.02))
        self.assertEqual([found["counts"][kind] for kind in isolation.COUNTS], [5, 9, 40, 0, 15, 4])
        self.assertEqual(gate.isolation(found), [])

    def test_a_foreign_program_is_found_by_name(self):
        for line in ("thread 1 program stress-ng-cpu", "thread 1 ended sed"):
            (finding,) = gate.isolation(isolation.tally([*LINES, line]))
            self.assertIn(line.split()[-1], finding)


class BootCost(unittest.TestCase):
    def test_what_the_cpu_waited_is_no_cost(self):
        said = {"MESSAGE": "boot cost: 13.67 cpu0 410 0 700 150 42 0 60 0 0 0"}
        self.assertEqual(cost.instructions([{"MESSAGE": "another"}, said]), 11_750_000_000)
        self.assertIsNone(cost.instructions([{"MESSAGE": "another"}]))


class Gate(unittest.TestCase):
    def test_real_time_beside_usual_kernel_passes(self):
        self.assertEqual(gate.findings(arms.summary(BOOTS)), [])

    def test_each_fault_is_found(self):
        stock = boot("stock", "tuned", 1, 2_124_000, 139)
        for boots, words in (
            ([boot("rt", "tuned", 1, 212_401), stock], "less than 10 times"),
            ([boot("rt", "tuned", 1, 20_200, misses=1), stock], "missed 1 of 2700"),
            ([boot("rt", "tuned", 1, 20_200, valid=False, invalid_reasons=["the meter is blind"]), stock], "the meter is blind"),
        ):
            with self.subTest(words):
                self.assertIn(words, "\n".join(gate.findings(arms.summary(boots))))

    def test_a_boot_that_costs_a_twentieth_more_is_noticed(self):
        self.assertEqual(gate.boot_cost(12_500_000_000, 11_920_000_000), [])
        self.assertIn("5.7% more", "".join(gate.boot_cost(12_600_000_000, 11_920_000_000)))
        self.assertEqual(gate.boot_cost(None, 11_920_000_000), ["the boot did not say what it cost"])


class Shown(unittest.TestCase):
    def test_runs_that_are_not_valid_for_want_of_a_real_time_kernel_are_tabled_and_marked(self):
        lines = table.arms(arms.summary(BOOTS)).splitlines()
        self.assertIn("20.9 (20.2 to 21.8)", lines[2])
        self.assertTrue(lines[2].endswith("yes") and lines[4].startswith("stock, tuned") and lines[4].endswith(table.NOT_REAL_TIME))
        self.assertIn("259 of 5400", lines[4])
        broken = arms.summary([boot("rt", "tuned", 1, 20_200, valid=False, invalid_reasons=["the meter is blind"])])
        self.assertTrue(table.arms(broken).endswith("NO"))

    def test_counts_are_told_a_second(self):
        text = table.reach([{"tuning": "tuned", "cpus": 2, **isolation.tally([*LINES, "thread 501 program sh"])}])
        self.assertRegex(text, r"switches to foreign programs +50\.0\n")

    def test_the_picture_is_well_formed_and_says_itself_in_words(self):
        root = xml.etree.ElementTree.fromstring(plot.draw(arms.summary(BOOTS)))
        said = " ".join("".join(element.itertext()) for element in root.iter())
        self.assertIn("21.8 µs, no deadline missed", said)
        self.assertIn("2.2 ms, 4.8 % of deadlines missed", said)
        self.assertIn("worst 21.8 us, 0 of 8100 deadlines missed", root.get("aria-label"))
        dots = [float(element.get("cx")) for element in root.iter() if element.tag.endswith("circle")]
        self.assertEqual(len(dots), len(BOOTS))
        self.assertLess(max(dots), 860)


class Command(InDirectory):
    def run_script(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, SCRIPTS / "determinism", "--runs", "0", *arguments], capture_output=True, text=True, check=False, cwd=self.root)

    def test_finished_figures_are_shown_and_drawn_without_a_boot(self):
        self.write("figures.json", json.dumps({"schema": "horus-arms/1", "arms": [], "isolation": [], "boots": BOOTS}))
        done = self.run_script("--json", "figures.json", "--plot", "arms.svg")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("rt, tuned", done.stdout)
        written = json.loads((self.root / "figures.json").read_text())
        self.assertEqual([entry["max_ns"] for entry in written["arms"]], [21_800, 20_400, 2_200_000, 2_136_000])
        self.assertTrue((self.root / "arms.svg").is_file())

    def test_what_is_no_file_of_figures_is_refused_and_kept(self):
        for text in ("no JSON", "[]", '{"schema": "horus-report/2"}'):
            self.write("figures.json", text)
            done = self.run_script("--json", "figures.json")
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("Name another file", done.stderr)
            self.assertEqual((self.root / "figures.json").read_text(), text)

    def test_kernels_of_different_versions_are_not_compared(self):
        other = boot("stock", "tuned", 1, 2_124_000, release="6.12.120+deb13-amd64")
        self.write("figures.json", json.dumps({"schema": "horus-arms/1", "arms": [], "isolation": [], "boots": [*BOOTS, other]}))
        done = self.run_script("--json", "figures.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("different versions", done.stderr)


class Committed(unittest.TestCase):
    figures = REPOSITORY / "docs/data/determinism/arms.json"

    def test_the_picture_of_the_readme_is_that_of_the_committed_figures(self):
        data = json.loads(self.figures.read_text())
        self.assertEqual(data["arms"], json.loads(json.dumps(arms.summary(data["boots"]))))
        self.assertEqual((REPOSITORY / "docs/determinism.svg").read_text(), plot.draw(data["arms"]))

    def test_the_committed_figures_pass_the_gate(self):
        data = json.loads(self.figures.read_text())
        self.assertEqual(len(data["arms"]), len(arms.ARMS))
        self.assertEqual(gate.findings(data["arms"]), [])
        foreign = {counted["tuning"]: bool(gate.isolation(counted)) for counted in data["isolation"]}
        self.assertEqual(foreign, {"tuned": False, "untuned": True})
