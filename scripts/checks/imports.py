"""What the scripts of a check consist of: its own files, and those that they import."""

import ast
from functools import cache
from pathlib import Path

from checks.discover import PREFIXES
from checks.runner import Check
from horus_appliance.paths import CONF, REPOSITORY, SCRIPTS


def roots(check: Check) -> set:
    """The files of scripts/ that a check's command starts: a module, a command, the tests of a prefix; and files that it names."""
    words = [str(word) for word in (*check.command, *check.environment.values())]
    found = {Path(word) for word in words if Path(word).is_relative_to(REPOSITORY) and Path(word).is_file()}
    found |= {file for word in words if word.startswith("checks.") for file in module(word)}
    prefix = next((word for word in words if word in PREFIXES), "")
    found |= set(SCRIPTS.rglob(f"{prefix}*.py")) if prefix else set()
    return found


def module(name: str) -> set:
    """The file of a module of ours, if it is one."""
    place = SCRIPTS / name.replace(".", "/") if name != "horus_conf" else CONF / name
    return {path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()}


@cache
def imported(path: Path) -> frozenset:
    """The files of ours that a script imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {file for name in node.names for file in module(name.name)}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= module(node.module) | {file for name in node.names for file in module(f"{node.module}.{name.name}")}
    return frozenset(found)


def closure(files: set) -> set:
    """These files and all that they import, directly or not."""
    waiting, found = set(files), set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        if path.suffix == ".py" or path.parent == SCRIPTS and b"python" in path.read_bytes()[:40]:
            waiting |= imported(path) - found
    return found


def rooms(paths: set) -> set:
    """The rooms of these scripts; a file that is in none stands for itself."""
    names = (path.relative_to(REPOSITORY).parts for path in paths)
    return {"/".join(parts[:3] if parts[0] == "scripts" and len(parts) > 3 else parts) for parts in names}


def belongs(file: str, name: str, scripts: dict) -> bool:
    """Whether a file is one of the scripts of a check, by its name; one that no check imports, such as a list, belongs to all scripts of its room."""
    path = REPOSITORY / file
    if any(path in files for files in scripts.values()):
        return path in scripts[name]
    return any(file.startswith(f"{room}/") for room in rooms(scripts[name]))
