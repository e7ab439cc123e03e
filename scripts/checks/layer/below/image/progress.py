"""How far BitBake is: the task it is at, the time so far, and when it may end, one line every half minute."""

import re
import threading
import time
from contextlib import contextmanager

from horus_appliance.console import detail

EVERY = 30
# What BitBake prints where no terminal is.
NAMED = r"\((?:virtual:(?P<variant>\w+):)?(?:.*/)?(?P<recipe>[^/]+?)(?:\.bb)?:(?P<task>do_\w+)\)"
TASK = re.compile(r"NOTE: Running (?P<kind>setscene |noexec )?task (?P<number>\d+) of (?P<count>\d+) " + NAMED)
FAILED = re.compile(r"ERROR: Task " + NAMED + " failed")
# An estimate from less would jump.
LEAST_TASKS = 10
LEAST_SECONDS = 60


class Progress:
    """What BitBake's lines have told."""

    def __init__(self, clock=time.monotonic):
        self.clock = clock
        self.started = clock()
        self.doing = "reading recipes"
        self.number = self.count = self.first = 0
        self.first_seen = 0.0

    def see(self, line: str) -> None:
        """Takes a line of BitBake's in; a failed task is told at once, for the others go on."""
        if failed := FAILED.match(line):
            detail(f"FAILED: {name(failed)}; what does not depend on it goes on")
        if line.startswith("Initialising tasks"):
            self.doing = "looking for what earlier runs finished"
        found = TASK.match(line)
        if not found:
            return
        if found["kind"] == "setscene ":
            if not self.number:
                self.doing = f"taking up what earlier runs finished, {found['number']} of {found['count']}"
            return
        if not self.number:
            self.first, self.first_seen = int(found["number"]), self.clock()
        self.number, self.count = int(found["number"]), int(found["count"])
        self.doing = name(found)

    def remaining(self) -> float | None:
        """Seconds to the end at the rate of this run's tasks so far; None where those are too few. Tasks differ, so it is a guess."""
        done, seconds = self.number - self.first, self.clock() - self.first_seen
        if not self.number or done < LEAST_TASKS or seconds < LEAST_SECONDS:
            return None
        return (self.count - self.number) * seconds / done

    def line(self, now: float | None = None) -> str:
        """One line for a person; `now` is the time of day in seconds."""
        so_far = f"{duration(self.clock() - self.started)} so far"
        if not self.number:
            return f"{self.doing}; {so_far}"
        remaining = self.remaining()
        end = "" if remaining is None else f", end about {clock_time(time.time() if now is None else now, remaining)}"
        return f"task {self.number} of {self.count}, {so_far}{end}; {self.doing}"


def name(found: re.Match) -> str:
    """Recipe and task of a line."""
    return " ".join(word for word in (found["recipe"], found["variant"], found["task"]) if word)


def duration(seconds: float) -> str:
    """Hours and minutes."""
    minutes = int(seconds) // 60
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def clock_time(now: float, remaining: float) -> str:
    """The time of day that comes after so many seconds, with the day where that is another one."""
    end, today = time.localtime(now + remaining), time.localtime(now)
    return time.strftime("%H:%M" if end[:3] == today[:3] else "%A %H:%M", end)


@contextmanager
def shown(progress: Progress, every: float = EVERY):
    """Shows the line every so many seconds while its block runs: also while BitBake is silent, as it is for a large program."""
    over = threading.Event()

    def show() -> None:
        while not over.wait(every):
            detail(progress.line())

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
