"""The four arms of the comparison, and what one boot of each gives in virtual time: there a nanosecond is an instruction, however busy the host is."""

import json
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from horus_appliance.boot import run
from horus_appliance.console import ApplianceFailed
from horus_appliance.determinism import cost
from horus_appliance.image.mkosi import Image

# What an arm's figures are of: the node at 1 kHz under load, where its deadlines are in danger.
PHASE, RATE = "node-load", "1 kHz"
# A virtual second under load takes many of ours, and more on a busy host; who waits loses nothing.
PATIENCE_SECONDS = 1800

FASTER = 'period = "100us"\ndeadline = "80us"\ncyclictest-interval = "100us"\n'
# The determinism run as it is on the appliance, and once more at 10 kHz. The image's own nodes and their monitor would share the only CPU, and the
# monitor is above every node: they are stopped. A disk would answer whenever the host does: programs are read beforehand, and reports and journal stay
# in memory, of which the journal's stream to the host has to be told.
ALONE_IN_MEMORY = """[Service]
LoadCredential=10-khz.toml
ExecStartPre=+systemctl stop horus-ping horus-pong horus-monitor horus-witness.socket horus-witness
ExecStartPre=+journalctl --relinquish-var
ExecStartPre=+systemctl restart horus-observe.service
ExecStartPre=+-/bin/sh -c 'cat /usr/bin/horus /usr/bin/cyclictest /usr/bin/stress-ng /usr/lib/*/*.so* > /dev/null'
ExecStart=
ExecStart=/usr/bin/horus determinism --output /run/horus/1-khz
"""
ALSO_FASTER = "ExecStart=/usr/bin/horus determinism --config %d/10-khz.toml --output /run/horus/10-khz\n"
HAND_OVER = "[Service]\nExecStart=-/bin/sh -c 'cat /run/horus/*-khz/latest.json > /dev/virtio-ports/horus.report'\n"


@dataclass(frozen=True)
class Arm:
    """A kernel with or without our tuning, and the variant of the image that has it."""

    kernel: str  # rt or stock
    tuning: str  # tuned or untuned
    variant: str

    @property
    def name(self) -> str:
        return f"{self.kernel}-{self.tuning}"


ARMS = {arm.name: arm for arm in (
    Arm("rt", "tuned", "appliance"), Arm("rt", "untuned", "untuned"), Arm("stock", "tuned", "stock"), Arm("stock", "untuned", "stock-untuned"),
)}  # fmt: skip


def boot(arm: Arm, image: Image, seed: int, seconds: int, faster: bool = True) -> dict:
    """Boots an arm's image on one emulated CPU and gives what it measured; each run takes so many virtual seconds."""
    credentials = {
        **cost.COUNTING,
        "10-khz.toml": FASTER,
        "systemd.unit-dropin.horus-determinism.service": ALONE_IN_MEMORY + (ALSO_FASTER if faster else ""),
        "systemd.unit-dropin.horus-collect.service": HAND_OVER,
    }
    done = run.boot(
        image, f"determinism-{arm.name}-{seed}", 1, seconds, credentials, patience=PATIENCE_SECONDS, firmware=False, virtual_time=True, seed=seed,
    )  # fmt: skip
    return figures(arm, seed, seconds, reports(done.directory / "horus.report"), cost.instructions(done.entries))


def reports(path: Path) -> list:
    """The reports that came one after the other through the port."""
    text, decoder, found = path.read_text().strip(), json.JSONDecoder(), []
    while text:
        report, end = decoder.raw_decode(text)
        found.append(report)
        text = text[end:].lstrip()
    return found


def figures(arm: Arm, seed: int, seconds: int, found: list, boot_instructions: int | None) -> dict:
    """What of a boot's reports is kept. A run that is not valid, as all are without a real-time kernel, is kept with its reasons."""
    rates = {rate(report): report for report in found}
    first = rates.get(RATE)
    if first is None or not any(phase["name"] == PHASE and phase["measured"] for phase in first["phases"]):
        why = "; ".join(first["invalid_reasons"]) if first else "no report"
        raise ApplianceFailed(f"the boot of {arm.name} did not measure {PHASE} at {RATE}: {why}. Its journal is in out/build/machines/determinism-{arm.name}-{seed}.")
    return {
        "kernel": arm.kernel, "tuning": arm.tuning, "seed": seed, "seconds": seconds, "release": first["kernel"].split()[0],
        "valid": first["valid"], "invalid_reasons": first["invalid_reasons"], "audit_score": first["audit"]["score"],
        "boot_instructions": boot_instructions,
        "rates": {name: {phase["name"]: kept(phase) for phase in report["phases"] if phase["measured"]} for name, report in sorted(rates.items())},
    }  # fmt: skip


def rate(report: dict) -> str:
    """How often a report's node is released, such as 1 kHz."""
    period = next(phase["period_ns"] for phase in report["phases"] if phase["name"].startswith("node-"))
    return f"{1e6 / period:g} kHz"


def kept(phase: dict) -> dict:
    """A phase's figures with the histogram that they are of."""
    return {name: phase[name] for name in ("deadline_ns", "samples", "misses", "p50_ns", "p99_ns", "p999_ns", "max_ns", "histogram")}


def source_version(release: str) -> str:
    """The version that a kernel's release has in common with its sources: 6.12.117+deb13 of 6.12.117+deb13-rt-amd64."""
    return re.sub(r"(-rt)?-[a-z0-9]+$", "", release)


def summary(boots: list) -> list:
    """An entry for each arm that was booted."""
    own = {arm: [boot for boot in boots if (boot["kernel"], boot["tuning"]) == (arm.kernel, arm.tuning)] for arm in ARMS.values()}
    return [entry(arm, found) for arm, found in own.items() if found]


def entry(arm: Arm, boots: list) -> dict:
    """An arm's boots in one: `max_ns` is the largest of all of them, and medians and ranges are over them."""
    slower = [boot["rates"][RATE] for boot in boots]
    loaded = [phases[PHASE] for phases in slower]
    return {
        "kernel": arm.kernel, "tuning": arm.tuning, "phase": f"{PHASE} at {RATE}", "deadline_ns": loaded[0]["deadline_ns"], "boots": len(boots),
        "valid": all(boot["valid"] for boot in boots), "invalid_reasons": sorted({reason for boot in boots for reason in boot["invalid_reasons"]}),
        "samples": sum(phase["samples"] for phase in loaded), "misses": sum(phase["misses"] for phase in loaded),
        "max_ns": max(phase["max_ns"] for phase in loaded), "max_ns_each": sorted(phase["max_ns"] for phase in loaded),
        **spread("max_ns", loaded), **spread("p99_ns", loaded), **spread("p50_ns", loaded),
        **{f"{name}_at_10_khz": value for name, value in faster(boots).items()},
        "cyclictest_max_ns": max((phases["cyclictest-load"]["max_ns"] for phases in slower if "cyclictest-load" in phases), default=None),
        "quiet_max_ns": max((phases["node-quiet"]["max_ns"] for phases in slower if "node-quiet" in phases), default=None),
        "audit_score": boots[0]["audit_score"], **spread("boot_instructions", boots),
    }  # fmt: skip


def faster(boots: list) -> dict:
    """Samples, misses and the longest response of the boots that were measured at 10 kHz, too."""
    phases = [boot["rates"]["10 kHz"][PHASE] for boot in boots if "10 kHz" in boot["rates"]]
    if not phases:
        return {"samples": 0, "misses": None, "max_ns": None}
    return {"samples": sum(phase["samples"] for phase in phases), "misses": sum(phase["misses"] for phase in phases), "max_ns": max(phase["max_ns"] for phase in phases)}


def spread(name: str, entries: list) -> dict:
    """Median and range of a figure over boots; nothing where none has it. The largest worst case keeps the name `max_ns` for itself."""
    values = sorted(entry[name] for entry in entries if entry.get(name) is not None)
    if not values:
        return {}
    median = f"{name}_median" if name == "max_ns" else name
    return {median: statistics.median(values), f"{name}_range": [values[0], values[-1]]}
