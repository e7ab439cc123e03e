"""docs/architecture.md, the map of the repository: everything has its line there, what it names is there, and its walls stand."""

import re
import subprocess
import tomllib
import unittest

from horus_appliance.paths import REPOSITORY, RUNTIME

MAP = (REPOSITORY / "docs" / "architecture.md").read_text()
TRACKED = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout.splitlines()
# As git has them: what cargo writes below target/ has manifests too.
CRATES = sorted(
    name.removesuffix("/Cargo.toml") for name in TRACKED if name.startswith("runtime/") and name.endswith("/Cargo.toml") and "[package]" in (REPOSITORY / name).read_text()
)
ROWS = re.findall(r"^\| `(.+?)` \|", MAP[MAP.index("## The crates") : MAP.index("## Rules")], re.MULTILINE)
# These use no more of ours than stands here.
WALLS = {"runtime/sys": set(), "runtime/shm": {"runtime/sys"}, "runtime/nodes": {"runtime/horus"}, "runtime/audit": {"runtime/horus"}, "runtime/examples/robot/base": {"runtime/horus"}}
# Where unsafe code may stand; fuzzers are never shipped.
NOT_FORBIDDEN = {"runtime/sys", "runtime/shm", "runtime/bindings/c", "runtime/bindings/python", "runtime/fuzz"}
# The map has a table of these crates' rooms, which names them by the end of their paths; those behind it stand there in full.
ROOMS_BELOW = [f"runtime/{crate}/src" for crate in ("shm", "horus", "audit", "evidence", "cli", "witness", "gateway", "bridge")]
ROOMS = [
    "conf", "recipes", "meta-horus", "benchmarks", "docs", "scripts/checks", "scripts/horus_appliance", "runtime", "runtime/bindings",
    "runtime/bindings/c/src", "runtime/bindings/python/src", "runtime/bindings/csharp/src",
]  # fmt: skip


def folders_in(place: str) -> list:
    """The folders of `place`, "" for all, that git has files of."""
    below = f"{place}/" if place else ""
    inside = {name.removeprefix(below).partition("/") for name in TRACKED if name.startswith(below)}
    return sorted({first for first, slash, _ in inside if slash})


def manifest(crate: str) -> dict:
    return tomllib.loads((REPOSITORY / crate / "Cargo.toml").read_text())


def ours(crate: str) -> set:
    """The crates of this repository that `crate` uses when it runs."""
    folders = {manifest(folder)["package"]["name"]: folder for folder in CRATES}
    return {folders[name] for name in manifest(crate).get("dependencies", {}) if name in folders}


class Map(unittest.TestCase):
    def test_every_folder_of_the_repository_has_its_line(self):
        folders = folders_in("")
        self.assertGreater(len(folders), 7)
        self.assertEqual([folder for folder in folders if f"`{folder}/`" not in MAP], [])

    def test_every_crate_has_its_row_and_every_row_its_crate(self):
        members = {f"runtime/{name}" for name in tomllib.loads((RUNTIME / "Cargo.toml").read_text())["workspace"]["members"]}
        self.assertLess(members, set(CRATES))
        self.assertEqual(sorted(ROWS), CRATES)

    def test_every_room_has_its_line(self):
        for place in ROOMS_BELOW:
            table = MAP[MAP.index(f"| Room of `{place}` |") :].partition("\n\n")[0]
            self.assertEqual([room for room in folders_in(place) if not re.search(rf"^\|.*`{room}/`.*\|", table, re.MULTILINE)], [], place)
        for place in ROOMS:
            self.assertEqual([room for room in folders_in(place) if not re.search(rf"`{place}/{room}[/`]", MAP)], [], place)

    def test_every_file_that_it_names_is_there(self):
        rooms = ("horus/src", "shm/src", "sys/src", "cli/src", "bindings/c/include")
        places = ["", "scripts/checks", "scripts/horus_appliance", "runtime", *(f"runtime/{room}" for room in rooms)]
        named = re.findall(r"`((?:\./)?[\w.-]+(?:/[\w.-]+)+/?)`", MAP)
        self.assertGreater(len(named), 150)
        self.assertEqual([name for name in named if not name.startswith("out/") and not any((REPOSITORY / place / name).exists() for place in places)], [])

    def test_a_crate_uses_those_above_it_and_no_other_of_ours(self):
        for number, crate in enumerate(ROWS):
            self.assertLessEqual(ours(crate), set(ROWS[:number]), crate)
        for crate, wall in WALLS.items():
            self.assertEqual(ours(crate), wall, crate)

    def test_unsafe_code_is_forbidden_outside_of_four_crates(self):
        for crate in set(CRATES) - NOT_FORBIDDEN:
            roots = [path for pattern in ("lib.rs", "main.rs", "bin/*.rs") for path in (REPOSITORY / crate / "src").glob(pattern)]
            self.assertTrue(roots, crate)
            self.assertEqual([str(path) for path in roots if "#![forbid(unsafe_code)]" not in path.read_text()], [])
