#!/usr/bin/env python3
"""What Python pays for messages and nodes, beside the floor, Rust, what others would use, and what the original HORUS publishes for its program of this name.

    research_bench_python.py [--duration SECONDS | --quick] [--csv FILE] [--json FILE]

It needs the package horus, NumPy, msgpack and iceoryx2: `python3 -m checks.languages.python` in scripts/ makes an environment with them, out/build/python-package.
Each figure is the median of many short rounds, none of which is left out, and the fastest round stands beside it. All rows are measured in turns.
p95, p99 and p99.9 are of single calls, which the clock's own cost was taken off; messages a second are those of the median.
What the original publishes was measured on another machine: only the ratio to a floor of the same run says something of this code.
Rust's rows are those of the program languages_benchmark, built by cargo in the same run; without cargo they are left out, and the table says so.
"""

import argparse
import csv
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import horus
import numpy
import python_works

ROUNDS = 201
QUICK_SECONDS = 6
BENCHMARKS = Path(__file__).resolve().parents[1]
SINGLE_CALLS = 100  # in each round
# Of the original, and what ours may take at most, in microseconds and in ticks a second.
TICK, ORIGINAL_TICK, LIMIT_TICK = "Per-tick overhead (beyond Rust's)", 11, 0.5
RATE, ORIGINAL_RATE = 10_000, 5_932
AT_RATE = "node at 10 kHz, a served release"
# It holds the rate when it serves 99 of 100 releases, on a machine that is not tuned.
LIMIT_RATE = 1e6 / (0.99 * RATE)
# The original's table "FFI Overhead Attribution": what its Python takes beyond its Rust. Ours is compared with one row of Rust's for all, as there.
FFI_RUST = "Rust: send and receive 16 B"
FFI = (("CmdVel", "CmdVel send+recv", 1.698), ("Pose2D", "Pose2D send+recv", 1.668), ("Imu", "Imu send+recv", 1.870), ("dict (small)", "dict {v: 1.0}", 6.232))


@dataclass
class Row:
    """Microseconds each."""

    what: str
    median: float
    fastest: float
    original: float | None = None
    limit: float | None = None
    rounds: list = field(default_factory=list)
    singles: list = field(default_factory=list)
    rival: float | None = None
    served: int | None = None
    asked: int | None = None

    def percentile(self, of):
        return self.singles[min(int(len(self.singles) * of), len(self.singles) - 1)] if self.singles else None

    def cells(self):
        """Of a row in the CSV file: what is not measured is empty."""
        ratios = (self.original and self.original / self.median, self.rival and self.rival / self.median)
        beside = (*(self.percentile(of) for of in (0.95, 0.99, 0.999)), 1e6 / self.median if self.singles else None, *ratios, self.served, self.asked)
        own = (self.what, self.original or "", f"{self.median:.4f}", f"{self.fastest:.4f}", f"{self.limit:g}" if self.limit else "")
        return (*own, *("" if value is None else f"{value:.4f}" if isinstance(value, float) else value for value in beside))


# The first five are read by the program `tables`.
COLUMNS = ("what", "original_us", "median_us", "fastest_us", "limit_us", "p95_us", "p99_us", "p999_us", "messages_per_second", "original_over_ours",
           "rival_over_ours", "served", "asked")  # fmt: skip


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--duration", type=float, default=60, help="seconds that all rounds take together, about [60]")
    options.add_argument("--quick", action="store_true", help=f"--duration {QUICK_SECONDS}")
    options.add_argument("--csv", type=Path, help="writes the table to this file")
    options.add_argument("--json", type=Path, help="writes all rounds and the machine to this file")
    given = options.parse_args()
    seconds = QUICK_SECONDS if given.quick else given.duration
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="horus-bench-") as topics:
        os.environ["HORUS_SHM_DIR"] = topics
        rows = measure(python_works.all_works(), seconds * 0.8)
        rivals(rows)
        rows += ticks(seconds * 0.1)
        rows += attribution(rows)
        achieved, held = at_ten_kilohertz(seconds * 0.1)
        rows.append(held)
    show(rows, achieved)
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(row.cells() for row in rows)
    if given.json:
        machine = {"python": sys.version, "machine": platform.platform(), "cpu": cpu(), "cpus": os.cpu_count(), "load": os.getloadavg()}
        made = {"numpy": numpy.__version__, "horus": horus.__version__}
        given.json.write_text(json.dumps({**machine, **made, "rows": [{**asdict(row), "singles": []} for row in rows], "Scheduler tick overhead": achieved}, indent=1) + "\n")


def cpu():
    found = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return found[0] if found else platform.machine()


def measure(works, seconds):
    """Each work once in each round."""
    span = seconds / len(works) / ROUNDS
    counts = [calibrate(work.does, span) for work in works]
    spans, singles = [[] for _ in works], [[] for _ in works]
    for _ in range(ROUNDS):
        for place, work in enumerate(works):
            spans[place].append(timed(work.does, counts[place]))
            singles[place] += [timed(work.does, 1) for _ in range(SINGLE_CALLS)]
    rows = [row(work.what, rounds, work.original, work.limit) for work, rounds in zip(works, spans, strict=True)]
    clock = statistics.median(singles[next(place for place, work in enumerate(works) if work.what == python_works.FLOOR_LOOP)])
    for each, found in zip(rows, singles, strict=True):
        if not each.what.startswith("floor"):
            each.singles = sorted(max(single - clock, 0.0) for single in found)
    return rows


def row(what, rounds, original=None, limit=None):
    return Row(what, statistics.median(rounds), min(rounds), original, limit, rounds)


def rivals(rows):
    """What a rival takes for the same stands with ours."""
    medians = {each.what: each.median for each in rows}
    for each in rows:
        names = (f"rival: iceoryx2, {each.what}", f"rival: iceoryx2, {each.what.replace(' send+recv, built', ', built')}", f"rival: msgpack + socket, {each.what}")
        if each.what.endswith("(640x480)"):
            names = (python_works.COPY,)
        each.rival = next((medians[name] for name in names if name in medians), None)


def attribution(rows):
    """The original's "FFI Overhead Attribution", by its names."""
    found = {each.what: each for each in rows}
    rust = found.get(FFI_RUST)
    if rust is None:
        return []
    return [
        Row(f"FFI overhead: {name}", found[what].median - rust.median, found[what].fastest - rust.fastest, original)
        for name, what, original in FFI
    ]  # fmt: skip


def timed(work, times):
    before = time.perf_counter_ns()
    work(times)
    return (time.perf_counter_ns() - before) / times / 1000


def calibrate(work, span):
    times = 100
    while (each := timed(work, times) / 1e6) * times < span / 4:
        times *= 2
    return max(1, int(span / each))


def ticks(seconds):
    """A tick of a node is what a longer run costs more; Rust's in the same run, beside it."""

    def run(releases):
        app = horus.App("benchmark", [])
        app.node(period="1 ms")(lambda cycle: None)
        before = time.perf_counter_ns()
        app._run_in_place(releases)
        return (time.perf_counter_ns() - before) / 1000

    rounds = ROUNDS // 4
    releases = max(1000, int(seconds / rounds / 2e-6 / 4))
    both = [(run(3 * releases), run(releases)) for _ in range(rounds)]
    own = row("tick of a node", [(long - short) / (2 * releases) for long, short in both])
    # The fastest difference is that of a disturbed short run: the fastest runs are taken, each of its kind.
    own.fastest = (min(long for long, _ in both) - min(short for _, short in both)) / (2 * releases)
    rust = rust_rows()
    found = next((row for row in rust if row.what == "Rust: tick of 1 node"), None)
    if found is None:
        return [own]
    beyond = Row(TICK, own.median - found.median, own.fastest - found.fastest, ORIGINAL_TICK, LIMIT_TICK)
    return [*rust, own, beyond]


def rust_rows():
    """The rows of languages_benchmark."""
    if not shutil.which("cargo"):
        print("Rust's rows are left out: there is no cargo", file=sys.stderr)
        return []
    command = ["cargo", "run", "--quiet", "--locked", "--release", "--bin", "languages_benchmark", "--", "--csv"]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    lines = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return [Row(f"Rust: {what}", float(median) / 1000, float(fastest) / 1000) for what, median, fastest in lines]


def at_ten_kilohertz(seconds):
    """A node on the machine's clock, at the rate that the original was asked for."""
    releases, cycles = int(RATE * max(seconds, 1)), []
    app = horus.App("benchmark-10khz", [])
    app.node("fast", rate=RATE, scheduling_policy="fifo:10" if os.geteuid() == 0 else None)(lambda cycle: cycles.append((cycle.release_ns, cycle.wake_ns)))
    app.releases(releases)
    app.run()
    seconds = (cycles[-1][0] - cycles[0][0]) / 1e9
    late = sorted(wake - release for release, wake in cycles)
    # The original's "GC dip": ticks that the worst second lacks. Of whole seconds only.
    each_second = Counter(int((release - cycles[0][0]) / 1e9) for release, _ in cycles)
    each_second.pop(max(each_second), None)
    account = {
        "Target rate": RATE, "Achieved rate": (len(cycles) - 1) / seconds, "original's": ORIGINAL_RATE, "releases": releases, "served": len(cycles),
        "wake-up median us": late[len(late) // 2] / 1000, "wake-up p99.9 us": late[len(late) * 999 // 1000] / 1000,
        "GC dip (worst second)": RATE - min(each_second.values(), default=RATE),
    }  # fmt: skip
    # By all that were asked for, the first one's time to the last one's.
    each = releases / RATE / len(cycles) * 1e6
    fastest = 1e6 / max(each_second.values(), default=len(cycles) / (releases / RATE))
    return account, Row(AT_RATE, each, fastest, round(1e6 / ORIGINAL_RATE, 1), LIMIT_RATE, served=len(cycles), asked=releases)


def show(rows, achieved):
    """Beside each figure: how many empty calls it is, its percentiles, how many times faster than the original's and the rival's, and whether it is within its limit."""
    call = next(row.median for row in rows if row.what == python_works.FLOOR_CALL)
    print(f"{'microseconds':<46}{'median':>9}{'fastest':>9}{'p95':>8}{'p99':>8}{'p999':>9}{'msg/s':>9}{'calls':>7}{'original':>10}{'times':>7}{'rival':>7}{'at most':>9}  holds")
    for each in rows:
        percentiles = [each.percentile(of) for of in (0.95, 0.99, 0.999)]
        spread = "".join(" " * width if value is None else f"{value:>{width}.2f}" for value, width in zip(percentiles, (8, 8, 9), strict=True))
        rate = f"{1e6 / each.median / 1000:>8.0f}K" if each.singles else " " * 9
        original = f"{each.original:>10.4g}{each.original / each.median:>7.1f}" if each.original else " " * 17
        rival = f"{each.rival / each.median:>7.1f}" if each.rival else " " * 7
        holds = "" if each.limit is None else f"{each.limit:>9.4g}  " + ("yes" if each.median <= each.limit else f"no: {each.median / each.limit:.2f} times")
        print(f"{each.what:<46}{each.median:>9.3f}{each.fastest:>9.3f}{spread}{rate}{each.median / call:>7.1f}{original}{rival}{holds}")
    print("Scheduler tick overhead: " + ", ".join(f"{name} {value:.6g}" for name, value in achieved.items()))


if __name__ == "__main__":
    main()
