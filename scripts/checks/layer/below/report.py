"""What scripts/check-layer found, as JSON."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """How one check of one board ended."""

    board: str
    check: str
    passed: bool
    seconds: float
    problem: str


def write(path: Path, findings: list, commits: dict, complete: bool) -> None:
    """Writes everything as JSON. `complete` tells whether every check was run."""
    path.write_text(json.dumps({
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "layers": commits, "passed": complete and all(finding.passed for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }, indent=2) + "\n")  # fmt: skip
