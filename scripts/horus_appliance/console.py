"""What a person sees: numbered steps with their time, and the ways in which a command can end without a result."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from horus_conf import BadConf

START = time.monotonic()
SKIP_STATUS = 77  # the exit status that means "skipped" to Automake, and to us


class CannotRun(Exception):
    """This machine cannot build or run the appliance; the message says what to do. Exit status 2."""


class Skipped(Exception):
    """A check has to wait for something that this machine cannot have now; the message says for what. Exit status SKIP_STATUS."""


class ApplianceFailed(Exception):
    """The appliance was built and started but failed; the message says why. Exit status 1."""


def step(text: str) -> None:
    """Announces a step that may take a while, with minutes and seconds since this command started."""
    seconds = int(time.monotonic() - START)
    print(f"[{seconds // 60}:{seconds % 60:02d}] {text}", flush=True)


def detail(text: str) -> None:
    """Says something about the step that runs now."""
    print(f"        {text}", flush=True)


def follow(command: list, show: str = "", every: float = 0, log: Path = Path(os.devnull), each=lambda line: None, **options) -> tuple:
    """Runs a command; returns its exit status and its lines, and writes them to `log` as they come.

    Lines that match `show` are shown, and every so many seconds the last one; `each` is called with every one. `options` are subprocess.Popen's.
    """
    lines, last = [], time.monotonic()
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with log.open("w") as output, subprocess.Popen(command, **pipe, **options) as process:
        for line in process.stdout:
            output.write(line)
            output.flush()
            lines.append(line.rstrip("\n"))
            each(lines[-1])
            if show and re.search(show, line) or every and time.monotonic() - last > every:
                detail(lines[-1].strip()[:120])
                last = time.monotonic()
    return process.returncode, lines


def run_command(main) -> None:
    """Runs `main()` and turns its outcome into the exit status that every command of scripts/ keeps."""
    os.umask(0o022)  # what is made here is read by other users, on this machine and on the appliance
    try:
        sys.exit(main() or 0)
    except ApplianceFailed as failure:
        status, said = 1, f"FAILED: {failure}"
    except (CannotRun, BadConf) as reason:
        status, said = 2, f"CANNOT RUN: {reason}"
    except Skipped as reason:
        status, said = SKIP_STATUS, f"SKIPPED: {reason}"
    except subprocess.CalledProcessError as error:
        status, said = 2, f"CANNOT RUN: {error}\n{(error.stderr or '').strip()}\nRun the command by hand to see why, then run this again."
    except OSError as error:
        status, said = 2, (
            f"CANNOT RUN: {error}. Where that file may not be read or written, change its owner or mode (out/ may simply be deleted); "
            "if the disk is full, free some space. Then run this again."
        )
    except KeyboardInterrupt:
        status, said = 130, "interrupted; the next run continues from what is finished"
    print(f"\n{said}", file=sys.stderr)
    sys.exit(status)
