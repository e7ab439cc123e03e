"""Where things are in the repository, and where the commands put what they make."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = REPOSITORY / "scripts"
CONF = REPOSITORY / "conf"
RUNTIME = REPOSITORY / "runtime"
BENCHMARKS = REPOSITORY / "benchmarks"
RECIPE = REPOSITORY / "recipes" / "debian"

OUT = REPOSITORY / "out"
BUILD = OUT / "build"  # everything that can be made again
APPLIANCE = OUT / "appliance"  # what a person takes away


def cargo_target() -> Path:
    """Where cargo puts what it builds of the runtime."""
    return Path(os.environ.get("CARGO_TARGET_DIR", RUNTIME / "target")).resolve()
