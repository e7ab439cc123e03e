"""Checks the kas files: that kas takes each, and that the lock file pins every repository that they name and no other. Runs inside the
environment of yocto/tools."""

import re
from pathlib import Path

from kas.includehandler import ConfigFile
from kas.kasusererror import KasUserError

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
    """A kas file as kas reads it, which logs what it refuses."""
    return ConfigFile.load(path).config


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


def problems(root: Path = REPOSITORY) -> list:
    """All problems of all kas files."""
    found, repositories = [], {}
    for path in files(root):
        name = str(path.relative_to(root))
        try:
            content = load(path)
        except (KasUserError, OSError) as error:
            found.append(str(error))
            continue
        # kas looks for them from the top of the repository.
        includes = [entry if isinstance(entry, str) else entry["file"] for entry in content["header"].get("includes", [])]
        found += [f"{name}: includes '{include}', and there is no such file" for include in includes if not (root / include).is_file()]
        board = horus_conf.boards().get(DEFAULT_BOARD if name == MAIN else path.stem)
        if board and content.get("machine") != board.machine:
            found.append(f"{name}: machine is '{content.get('machine')}', and conf/image.toml says {board.machine}. Correct the one that is wrong.")
        for repository, entry in content.get("repos", {}).items():
            # A repository without an address is this one.
            if entry and entry.get("url"):
                repositories.setdefault(repository, []).append(name)
            if entry and entry.get("commit"):
                found.append(f"{name}: repository '{repository}' has a commit of its own; {LOCK} is the one place for it")
    try:
        locked = load(root / LOCK)["overrides"]["repos"]
    except (KasUserError, OSError, KeyError) as error:
        return [*found, f"{LOCK}: {error}"]
    return found + lock_problems(repositories, locked)


def builds() -> list:
    """Every machine with each addition to local.conf that some kas file makes for it, as (MACHINE, text)."""
    machines = [board.machine for board in horus_conf.boards().values()]
    found = [(machine, "") for machine in machines]
    for path in files():
        try:
            content = load(path)
        except KasUserError:
            continue  # problems() says so
        text = "\n".join(content.get("local_conf_header", {}).values())
        chosen = [content["machine"]] if "machine" in content and path.name != MAIN else machines
        found += [(machine, text) for machine in chosen if text]
    return found
