"""The crates of the repository, as cargo's manifests have them: who uses whom, and which files outside of it a crate's sources read."""

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from horus_appliance.paths import REPOSITORY

TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
# A test of a folder of the repository names it so; in other sources such a word may be anything.
IN_A_TEST = re.compile(r"/tests[/.]")


@cache
def tracked() -> tuple:
    """The files of the repository, with those that git does not know yet."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return tuple(name for name in listed.stdout.splitlines() if (REPOSITORY / name).is_file())


@cache
def manifests() -> dict:
    """Every manifest by its folder."""
    found = (Path(name) for name in tracked() if Path(name).name == "Cargo.toml")
    return {str(path.parent): tomllib.loads((REPOSITORY / path).read_text()) for path in found}


@cache
def crates() -> dict:
    """The folder of each crate, and cargo's name of it."""
    return {folder: manifest["package"]["name"] for folder, manifest in manifests().items() if "package" in manifest}


def crate_of(file: str) -> str:
    """The innermost crate that holds a file, "" for none."""
    return next((str(folder) for folder in Path(file).parents if str(folder) in crates()), "")


@cache
def members() -> dict:
    """Each workspace's crates, by its folder."""
    spaces = {folder: manifest["workspace"] for folder, manifest in manifests().items() if "workspace" in manifest}
    joined = {folder: {str(Path(folder) / name) for name in space.get("members", ())} | ({folder} & set(crates())) for folder, space in spaces.items()}
    lonely = set(crates()) - set().union(*joined.values())
    return {**joined, **{folder: {folder} for folder in lonely}}


@cache
def uses(crate: str) -> set:
    """The crates of this repository that `crate` names, its tests' too."""
    space = next(folder for folder, inside in members().items() if crate in inside)
    shared = {name: Path(space) / entry["path"] for name, entry in named(manifests()[space].get("workspace", {})) if "path" in entry}
    found = set()
    for name, entry in named(manifests()[crate]):
        path = shared.get(name) if entry.get("workspace") else Path(crate) / entry["path"] if "path" in entry else None
        found |= {str((REPOSITORY / path).resolve().relative_to(REPOSITORY))} if path else set()
    return found & set(crates())


def named(manifest: dict) -> list:
    """What a manifest depends on: names, and their tables."""
    places = [manifest, *manifest.get("target", {}).values()]
    return [(name, entry) for place in places for table in TABLES for name, entry in place.get(table, {}).items() if isinstance(entry, dict)]


def with_users(changed: set) -> set:
    """These crates, and all that use one of them, directly or not."""
    while more := {crate for crate in crates() if crate not in changed and uses(crate) & changed}:
        changed = changed | more
    return changed


@cache
def reads(crate: str) -> frozenset:
    """The files and folders outside of a crate that strings of its sources name, by their path from the file, the crate or the repository."""
    there = set(tracked()) | {str(folder) for name in tracked() for folder in Path(name).parents} - {"."}
    found = set()
    for file in (name for name in tracked() if name.endswith(".rs") and crate_of(name) == crate):
        for text in re.findall(r'"([^"\n]+)"', (REPOSITORY / file).read_text()):
            if "/" not in text and not (IN_A_TEST.search(file) and (REPOSITORY / text).is_dir()):
                continue
            for place in (Path(file).parent, Path(crate)) if "../" in text else ():
                path = (REPOSITORY / place / text.lstrip("/")).resolve()
                found |= {str(path.relative_to(REPOSITORY))} if path.is_relative_to(REPOSITORY) else set()
            found.add(text.lstrip("./").rstrip("/"))
    return frozenset(name for name in found & there if not f"{crate}/".startswith(f"{name}/") and not name.startswith(f"{crate}/"))
