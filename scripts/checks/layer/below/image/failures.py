"""What a build that failed says of why, out of the thousands of lines that it printed."""

import re

from checks.layer.below import bitbake

TELLING = re.compile(r"\berror\b|fatal|undefined reference|no such file|not found|No rule to make|Unable to fetch|cannot ", re.IGNORECASE)
MOST_LINES = 8  # of one task's log
MOST_TASKS = 6


def told(said: str, status: int) -> str:
    """Each failed task with BitBake's own words and the lines of its log that explain it; else what BitBake said last."""
    found, words, log = [], [], []
    for line in said.splitlines():
        if line.startswith("| "):
            log.append(line[2:])
        elif line.startswith("ERROR: Task "):
            found.append("\n".join([*words, *(f"    {text}" for text in explaining(log)), line]))
            words, log = [], []
        elif line.startswith("ERROR: "):
            words.append(line)
    if not found:
        return bitbake.errors(said, status)
    more = [f"and {len(found) - MOST_TASKS} more"] if len(found) > MOST_TASKS else []
    return "\n\n".join([*found[:MOST_TASKS], *more])


def explaining(log: list) -> list:
    """The lines of a task's log that name what is wrong, once each; its end where none does."""
    # What the task's own wrapper says at its end stands above already.
    lines = [line for line in log if line.strip() and not line.startswith(("WARNING: exit code", "DEBUG:", "NOTE:"))]
    telling = list(dict.fromkeys(line for line in lines if TELLING.search(line)))
    return (telling or lines)[-MOST_LINES:]
