#!/usr/bin/env python3
"""Makes one Markdown document of the result files in a directory: the table, what it was measured on, the targets.

Usage: table.py DIRECTORY, which holds the JSON files (schema horus-bench/1) that the benchmarks' --out writes.
Exit status: 0, or 1 when there is no result or one of another schema.
"""

import itertools
import json
import pathlib
import sys

SCHEMA = "horus-bench/1"
# Floors that differ by more are of two different machines (benchmarks/src/floor.rs).
TOLERANCE = 0.15
PATHS = ["same-thread"] + [f"{kind}-{ends}" for kind in ("thread", "process") for ends in ("1:1", "1:N", "N:1", "N:N")]
COLUMNS = [
    "path", "message", "bytes", "ends", "system", "floor", "p50", "p50 / floor", "p99", "p99.9", "p99.99", "max",
    "per second", "lost", "corrupt",
]  # fmt: skip


def nanoseconds(value):
    return "-" if value is None else f"{value:.1f}" if value < 100 else f"{value:,.0f}".replace(",", " ")


def rate(value):
    if value is None:
        return "-"
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.1f} k" if value >= 1e3 else f"{value:.0f}"


def floor(cell):
    return (cell["floor_before_ns"] + cell["floor_after_ns"]) / 2


def kind(cell):
    unit = cell.get("unit", "one way")
    return ", ".join(part for part in (cell.get("message"), unit if unit != "one way" else None) if part)


def row(cell):
    steady = "" if cell.get("steady", True) else "*"
    ratio = cell["p50_over_floor"]
    return [
        cell["path"], kind(cell), str(cell["bytes"]), f"{cell.get('publishers', 1)}:{cell.get('subscribers', 1)}",
        f"**{cell['system']}**" if cell["system"] == "horus" else cell["system"], steady + nanoseconds(floor(cell)),
        nanoseconds(cell["p50_ns"]), "-" if ratio is None else f"{ratio:.2f}",
        *(nanoseconds(cell[name]) for name in ("p99_ns", "p999_ns", "p9999_ns", "max_ns")),
        rate(cell["per_second"]), str(cell["lost"]), str(cell["corrupt"]),
    ]  # fmt: skip


def order(cell):
    return (
        PATHS.index(cell["path"]) if cell["path"] in PATHS else len(PATHS),
        kind(cell), cell["bytes"], cell.get("publishers", 1), cell.get("subscribers", 1), cell["system"] != "horus",
        cell["system"],
    )  # fmt: skip


class Cells:
    """All cells, and what the targets ask of them."""

    def __init__(self, cells):
        self.cells = cells

    def fits(self, path, size, system="horus", message=None, unit="one way", field="p50_ns"):
        return [
            cell for cell in self.cells
            if cell.get("loop") != "seed" and cell[field] is not None and (cell["path"], cell["bytes"], cell["system"]) == (path, size, system)
            and cell.get("message") == message and cell.get("unit", "one way") == unit
            and cell.get("publishers", 1) == cell.get("subscribers", 1) == 1
        ]  # fmt: skip

    def find(self, *where, **more):
        fits = self.fits(*where, **more)
        # Several programs measure the same: the one that is about it goes first, then the one with the steadier floor.
        moved = lambda cell: abs(cell["floor_before_ns"] - cell["floor_after_ns"]) / floor(cell)
        return min(fits, key=lambda cell: (cell["benchmark"] != "cross_process_benchmark", moved(cell)), default=None)

    def ratio(self, field, *where, **more):
        cell = self.find(*where, field=field, **more)
        return cell[field] / floor(cell) if cell else None

    def over_lines(self, size, lines):
        """The median of HORUS divided by that of the cache lines alone that such a message fills."""
        return nearest_ratio("p50_ns", self.fits("process-1:1", size), self.fits("thread-1:1", lines * 64, "lines each way"))

    def value(self, field, *where, **more):
        cell = self.find(*where, field=field, **more)
        return cell and cell[field]

    def against(self, field, mine, *rival, **more):
        """HORUS's figure on path `mine` divided by the rival's."""
        own = self.fits(mine, rival[1], field=field, **more)
        return nearest_ratio(field, own, self.fits(*rival, field=field, **more))


def nearest_ratio(field, own, others):
    """One figure divided by the other, of the two cells whose floors differ least: with different floors they were measured
    on two machines, so to say. None if those differ by more than 15 %."""
    apart = lambda pair: abs(floor(pair[0]) - floor(pair[1])) / min(floor(pair[0]), floor(pair[1]))
    nearest = min(itertools.product(own, others), key=apart, default=None)
    return nearest[0][field] / nearest[1][field] if nearest and apart(nearest) <= TOLERANCE else None


def targets(cells):
    """Rows of (figure, comparison, target, measured)."""
    process, thread = "process-1:1", "thread-1:1"
    yield "process-1:1, 16 B, p50 / floor", "<=", 1.05, cells.ratio("p50_ns", process, 16)
    yield "process-1:1, 16 B, p99.9 / floor", "<=", 2.0, cells.ratio("p999_ns", process, 16)
    for path in (thread, process):
        yield f"{path}, 304 B, p50 / floor", "<=", 1.4, cells.ratio("p50_ns", path, 304)
        yield f"{path}, 1480 B, p50 / floor", "<=", 1.9, cells.ratio("p50_ns", path, 1480)
    for size, lines in ((16, 1), (304, 5), (1480, 24), (65536, 1024)):
        yield f"process-1:1, {size} B, p50 / nothing but {lines} cache lines each way", "", None, cells.over_lines(size, lines)
    in_place = cells.ratio("p50_ns", process, 65536, message="in place")
    yield "process-1:1, 64 KiB in place, header touched, p50 / floor", "<=", 1.3, in_place
    one_thread = cells.value("p50_ns", "same-thread", 16, unit="send + receive")
    yield "same thread, 16 B, send + receive, ns", "<=", 12, one_thread
    for size in (16, 304, 1480):
        for path, rival in ((process, "aeron-ipc"), (thread, "rtrb")):
            # The target is HORUS between processes, also where the rival only knows threads.
            yield f"process-1:1, {size} B, messages a second / {rival}'s", ">=", 1.0, cells.against(
                "per_second", process, path, size, rival
            )
        iceoryx2 = cells.against("per_second", process, process, size, "iceoryx2")
        yield f"process-1:1, {size} B, messages a second / iceoryx2's", ">=", 10.0, iceoryx2
    wake = cells.against("p50_ns", thread, thread, 16, "raw futex", message="asleep")
    yield "wake-up of a sleeper between threads, p50 / raw futex", "<=", 1.1, wake


def verdict(comparison, target, measured):
    if measured is None:
        return "not measured"
    if target is None:
        return "for comparison"
    return "met" if (measured <= target if comparison == "<=" else measured >= target) else "**missed**"


def line(fields):
    return "| " + " | ".join(fields) + " |"


def document(reports):
    host = reports[0]["host"]
    machine = "virtual machine" if host["virtual"] else "machine"
    print(f"# Benchmarks on {host['host']}, {host['date']}\n")
    print(f"{machine.capitalize()}, {host['cpu_model']}, {host['cpus_online']} CPUs online, CPUs {host['cpus']} used,")
    print(f"governor {host['governor']}, clock {host['clock_source']}, load before {host['load']};")
    print(f"kernel {host['kernel']}; commit {host['commit']}{'; --quick' if host['quick'] else ''}.\n")
    print("Times are nanoseconds, one way unless the message column says otherwise; busy waiting unless it says asleep.")
    print("The floor is one cache line between the same two CPUs; `*`: it moved by more than 15 % in all attempts. Where two systems\nare compared below, it is at the nearest floors; \"not measured\" where those differ by more than 15 %.")
    print("`-`: not measured, or fewer than ten samples beyond the quantile.\n")
    cells = [cell | {"benchmark": report["benchmark"]} for report in reports for cell in report["cells"]]
    cells.sort(key=order)
    print(line(COLUMNS))
    print(line(["---"] * 5 + ["---:"] * (len(COLUMNS) - 5)))
    for cell in cells:
        print(line(row(cell)))
    print("\n## Targets\n")
    print(line(["figure", "target", "measured", ""]))
    print(line(["---", "---:", "---:", "---"]))
    for figure, comparison, target, measured in targets(Cells(cells)):
        shown = "-" if measured is None else f"{measured:.2f}"
        print(line([figure, f"{comparison} {target or '-'}".strip(), shown, verdict(comparison, target, measured)]))
    print("\n## Remarks\n")
    notes = {}
    for cell in cells:
        if cell.get("note"):
            notes.setdefault(cell["note"], []).append(f"{cell['path']} {cell['system']}")
    for note, places in notes.items():
        print(f"- {', '.join(dict.fromkeys(places))}: {note}.")
    for report in reports:
        for text in report["summary"]:
            print(f"- {report['benchmark']}: {text}")
        for text in report["failed"]:
            print(f"- {report['benchmark']} FAILED: {text}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    reports = []
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        report = json.loads(path.read_text())
        if report.get("schema") != SCHEMA:
            sys.exit(f"{path}: schema {report.get('schema')}, expected {SCHEMA}")
        reports.append(report)
    if not reports:
        sys.exit(f"no results in {sys.argv[1]}")
    document(reports)


main()
