"""The rooms of the command and of its libraries import each other in one direction: a circle of two would be one room in two folders."""

import re
import subprocess
import unittest
from graphlib import CycleError, TopologicalSorter

from horus_appliance.paths import REPOSITORY

CRATES = ("runtime/audit", "runtime/evidence", "runtime/cli")
# Tests may look at what stands above.
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod tests \{.*", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//.*")
NAMED = re.compile(r"\bcrate::(?:(\w+)|\{([^}]*)\})")


def room(path: str) -> str:
    """The folder or file directly below src."""
    return path.partition("/")[0].removesuffix(".rs")


def arrows(files: dict) -> dict:
    """For each room of `files` (text by path below src) those that it imports from."""
    found = {room(path): set() for path in files if path not in ("lib.rs", "main.rs")}
    for path, text in files.items():
        if path.endswith("tests.rs") or room(path) not in found:
            continue
        text = COMMENT.sub("", TESTS.sub("", text))
        names = {name for one, many in NAMED.findall(text) for name in [one, *re.findall(r"(?:^|,)\s*(\w+)", many)]}
        above = len(path.removesuffix("/mod.rs").split("/"))  # so often `super` leads to the crate itself
        names.update(re.findall(rf"(?<!super::)\b(?:super::){{{above}}}(\w+)", text))
        found[room(path)] |= names & set(found) - {room(path)}
    return found


def circle(graph: dict) -> list:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


class Circles(unittest.TestCase):
    def test_no_rooms_import_each_other_in_a_circle(self):
        for crate in CRATES:
            listed = subprocess.run(["git", "ls-files", f"{crate}/src/*.rs"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
            paths = listed.stdout.splitlines()
            graph = arrows({path.removeprefix(f"{crate}/src/"): (REPOSITORY / path).read_text() for path in paths})
            self.assertGreater(sum(map(len, graph.values())), 10, crate)
            self.assertEqual(circle(graph), [], crate)

    def test_a_circle_is_found_whichever_way_it_is_written(self):
        low = {"lib.rs": "mod a;\nmod b;\nuse a::A;", "b.rs": "pub struct B; // crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"}
        for path, text in {"a/mod.rs": "use super::b::B;", "a/c.rs": "use super::super::b::B;", "a.rs": "use crate::{b::B, d};"}.items():
            self.assertEqual(circle(arrows({**low, path: text})), [], path)
            for back in ("use crate::a::A;", "use super::super::a;", "use crate::{x, a::A};"):
                self.assertNotEqual(circle(arrows({**low, path: text, "b/e.rs": back})), [], (path, back))
