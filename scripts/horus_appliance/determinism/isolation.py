"""Counts what reaches the CPU of real-time nodes: interrupts, ticks, threads, work items. Counts, because times of emulated CPUs are the host's."""

import re
from collections import Counter
from pathlib import Path

from horus_appliance.boot import guest, run
from horus_appliance.image.mkosi import Image

GUEST = Path(__file__).with_name("guest")
UNIT = "horus-isolation.service"
SECONDS = 10
# /proc/interrupts: what one CPU sends to another.
SENT_BY_CPUS = ("RES", "CAL", "TLB")
FOREIGN = "switches to foreign programs"
# What the second table counts, in its order.
COUNTS = ("device interrupts", "inter-processor interrupts", "ticks", FOREIGN, "switches to kernel threads", "work items")


def credentials(seconds: int = SECONDS) -> dict:
    """Credentials that count for a while when the system is up, under load, before the determinism run."""
    return {
        f"systemd.extra-unit.{UNIT}": (GUEST / UNIT).read_text().replace("SECONDS", str(seconds)),
        "count-isolated": (GUEST / "count-isolated").read_text(),
        "systemd.unit-dropin.multi-user.target": f"[Unit]\nWants={UNIT}\n",
    }


def boot(image: Image, tuning: str, cpus: int) -> dict:
    """Counts on a machine with so many CPUs, in the usual time of emulated ones."""
    done = run.boot(
        image, f"isolation-{tuning}-{cpus}", cpus, 0, credentials(), collect_after=UNIT, firmware=False,
        extra_parameters="systemd.mask=horus-determinism.timer",
    )  # fmt: skip
    return {"tuning": tuning, "cpus": cpus, **counts(done.entries)}


def counts(entries: list) -> dict:
    """What a booted machine said that it had counted."""
    lines = [guest.text(entry) for entry in entries if guest.text(entry, "SYSLOG_IDENTIFIER") == "horus-isolation"]
    return tally(lines)


def tally(lines: list) -> dict:
    """Counts by kind of the lines of guest/count-isolated, with each foreign program, kernel thread and work item by its name."""
    number = {name: float(value) for name, value in (line.split(": ") for line in lines if re.fullmatch(r"(cpu|seconds): [\d.]+", line))}
    found, names = Counter(dict.fromkeys(COUNTS, 0)), {kind: Counter() for kind in COUNTS}
    for line in lines:
        match = re.fullmatch(r"(interrupt|timer|thread|work) (\d+) (.+)", line)
        kind, what = classify(match[1], match[3]) if match else (None, "")
        if kind:
            found[kind] += int(match[2])
            names[kind][what] += int(match[2])
    return {
        "cpu": int(number["cpu"]), "seconds": number["seconds"], "counts": dict(found),
        "names": {kind: dict(counter.most_common()) for kind, counter in names.items() if counter},
    }  # fmt: skip


def classify(source: str, what: str) -> tuple:
    """Which count a line belongs to, and by which name; none for what is ours, or counted by another line."""
    if source == "interrupt":
        return ("device interrupts" if what.isdigit() else "inter-processor interrupts" if what in SENT_BY_CPUS else None), what
    if source == "timer":
        return ("ticks" if what.startswith("tick_") else None), what
    if source == "work":
        return "work items", what
    owner, _, name = what.partition(" ")
    # A worker of the kernel that has ended meanwhile has no process to ask.
    kernel = owner == "kernel" or owner == "ended" and name.startswith("kworker/")
    return (None if owner in ("node", "idle") else "switches to kernel threads" if kernel else FOREIGN), name
