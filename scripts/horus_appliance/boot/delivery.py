"""Judges a boot and puts what a person takes away into out/appliance/."""

import json
import os
import shutil
from pathlib import Path

from horus_appliance.boot import run
from horus_appliance.image.mkosi import Image
from horus_appliance.paths import APPLIANCE

SCHEMA = "horus-report/2"
PHASES = [f"{kind}-{load}" for load in ("quiet", "load") for kind in ("node", "message", "cyclictest")]


def clear() -> None:
    """Removes what an earlier run left: a failure must not stand beside yesterday's success."""
    if APPLIANCE.exists():
        shutil.rmtree(APPLIANCE)
    APPLIANCE.mkdir(parents=True)


def deliver_logs(directory: Path) -> None:
    """Delivers what a machine said, however it ended: its serial console and its journal."""
    for source, name in (("serial.log", "serial.log"), ("horus.journal", "journal.json")):
        if (directory / source).exists():
            shutil.copyfile(directory / source, APPLIANCE / name)


def deliver(built: Image, done: run.Boot) -> None:
    """Delivers image and report."""
    os.link(built.disk, APPLIANCE / f"horus-{built.version}-{built.architecture.name}.raw")
    if done.report:
        (APPLIANCE / "report.json").write_text(json.dumps(done.report, indent=2) + "\n")


def check(done: run.Boot) -> list:
    """What is wrong with a boot, one line or paragraph a finding; empty when its report is complete."""
    return [*check_report(done), *check_units(done), *check_end(done)]


def check_report(done: run.Boot) -> list:
    """Findings about the report: absent, of another kind, or with a phase missing."""
    if not done.report:
        return ["the appliance wrote no report. Last lines of horus-determinism.service:", *last_lines(done, "horus-determinism.service")]
    found = []
    if done.report.get("schema") != SCHEMA:
        found.append(f"the report's schema is {done.report.get('schema')!r}, expected {SCHEMA!r}")
    phases = {phase.get("name"): phase for phase in done.report.get("phases", [])}
    for name in PHASES:
        phase = phases.get(name, {"reason": "it is not in the report"})
        if not phase.get("samples"):
            found.append(f"phase {name} was not measured: {phase.get('reason') or 'no reason given'}")
    return found


def check_units(done: run.Boot) -> list:
    """Findings about units that failed, by the report's own list and by that of the host."""
    if done.failed_units is None:
        return ["the list of failed units did not arrive from the appliance"]
    names = [unit["unit"] for unit in [*done.failed_units, *done.report.get("failed_units", [])]]
    found = []
    for name in dict.fromkeys(names):
        found += [f"{name} failed on the appliance. Its last lines:", *last_lines(done, name)]
    return found


def check_end(done: run.Boot) -> list:
    """Findings about the journal's summary and the end of the boot."""
    found = []
    if not any("HORUS_MISSES" in entry for entry in done.with_field("HORUS_PHASE", "summary")):
        found.append("the journal holds no summary entry with HORUS_MISSES")
    if not done.powered_off:
        found.append("the appliance did not power off when its power button was pressed")
    return found


def last_lines(done: run.Boot, unit: str) -> list:
    """The last messages of a unit, indented."""
    return [f"    {line}" for line in run.unit_log(done.entries, unit)]
