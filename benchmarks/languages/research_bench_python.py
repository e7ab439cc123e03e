#!/usr/bin/env python3
"""What Python pays for messages and nodes, beside the floor, Rust, what others would use, and what the original HORUS publishes for its program of this name.

    research_bench_python.py [--duration SECONDS | --quick] [--csv FILE] [--json FILE]

It needs the package horus, NumPy, msgpack and iceoryx2: `python3 -m checks.languages.python` in scripts/ makes an environment with them, out/build/python-package.
Each figure is the median of many short rounds, none of which is left out, and the fastest round stands beside it. All rows are measured in turns.
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
from dataclasses import asdict, dataclass, field
from pathlib import Path

import horus
import numpy
import python_works

ROUNDS = 201
QUICK_SECONDS = 6
BENCHMARKS = Path(__file__).resolve().parents[1]
# Of the original, and what ours may take at most, in microseconds and in ticks a second.
TICK, ORIGINAL_TICK, LIMIT_TICK = "Per-tick overhead (beyond Rust's)", 11, 0.5
RATE, ORIGINAL_RATE = 10_000, 5_932


@dataclass
class Row:
    """Microseconds each."""

    what: str
    median: float
    fastest: float
    original: float | None = None
    limit: float | None = None
    rounds: list = field(default_factory=list)


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
        rows += ticks(seconds * 0.1)
        achieved = at_ten_kilohertz(seconds * 0.1)
    show(rows, achieved)
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("what", "original_us", "median_us", "fastest_us", "limit_us"))
            writer.writerows((row.what, row.original or "", f"{row.median:.4f}", f"{row.fastest:.4f}", row.limit or "") for row in rows)
    if given.json:
        machine = {"python": sys.version, "machine": platform.platform(), "cpu": cpu(), "cpus": os.cpu_count(), "load": os.getloadavg()}
        made = {"numpy": numpy.__version__, "horus": horus.__version__}
        given.json.write_text(json.dumps({**machine, **made, "rows": [asdict(row) for row in rows], "10 kHz": achieved}, indent=1) + "\n")


def cpu():
    found = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return found[0] if found else platform.machine()


def measure(works, seconds):
    """Each work once in each round."""
    span = seconds / len(works) / ROUNDS
    counts = [calibrate(work.does, span) for work in works]
    spans = [[] for _ in works]
    for _ in range(ROUNDS):
        for place, work in enumerate(works):
            spans[place].append(timed(work.does, counts[place]))
    return [row(work.what, rounds, work.original, work.limit) for work, rounds in zip(works, spans, strict=True)]


def row(what, rounds, original=None, limit=None):
    return Row(what, statistics.median(rounds), min(rounds), original, limit, rounds)


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
    app.node("fast", rate=RATE, policy="fifo:10" if os.geteuid() == 0 else None)(lambda cycle: cycles.append((cycle.release_ns, cycle.wake_ns)))
    app.releases(releases)
    app.run()
    seconds = (cycles[-1][0] - cycles[0][0]) / 1e9
    late = sorted(wake - release for release, wake in cycles)
    return {
        "Target rate": RATE, "Achieved rate": (len(cycles) - 1) / seconds, "original's": ORIGINAL_RATE, "releases": releases, "served": len(cycles),
        "wake-up median us": late[len(late) // 2] / 1000, "wake-up p99.9 us": late[len(late) * 999 // 1000] / 1000,
    }  # fmt: skip


def show(rows, achieved):
    """Beside each figure: how many empty calls it is, how many times faster than the original's, and whether it is within its limit."""
    call = next(row.median for row in rows if row.what == python_works.FLOOR_CALL)
    print(f"{'microseconds':<46}{'median':>9}{'fastest':>9}{'calls':>7}{'original':>10}{'times':>7}{'at most':>9}  holds")
    for each in rows:
        original = f"{each.original:>10g}{each.original / each.median:>7.1f}" if each.original else " " * 17
        holds = "" if each.limit is None else f"{each.limit:>9g}  " + ("yes" if each.median <= each.limit else f"no: {each.median / each.limit:.2f} times")
        print(f"{each.what:<46}{each.median:>9.3f}{each.fastest:>9.3f}{each.median / call:>7.1f}{original}{holds}")
    print("a node at 10 kHz: " + ", ".join(f"{name} {value:.6g}" for name, value in achieved.items()))


if __name__ == "__main__":
    main()
