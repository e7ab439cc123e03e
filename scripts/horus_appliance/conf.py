"""Reads conf/: the kernel command line with the machine's CPU split in it."""

import re
from pathlib import Path

from .console import CannotRun
from .paths import CONF, REPOSITORY


def cpu_split(board: str) -> dict:
    """The two CPU lists of a board, in the kernel's notation, from its one setting `housekeeping=0` or `0-K`.

    The isolated CPUs are all others: `K+1-N`, where the kernel itself reads N as the machine's last CPU, so that one
    image fits machines with any number of CPUs.
    """
    path = CONF / "machine" / board / "cpus"
    for number, line in numbered_lines(path):
        match = re.fullmatch(r"housekeeping=0(?:-(\d+))?", line)
        if not match:
            raise CannotRun(
                f"{path.relative_to(REPOSITORY)}:{number}: '{line}' is not understood. "
                "Write housekeeping=0, or a range that starts at 0, such as housekeeping=0-1."
            )
        last = int(match[1] or 0)
        return {"housekeeping": line.partition("=")[2], "isolated": f"{last + 1}-N"}
    raise CannotRun(f"{path.relative_to(REPOSITORY)} has no setting. Write one line: housekeeping=0")


def kernel_command_line(board: str, tuned: bool) -> str:
    """All parameters of the board's image: conf/base, then conf/machine/<board>, then, when tuned, conf/rt."""
    files = [CONF / "base" / "kernel" / "cmdline", CONF / "machine" / board / "cmdline"]
    if tuned:
        files.append(CONF / "rt" / "kernel" / "cmdline")
    split = cpu_split(board)
    return " ".join(parameter for path in files for parameter in parameters(path, split))


def parameters(path: Path, split: dict) -> list:
    """The kernel parameters of one file, one a line, with {housekeeping} and {isolated} filled in."""
    found = []
    for number, line in numbered_lines(path):
        try:
            parameter = line.format(**split)
        except (KeyError, ValueError, IndexError) as error:
            raise CannotRun(
                f"{path.relative_to(REPOSITORY)}:{number}: '{line}' has a placeholder other than "
                "{housekeeping} or {isolated}. Correct the line."
            ) from error
        if re.search(r"\s", parameter):
            raise CannotRun(
                f"{path.relative_to(REPOSITORY)}:{number}: '{line}' holds more than one parameter. Write one a line."
            )
        found.append(parameter)
    return found


def numbered_lines(path: Path) -> list:
    """The lines of a conf file that say something, with their numbers; what follows '#' is the reason for people."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRun(f"{path.relative_to(REPOSITORY)} cannot be read ({error}). Restore it from git.") from error
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in stripped if line]
