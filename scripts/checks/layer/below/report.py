"""What scripts/check-layer found: a table board x check for people, and the same as JSON."""

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


def table(findings: list) -> str:
    """A line a board, a column a check; '-' where a check does not apply."""
    boards = list(dict.fromkeys(finding.board for finding in findings))
    checks = list(dict.fromkeys(finding.check for finding in findings))
    width = max(len(board) for board in ["board", *boards])
    columns = {check: max(len(check), len("passed")) for check in checks}
    lines = ["  ".join(["board".ljust(width), *(check.ljust(columns[check]) for check in checks)]).rstrip()]
    words = {(finding.board, finding.check): "passed" if finding.passed else "FAILED" for finding in findings}
    for board in boards:
        lines.append("  ".join([board.ljust(width), *(words.get((board, check), "-").ljust(columns[check]) for check in checks)]).rstrip())
    return "\n".join(lines)


def write(path: Path, findings: list, commits: dict, complete: bool) -> None:
    """Writes everything as JSON. `complete` tells whether every check was run."""
    path.write_text(json.dumps({
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "layers": commits, "passed": complete and all(finding.passed for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }, indent=2) + "\n")  # fmt: skip
