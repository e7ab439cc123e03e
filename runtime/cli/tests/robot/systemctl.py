"""A service manager of which a test knows what it does: it starts nothing, and a line of a program says what would become of it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

PLACE = Path(os.environ["FAKE_MACHINE"])
STATES, UNITS = PLACE / "states", PLACE / "units"


def settings(unit: str) -> str:
    file = UNITS / f"{unit}.d/50-robot.conf"
    return file.read_text() if file.exists() else ""


def wanted(target: str) -> list:
    file = UNITS / target
    text = file.read_text() if file.exists() else settings(target)
    return re.findall("^Wants=(.+)$", text, re.MULTILINE)


def parts(target: str) -> list:
    units = [folder.name.removesuffix(".d") for folder in UNITS.glob("horus-node@*.service.d")]
    return [unit for unit in units if f"PartOf={target}" in settings(unit).splitlines()]


def fate(unit: str) -> str:
    program = re.findall("^ExecStart=(/\\S+)", settings(unit), re.MULTILINE)
    found = re.search(r"fate: (\w+)", Path(program[-1]).read_text()) if program else None
    return found[1] if found else "lives"


def save(unit: str, *words) -> None:
    (STATES / unit).write_text(" ".join(map(str, words)))


def start(unit: str) -> None:
    file = STATES / unit
    if file.exists() and file.read_text().startswith("active"):
        return
    before = re.findall("^After=(horus-node@.+)$", settings(unit), re.MULTILINE)
    for other in before:
        start(other)
    number = len(list(PLACE.glob("starts.*")))
    (PLACE / f"starts.{number}").write_text(unit)
    if all((STATES / other).read_text().startswith("active") for other in before):
        save(unit, "activating" if fate(unit) == "hangs" else "active", number, 0)
    else:
        save(unit, "inactive", number, 0, "queued")


def show(unit: str) -> str:
    file = STATES / unit
    active, number, looks, *more = file.read_text().split() if file.exists() else ("inactive", "", 0)
    # What does not become ready is started again a few looks later; what dies, after the look that saw it ready.
    looks = int(looks) + 1
    if file.exists():
        restarts = int((active == "activating" and looks > 3) or (active == "active" and fate(unit) == "dies" and looks > 1))
        save(unit, active, number, looks, *more)
        if restarts:
            active = "activating"
    else:
        restarts = 0
    job = 7 if more else 0
    return f"Id={unit}\nActiveState={active}\nSubState=some\nResult=success\nNRestarts={restarts}\nInvocationID={number}\nJob={job}\n"


def main(verb: str, *words: str) -> int:
    with (PLACE / "calls").open("a") as calls:
        print(verb, *words, file=calls)
    units = [word for word in words if not word.startswith("-")]
    if verb == "daemon-reload":
        subprocess.run(["rm", "-rf", UNITS], check=True)
        UNITS.mkdir()
        subprocess.run([os.environ["FAKE_HORUS"], "node", "generate", UNITS, "--root", PLACE / "root"], check=True)
    elif verb == "start":
        for unit in units:
            for service in wanted(unit) if unit.endswith(".target") else [unit]:
                start(service)
    elif verb == "stop":
        for unit in units:
            for service in parts(unit) if unit.endswith(".target") else [unit]:
                (STATES / service).unlink(missing_ok=True)
        if (PLACE / "kill-at-stop").exists():
            (PLACE / "kill-at-stop").unlink()
            os.kill(os.getppid(), signal.SIGKILL)
    elif verb == "show":
        print("\n".join(map(show, units)))
    elif verb == "reset-failed":
        return 1  # as for a unit that is not loaded
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
