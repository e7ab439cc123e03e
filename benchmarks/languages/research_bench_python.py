#!/usr/bin/env python3
"""What Python pays for messages and nodes, beside the floor, Rust, and what others would use; named after the original HORUS's program.

    research_bench_python.py [--duration SECONDS] [--csv FILE] [--json FILE]

It needs the package horus, NumPy and msgpack: `python3 -m checks.languages.python` in scripts/ makes an environment with them, out/build/python-package.
Each figure is the median of rounds, none of which is left out, and the fastest round stands beside it. A round is long enough for the clock not to
matter, and its loop of Python is part of it: the floor is the same loop around nothing. Rows that belong together are measured in turns. Rust's rows are
those of the program languages_benchmark, built by cargo in the same run; without cargo they are left out, and the table says so.
"""

import argparse
import csv
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import horus
import msgpack
import numpy
from horus.messages import CmdVel, ImageVga, Imu, Pose2D

ROUNDS = 21
BENCHMARKS = Path(__file__).resolve().parents[1]
# What a row may take at most, in microseconds (issue 13), by its name.
LIMITS = {
    "CmdVel": 0.12, "Pose2D": 0.12, "Imu": 0.2, "CmdVel built and read": 0.3, "Pose2D built and read": 0.3, "Imu built and read": 0.5,
    "dict of 1": 0.7, "dict of 4": 1.2, "dict of 50": 10, "image to_numpy": 0.5, "image from_dlpack": 0.5, "tick of a node beyond Rust's": 0.5,
}  # fmt: skip


@dataclass
class Row:
    """Microseconds each."""

    what: str
    median: float
    fastest: float
    rounds: list
    limit: float | None = None


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--duration", type=float, default=60, help="seconds that all rounds take together, about [60]")
    options.add_argument("--csv", type=Path, help="writes the table to this file")
    options.add_argument("--json", type=Path, help="writes all rounds and the machine to this file")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="horus-bench-") as topics:
        os.environ["HORUS_SHM_DIR"] = topics
        works = {**floors(), **typed(), **dicts(), **images()}
        rows = measure(works, given.duration * 0.8)
        rows += ticks(given.duration * 0.1)
        held = ten_kilohertz(given.duration * 0.1)
    show(rows, held)
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("what", "median_us", "fastest_us", "limit_us"))
            writer.writerows((row.what, f"{row.median:.4f}", f"{row.fastest:.4f}", row.limit or "") for row in rows)
    if given.json:
        machine = {"python": sys.version, "machine": platform.platform(), "numpy": numpy.__version__, "horus": horus.__version__, "cpus": os.cpu_count()}
        given.json.write_text(json.dumps({**machine, "rows": [asdict(row) for row in rows], "10 kHz": held}, indent=1))


def measure(works, seconds):
    """The rows of functions that do something so many times, all of them in each round."""
    span = seconds / len(works) / ROUNDS
    counts = {what: calibrate(work, span) for what, work in works.items()}
    spans = {what: [] for what in works}
    for _ in range(ROUNDS):
        for what, work in works.items():
            spans[what].append(timed(work, counts[what]))
    return [row(what, rounds) for what, rounds in spans.items()]


def row(what, rounds):
    return Row(what, statistics.median(rounds), min(rounds), rounds, LIMITS.get(what))


def timed(work, times):
    before = time.perf_counter_ns()
    work(times)
    return (time.perf_counter_ns() - before) / times / 1000


def calibrate(work, span):
    times = 100
    while (each := timed(work, times) / 1e6) * times < span / 4:
        times *= 2
    return max(1, int(span / each))


def floors():
    def loop(times):
        for _ in range(times):
            pass

    def call(times):
        nothing = (0.5).conjugate  # a method in C that does nothing
        for _ in range(times):
            nothing()

    return {"floor: the loop": loop, "floor: a call of C": call}


def ends(kind, topic, **options):
    return horus.Publisher(kind, topic, **options), horus.Subscriber(kind, topic, **options)


def typed():
    fields = {CmdVel: {"forward": 0.5, "turn": 0.25}, Pose2D: {"x": 1.0, "y": 2.0, "yaw": 0.5}, Imu: {"stamp_ns": 5}}
    works = {}
    for kind, given in fields.items():
        name, field = kind.__name__, next(iter(given))
        works[name] = sends(kind, kind(**given), field, given[field])
        works[f"{name} built and read"] = builds(kind, given, field)
    return works


def sends(kind, message, field, value):
    publisher, subscriber = ends(kind, f"{kind.__name__}.sent")
    publisher.send(message)
    assert getattr(subscriber.recv(), field) == value, "a figure of what does not work is none"

    def work(times, send=publisher.send, recv=subscriber.recv):
        for _ in range(times):
            send(message)
            recv()

    return work


def builds(kind, given, field):
    """Compiled, so that arguments and field are written in the loop as in a program."""
    publisher, subscriber = ends(kind, f"{kind.__name__}.built")
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    source = f"def work(times, send=send, recv=recv):\n for _ in range(times):\n  send(Kind({arguments}))\n  recv().{field}\n"
    names = {"send": publisher.send, "recv": subscriber.recv, "Kind": kind}
    exec(source, names)
    return names["work"]


def dicts():
    works = {}
    for keys in (1, 4, 50):
        value = {"v" if keys == 1 else f"key_{number}": number + 0.5 for number in range(keys)}
        publisher, subscriber = ends(dict, f"dict.{keys}", maximum=2048)
        publisher.send(value)
        assert subscriber.recv() == value
        works[f"dict of {keys}"] = (lambda publisher, subscriber, value: lambda times: pass_value(times, publisher.send, subscriber.recv, value))(
            publisher, subscriber, value
        )
        works[f"rival: msgpack + socket, dict of {keys}"] = over_socket(value)
    return works


def pass_value(times, send, recv, value):
    for _ in range(times):
        send(value)
        recv()


def over_socket(value):
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def work(times, send=left.send, recv=right.recv, pack=msgpack.packb, unpack=msgpack.unpackb):
        for _ in range(times):
            send(pack(value))
            unpack(recv(4096))

    work.sockets = left, right  # they live as long as the work
    return work


def images():
    publisher, subscriber = ends(ImageVga, "camera", latest=4)
    with publisher.loan() as image:
        image.begin(640, 480)[:] = 7
    image, pixels = subscriber.borrow(), numpy.full((480, 640, 3), 7, numpy.uint8)
    assert image.to_numpy().sum() == numpy.from_dlpack(image).sum() == pixels.sum()

    def to_numpy(times):
        for _ in range(times):
            image.to_numpy()

    def from_dlpack(times, take=numpy.from_dlpack):
        for _ in range(times):
            take(image)

    def own(times, take=numpy.from_dlpack):
        for _ in range(times):
            take(pixels)

    def copies(times, copy=numpy.copy):
        for _ in range(times):
            copy(pixels)

    return {"image to_numpy": to_numpy, "image from_dlpack": from_dlpack, "floor: from_dlpack of an array of NumPy": own, "rival: np.copy of the image": copies}


def ticks(seconds):
    """A tick of a node is what a longer run costs more; Rust's in the same run, beside it."""

    def run(releases):
        app = horus.App("benchmark", [])
        app.node(period="1 ms")(lambda cycle: None)
        before = time.perf_counter_ns()
        app._run_in_place(releases)
        return (time.perf_counter_ns() - before) / 1000

    releases = max(1000, int(seconds / ROUNDS / 2e-6 / 4))
    own = row("tick of a node", [(run(3 * releases) - run(releases)) / (2 * releases) for _ in range(ROUNDS)])
    rust = rust_rows()
    found = next((row for row in rust if row.what == "Rust: tick of 1 node"), None)
    beyond = row("tick of a node beyond Rust's", [each - found.median for each in own.rounds]) if found else None
    return [*rust, own, *([beyond] if beyond else [])]


def rust_rows():
    """The rows of languages_benchmark."""
    if not shutil.which("cargo"):
        print("Rust's rows are left out: there is no cargo", file=sys.stderr)
        return []
    command = ["cargo", "run", "--quiet", "--locked", "--release", "--bin", "languages_benchmark", "--", "--csv"]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    lines = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return [Row(f"Rust: {what}", float(median) / 1000, float(fastest) / 1000, []) for what, median, fastest in lines]


def ten_kilohertz(seconds):
    """A node at 10 kHz on the machine's clock."""
    releases, cycles = int(10_000 * max(seconds, 1)), []
    app = horus.App("benchmark-10khz", [])
    app.node("fast", period="100 us", policy="fifo:10" if os.geteuid() == 0 else None)(lambda cycle: cycles.append((cycle.release_ns, cycle.wake_ns)))
    app.releases(releases)
    app.run()
    seconds = (cycles[-1][0] - cycles[0][0]) / 1e9
    late = sorted(wake - release for release, wake in cycles)
    return {
        "releases": releases, "served": len(cycles), "per second": (len(cycles) - 1) / seconds,
        "wake-up median us": late[len(late) // 2] / 1000, "wake-up p99.9 us": late[len(late) * 999 // 1000] / 1000,
    }  # fmt: skip


def show(rows, held):
    floor = rows[0].median
    print(f"{'what':<44}{'median us':>10}{'fastest':>10}{'/ loop':>9}{'at most':>9}  holds")
    for each in rows:
        holds = "" if each.limit is None else "yes" if each.median <= each.limit else f"no: {each.median / each.limit:.2f} times"
        limit = "" if each.limit is None else f"{each.limit:g}"
        print(f"{each.what:<44}{each.median:>10.3f}{each.fastest:>10.3f}{each.median / floor:>9.1f}{limit:>9}  {holds}")
    print("10 kHz: " + ", ".join(f"{name} {value:.6g}" for name, value in held.items()))


if __name__ == "__main__":
    main()
