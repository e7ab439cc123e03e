"""What a change can break, for ./scripts/test --changed: the checks that depend on something of it, and why each other one is left out.

A check says in catalogue.py what it is about (`on`) and what it only goes through (`through`): folders and files, where a folder that holds crates
stands for these. A check that is a cargo command is about the crates that cargo names, and need not say so. What a crate uses, what its sources
read outside of it and what a script imports are found in manifests and sources.

A check that says nothing always runs. One that is `slow` runs only for what it is about: an image is booted for a change of conf/, and not of a crate.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from checks import imports, manifests
from checks.runner import Check
from horus_appliance.console import CannotRun
from horus_appliance.paths import REPOSITORY

# The compiler; a change of it is one of all crates.
OF_ALL = "rust-toolchain.toml"
UNCHANGED = "nothing that they depend on has changed"


@dataclass(frozen=True)
class Change:
    """Files by their path in the repository, the crates that these belong to, and the crates whose sources read them."""

    files: tuple
    crates: frozenset
    readers: frozenset


def against_main() -> Change:
    """What this branch and this working tree have changed since they left main."""
    base = next((found for name in ("main", "origin/main") if (found := git("merge-base", "HEAD", name, check=False))), None)
    if base is None:
        raise CannotRun("there is neither a branch main nor origin/main to compare with; fetch it: git fetch origin main")
    return of([*git("diff", "--name-only", "--no-renames", base[0]), *git("ls-files", "--others", "--exclude-standard")])


def git(*arguments: str, check: bool = True) -> list:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, check=check, capture_output=True, text=True).stdout.splitlines()


def of(files: list) -> Change:
    """The change that these files are."""
    own = {crate for file in files if (crate := manifests.crate_of(file))}
    # A file beside a workspace's manifest, such as its lock, is one of all its crates.
    own |= {crate for file in files for crate in manifests.members().get(str(Path(file).parent), ())}
    own |= set(manifests.crates()) if OF_ALL in files else set()
    readers = {crate for crate in manifests.crates() if any(below(file, manifests.reads(crate)) for file in files)}
    return Change(tuple(files), frozenset(own), frozenset(readers))


def below(file: str, places) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in places)


def choose(checks: list, change: Change) -> tuple:
    """The checks that run, and those that are left out with the reason."""
    scripts = {check.name: imports.closure(imports.roots(check)) for check in checks}
    reasons = [(check, why_not(check, change, scripts)) for check in checks]
    return [check for check, reason in reasons if not reason], [(check, reason) for check, reason in reasons if reason]


def why_not(check: Check, change: Change, scripts: dict) -> str:
    """Why a check need not run, "" if it has to. `scripts` are the files of each check by its name."""
    if not states(check) or about(check, change, scripts):
        return ""
    if not (touched := through(check, change, scripts)):
        return UNCHANGED
    named = f"{', '.join(touched[:3])}{' and more' if len(touched) > 3 else ''}"
    return f"too slow for a change of {named}, which they only use" if check.slow else ""


def seen_by_none(checks: list, change: Change) -> list:
    """The changed files on which only checks depend that always run."""
    scripts = {check.name: imports.closure(imports.roots(check)) for check in checks}

    def is_seen(file: str) -> bool:
        one = of([file])
        return any(about(check, one, scripts) or through(check, one, scripts) for check in checks if states(check))

    return [file for file in change.files if not is_seen(file)]


def told(left_out: list, unseen: list) -> str:
    """What is left out and why, in lines for a person; checks of one reason stand together."""
    reasons = {}
    for check, reason in sorted(left_out, key=lambda one: one[1] != UNCHANGED):
        reasons.setdefault(reason, []).append(check.name if reason == UNCHANGED else f"{check.name} ({check.slow})")
    reasons |= {"only checks that always run look at": unseen} if unseen else {}
    lines = [f"{len(names)} checks left out, {reason}" if names is not unseen else reason for reason, names in reasons.items()]
    return "\n".join(fill(f"{line}: {'; '.join(names)}", 150, subsequent_indent="    ") for line, names in zip(lines, reasons.values(), strict=True))


def states(check: Check) -> bool:
    """Whether it is known what a check depends on."""
    return bool(check.on or check.through or cargo_crates(check))


def cargo_crates(check: Check) -> set:
    """The folders of the crates that a cargo command names."""
    words = [str(word) for word in check.command]
    if words[0] != "cargo":
        return set()
    named, left_out = ({words[place + 1] for place, word in enumerate(words) if word == option} for option in ("--package", "--exclude"))
    folders = {manifests.crates()[folder]: folder for folder in manifests.members()[str(check.directory.relative_to(REPOSITORY))]}
    return {folders[name] for name in (named or set(folders)) - left_out}


def about(check: Check, change: Change, scripts: dict) -> list:
    """What has changed of that which a check is about; its own room of scripts belongs to that, and what the tests of its crates read."""
    places = [place for place in check.on if place not in manifests.crates()]
    own = imports.rooms(imports.roots(check))
    has_tests = check.command[:2] == ["cargo", "test"] and "--no-run" not in check.command
    return [
        *sorted(change.crates & set(check.on or cargo_crates(check))),
        *sorted(change.readers & cargo_crates(check) if has_tests else ()),
        *(file for file in change.files if below(file, places) or below(file, own) and imports.belongs(file, check.name, scripts)),
    ]


def through(check: Check, change: Change, scripts: dict) -> list:
    """What has changed of that which a check goes through: crates are used by its own, and scripts imported."""
    stated = {*check.on, *check.through, *cargo_crates(check)}
    return [
        *sorted(crate for crate in change.crates if any(below(user, stated) for user in manifests.with_users({crate}))),
        *(file for file in change.files if not manifests.crate_of(file) and below(file, check.through)),
        *(file for file in change.files if imports.belongs(file, check.name, scripts)),
    ]
