"""Runs checks side by side, and tells how each ended.

Four at a time on two CPUs: most of them wait for a linker, a disk, a network or one thread half of their time. What a check prints is shown when it
ends, so that two outputs never mix; one that runs alone is shown as it goes.
"""

import math
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from horus_appliance.console import SKIP_STATUS, detail, step
from horus_appliance.host import system
from horus_appliance.paths import REPOSITORY

AT_A_TIME = 4
HEARTBEAT_SECONDS = 60
# How much less of the CPUs a check gets than one that others wait for.
NICE = 10
# Of the time of a run, after which what can wait is left out: what runs beside others, and what runs alone behind them.
SHARE, SHARE_ALONE = 1 / 3, 4 / 5


@dataclass(frozen=True)
class Check:
    """One command, what it stands for, and where it runs."""

    name: str
    command: list
    directory: Path = REPOSITORY
    environment: dict = field(default_factory=dict)
    alone: str = ""  # why nothing may run beside it
    together: str = ""  # of those that run alone: may be beside others that say the same
    first: bool = False  # others wait for what it makes, so it gets most of the CPUs
    holds: tuple = ()  # what it locks: two checks that hold the same would wait for each other, or disturb each other
    images: bool = False  # builds or boots them, which --no-boot leaves out
    after: tuple = ()  # names of checks that build what it takes up
    needs: tuple = ()  # (command, Debian package) that must be there
    long: str = ""  # how long it takes, for one that only runs when long ones are asked for
    on: tuple = ()  # what it is about: folders and files, a crate by its folder (checks/changed.py); the crates that it names, for a cargo command
    through: tuple = ()  # what else can break it
    slow: str = ""  # how long it takes, for one that ./scripts/test --changed runs only for what it is about
    can_wait: bool = False  # comes when all others have begun, and is left out of a run whose time is short
    until: float = 0  # it takes long, and is left out where this part of a run's time is over before it may start
    within: str = ""  # the name of a check that runs the same tests: where that runs, this one does not


@dataclass(frozen=True)
class Result:
    """How a check ended."""

    name: str
    word: str
    seconds: float
    reason: str = ""
    cpu_seconds: float = 0  # of all its processes: what it costs on a machine that is busy, too


class Running:
    """A check that was started."""

    def __init__(self, check: Check):
        self.check, self.started, self.cpu_seconds = check, time.monotonic(), 0.0
        # A file and not a pipe, which would stop a check that says much until it is read.
        self.output = None if check.alone and not check.together else tempfile.TemporaryFile()
        environment = {**os.environ, **check.environment}
        both = {"stdout": self.output, "stderr": subprocess.STDOUT} if self.output else {}
        step(f"started: {check.name}" if self.output else f"--- {check.name}")
        command = check.command if check.first or check.alone else ["nice", "-n", str(NICE), *check.command]
        self.process = subprocess.Popen(command, cwd=check.directory, env=environment, stdin=subprocess.DEVNULL, **both)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def has_ended(self) -> bool:
        """Whether it has; asked again until it says so. The kernel tells then what it used."""
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_seconds = used.ru_utime + used.ru_stime
        return bool(pid)

    def finish(self) -> Result:
        """Shows what an ended check said, and how it ended."""
        status, seconds = self.process.returncode, self.seconds
        if self.output:
            step(f"--- {self.check.name} ({seconds:.0f} s, {self.cpu_seconds:.0f} s of CPU)")
            self.output.seek(0)
            print(self.output.read().decode(errors="replace").rstrip("\n"), flush=True)
            self.output.close()
        words = {0: ("passed", ""), SKIP_STATUS: ("SKIPPED", "see its output above for the reason")}
        word, reason = words.get(status, ("FAILED", f"ended with status {status}, see its output above"))
        return Result(self.check.name, word, seconds, reason, self.cpu_seconds)


def share(check: Check) -> float:
    """Of the time of a run, after which a check that may be left out of it is."""
    return check.until or (SHARE_ALONE if check.alone else SHARE)


def each_once(checks: list) -> list:
    """Without those whose tests another one of them runs."""
    names = {check.name for check in checks}
    return [check for check in checks if check.within not in names]


def run(checks: list, at_a_time: int = AT_A_TIME, minutes: float = math.inf) -> list:
    """
    Runs every check; returns the results in the order of `checks`. What can wait is left out where SHARE of the `minutes` is over before it may start:
    the rest is for what has begun, and for what runs alone behind all others. Of the latter, SHARE_ALONE is. A check may say its own part (`until`).
    """
    for check in checks:  # not while others run: two installations at once refuse each other
        if check.needs and not shutil.which(check.needs[0]):
            system.install([check.needs[1]])
    asked, checks = checks, [one for can_wait in (False, True) for one in checks if one.can_wait == can_wait]
    waiting, running, results, told = list(checks), [], {}, time.monotonic()
    begun = told
    try:
        while waiting or running:
            for check in [one for one in waiting if (one.can_wait or one.until) and time.monotonic() > begun + share(one) * minutes * 60]:
                waiting.remove(check)
                late = f"{share(check):.0%} of the {minutes:g} minutes were over"
                results[check.name] = Result(check.name, "SKIPPED", 0, f"{late}: ./scripts/test --only '{check.name}' runs it")
            while (following := choose(waiting, running, at_a_time)) is not None:
                waiting.remove(following)
                running.append(Running(following))
            for ended in [one for one in running if one.has_ended()]:
                running.remove(ended)
                results[ended.check.name] = ended.finish()
                told = time.monotonic()
            if running and running[0].output and time.monotonic() - told > HEARTBEAT_SECONDS:
                detail("still running: " + ", ".join(f"{one.check.name} ({one.seconds:.0f} s)" for one in running))
                told = time.monotonic()
            time.sleep(0.1)
    finally:  # an interrupted run leaves no check behind
        for one in running:
            one.process.terminate()
            one.process.wait()
    return [results[check.name] for check in asked]


def choose(waiting: list, running: list, at_a_time: int):
    """The first check that may start now; those that run alone come when all others are done."""
    if len(running) >= at_a_time:
        return None
    if any(one.check.alone for one in running):
        group = running[0].check.together
        return next((check for check in waiting if check.together == group), None) if group else None
    held = {name for one in running for name in one.check.holds}
    to_end = {check.name for check in waiting} | {one.check.name for one in running}
    # What can wait takes no CPU from a row of checks of which each holds what the next one wants.
    pressing = any(not check.alone and not check.can_wait for check in waiting)
    for check in waiting:
        if not (check.alone or check.can_wait and pressing) and held.isdisjoint(check.holds) and to_end.isdisjoint(check.after):
            return check
    return waiting[0] if waiting and not running and all(check.alone for check in waiting) else None
