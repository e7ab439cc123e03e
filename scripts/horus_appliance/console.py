"""What a person sees: numbered steps with their time, and the two ways in which a command can end badly."""

import os
import subprocess
import sys
import time

from horus_conf import BadConf

START = time.monotonic()


class CannotRun(Exception):
    """This machine cannot build or run the appliance; the message says what to do. Exit status 2."""


class ApplianceFailed(Exception):
    """The appliance was built and started but failed; the message says why. Exit status 1."""


def elapsed() -> str:
    """Minutes and seconds since this command started, as `m:ss`."""
    seconds = int(time.monotonic() - START)
    return f"{seconds // 60}:{seconds % 60:02d}"


def step(text: str) -> None:
    """Announces a step that may take a while."""
    print(f"[{elapsed()}] {text}", flush=True)


def detail(text: str) -> None:
    """Says something about the step that runs now."""
    print(f"        {text}", flush=True)


def run_command(main) -> None:
    """Runs `main()` and turns its outcome into the exit status that every command of scripts/ keeps."""
    os.umask(0o022)  # what is made here is read by other users, on this machine and on the appliance
    try:
        sys.exit(main() or 0)
    except ApplianceFailed as failure:
        print(f"\nFAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    except (CannotRun, BadConf) as reason:
        print(f"\nCANNOT RUN: {reason}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or "").strip()
        print(f"\nCANNOT RUN: {error}\n{said}\nRun the command by hand to see why, then run this again.", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(
            f"\nCANNOT RUN: {error}. Where that file may not be read or written, change its owner or mode (out/ may simply be deleted); "
            "if the disk is full, free some space. Then run this again.",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("\ninterrupted; the next run continues from what is finished", file=sys.stderr)
        sys.exit(130)
