"""Checks the kas files: their schema, and that the lock file pins every repository that they name and no other. Runs inside the
environment of yocto/tools."""

import json
import re
from pathlib import Path

import jsonschema
import kas
import yaml

from horus_appliance.paths import REPOSITORY
from horus_appliance.yocto.kas import DEFAULT_BOARD, LOCK_COMMAND

import horus_conf

MAIN = "kas.yml"
LOCK = "kas.lock.yml"
FRAGMENTS = "meta-horus/kas"


def files(root: Path = REPOSITORY) -> list:
    """The main file and every fragment."""
    return [root / MAIN, *sorted(path for path in (root / FRAGMENTS).rglob("*.yml") if not path.name.endswith(".lock.yml"))]


def load(path: Path) -> dict:
    """A kas file as a dictionary; what it is not otherwise is refused with its place."""
    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    if not isinstance(content, dict):
        raise ValueError("is no kas file: it holds no keys")
    return content


def schema_problems(content: dict) -> list:
    """What kas itself would refuse."""
    schema = json.loads((Path(kas.__path__[0]) / "schema-kas.json").read_text())
    errors = jsonschema.Draft7Validator(schema).iter_errors(content)
    return [f"{'.'.join(map(str, error.absolute_path)) or 'top level'}: {error.message}" for error in errors]


def lock_problems(repositories: dict, locked: dict) -> list:
    """Where the lock file and the repositories of all files together do not say the same. Both map names to their entries."""
    found = []
    for name, places in sorted(repositories.items()):
        commit = (locked.get(name) or {}).get("commit", "")
        if name not in locked:
            found.append(f"{LOCK}: repository '{name}' of {', '.join(places)} is not pinned. Run: {LOCK_COMMAND}")
        elif not re.fullmatch(r"[0-9a-f]{40}", str(commit)):
            found.append(f"{LOCK}: repository '{name}' is pinned to '{commit}', which is no commit. Write all 40 digits, or run: {LOCK_COMMAND}")
    for name in sorted(set(locked) - set(repositories)):
        found.append(f"{LOCK}: repository '{name}' is in no kas file. Remove it from the lock.")
    return found


def include_problems(content: dict, root: Path) -> list:
    """Includes that lead nowhere: kas looks for them from the top of the repository."""
    names = [entry if isinstance(entry, str) else entry.get("file") for entry in (content.get("header") or {}).get("includes") or []]
    return [f"includes '{name}', and there is no such file" for name in names if not (root / name).is_file()]


def problems(root: Path = REPOSITORY) -> list:
    """All problems of all kas files."""
    found, repositories = [], {}
    for path in files(root):
        name = str(path.relative_to(root))
        try:
            content = load(path)
        except ValueError as error:
            found.append(f"{name}: {error}")
            continue
        found += [f"{name}: {text}" for text in schema_problems(content) + include_problems(content, root)]
        board = horus_conf.boards().get(DEFAULT_BOARD if name == MAIN else path.stem)
        if board and content.get("machine") != board.machine:
            found.append(f"{name}: machine is '{content.get('machine')}', and conf/image.toml says {board.machine}. Correct the one that is wrong.")
        for repository, entry in (content.get("repos") or {}).items():
            # A repository without an address is this one.
            if entry and entry.get("url"):
                repositories.setdefault(repository, []).append(name)
            if entry and entry.get("commit"):
                found.append(f"{name}: repository '{repository}' has a commit of its own; {LOCK} is the one place for it")
    try:
        lock = load(root / LOCK)
    except ValueError as error:
        return [*found, f"{LOCK}: {error}"]
    found += [f"{LOCK}: {text}" for text in schema_problems(lock)]
    return found + lock_problems(repositories, (lock.get("overrides") or {}).get("repos") or {})


def local_conf(path: Path) -> str:
    """What a kas file adds to local.conf."""
    return "\n".join((load(path).get("local_conf_header") or {}).values())


def builds() -> list:
    """Every machine with each addition to local.conf that some kas file makes for it, as (MACHINE, text)."""
    found = [(board.machine, "") for board in horus_conf.boards().values()]
    for path in files():
        try:
            content, text = load(path), local_conf(path)
        except ValueError:
            continue  # problems() says so
        machine = content.get("machine") if path.name != MAIN else None
        found += [(name, text) for name in ([machine] if machine else [board.machine for board in horus_conf.boards().values()]) if text]
    return found
