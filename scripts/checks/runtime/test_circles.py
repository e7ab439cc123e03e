"""Rooms and files of a crate import each other in one direction: a circle of two would be one room in two folders, or one file in two.

All crates are looked at, and the circles that are left stand here by name, with the reason. A crate that has none is held to that."""

import re
import subprocess
import unittest
from collections import defaultdict
from pathlib import PurePosixPath

from horus_appliance.paths import REPOSITORY

# Tests may look at what stands above.
TESTS = re.compile(r"^#\[cfg\((?:all\()?test.*?\)\]\n(?:pub(?:\(\w+\))? )?mod \w+ \{.*?^\}", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//.*")
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
NAMED = re.compile(r"\b(?:crate|self|super)(?:::\w+)+")
# Circles of rooms that are left, by crate; the first line of each says why. None of them may grow, and one that is gone loses its line.
ROOMS = {
    # Errors of a segment name what its files and its peers are, and waiting looks at who lives: one knot, to be undone with the crate's split.
    "runtime/shm": [["board", "directory", "error", "peers", "ring", "segment", "wait"]],
    # A virtual world declares programs as `app` does, and a program that only describes itself stands in a scratch folder of a world. The verdict
    # on a start has the node's description, and admission has the kernel's policies. A miss asks the witness, which sits beside the misses.
    "runtime/horus": [["app", "world"], ["graph", "startup"], ["miss", "witness"]],
}
# The same of files, as paths of modules.
FILES = {
    # As of rooms: an error's text is made by what it is about.
    "runtime/shm": [["directory", "error", "segment::file", "segment::header"]],
    # A world again.
    "runtime/horus": [["app", "app::build", "world"]],
}


def module(path: str) -> tuple:
    """The module of a file: `a/mod.rs` and `a.rs` are `a`, and the crate itself is ()."""
    parts = PurePosixPath(path).with_suffix("").parts
    return () if parts in (("lib",), ("main",)) else parts[:-1] if parts[-1] == "mod" else parts


def paths_of(tree: str) -> list:
    """Each path of a tree of imports: `a::{b, c::d}` has two."""
    head, brace, tail = tree.partition("{")
    if not brace:
        return [head.partition("as ")[0].strip()]
    branches, depth = [""], 0
    for letter in tail.rpartition("}")[0]:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            branches.append("")
        else:
            branches[-1] += letter
    return [head.strip() + path for branch in branches if branch.strip() for path in paths_of(branch.strip())]


def imports(files: dict) -> dict:
    """For each module of `files` (text by path below src) the modules that it imports from, those below it left out: it consists of them."""
    files = {module(path): text for path, text in files.items() if "tests" not in module(path)}
    found = {}
    for one, text in files.items():
        text = COMMENT.sub("", TESTS.sub("", text))
        named = [path for tree in USE.findall(text) for path in paths_of(tree)] + NAMED.findall(USE.sub("", text))
        found[one] = {other for path in named if (other := meant(path, one, files)) is not None and other[: len(one)] != one}
    return found


def meant(path: str, at: tuple, files: dict) -> tuple | None:
    """The module of ours that a path in the module `at` leads to, as far as its words are modules."""
    first, *words = [word.strip() for word in path.split("::")]
    if first == "super":
        at = at[:-1]
        while words and words[0] == "super":
            at, words = at[:-1], words[1:]
    elif first == "crate":
        at = ()
    elif first != "self":
        if (*at, first) not in files:
            return None
        at = (*at, first)
    while words and (*at, words[0]) in files:
        at, words = (*at, words[0]), words[1:]
    return at


def rooms(found: dict) -> dict:
    """The same of rooms: the folders and files directly below src."""
    graph = defaultdict(set)
    for one, others in found.items():
        if one:
            graph[one[:1]] |= {other[:1] for other in others if other and other[:1] != one[:1]}
    return dict(graph)


def circles(graph: dict) -> list:
    """The circles, each as the sorted names of all who reach each other."""

    def reached(start: tuple) -> set:
        seen, left = set(), [start]
        while left:
            for other in graph.get(left.pop(), ()):
                if other not in seen and other in graph:
                    seen.add(other)
                    left.append(other)
        return seen

    reach = {one: reached(one) for one in graph}
    knots = {frozenset(other for other in graph if other in reach[one] and one in reach[other]) for one in graph if one in reach[one]}
    return sorted(sorted("::".join(one) or "the crate" for one in knot) for knot in knots)


def crates() -> dict:
    """The sources of each crate, by path below its src."""
    listed = subprocess.run(["git", "ls-files", "*/src/*.rs"], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout.splitlines()
    found = defaultdict(dict)
    for path in listed:
        crate, _, rest = path.partition("/src/")
        if (REPOSITORY / crate / "Cargo.toml").exists() and not rest.startswith("bin/"):
            found[crate][rest] = (REPOSITORY / path).read_text()
    return found


class Circles(unittest.TestCase):
    def test_no_rooms_and_no_files_import_each_other_in_a_circle_but_those_that_are_named(self):
        found = crates()
        self.assertGreater(len(found), 12)
        graphs = {crate: imports(files) for crate, files in found.items()}
        self.assertGreater(sum(len(others) for graph in graphs.values() for others in graph.values()), 1000)
        self.assertEqual({crate: all_of for crate, graph in graphs.items() if (all_of := circles(rooms(graph)))}, ROOMS)
        self.assertEqual({crate: all_of for crate, graph in graphs.items() if (all_of := circles(graph))}, FILES)

    def test_a_circle_is_found_whichever_way_it_is_written(self):
        low = {"lib.rs": "mod a;\nmod b;\nuse a::A;", "b.rs": "pub struct B; // crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"}
        for path, text in {"a/mod.rs": "use super::b::B;", "a/c.rs": "use super::super::b::B;", "a.rs": "pub(crate) use crate::{b::B, d};"}.items():
            one_way = {"a.rs": "mod c;", **low, path: text}
            self.assertEqual(circles(rooms(imports(one_way))), [], path)
            for back in ("use crate::a::A;", "    use super::super::a;", "use crate::{x::{y, z}, a::A};", "fn f() -> crate::a::A {}"):
                self.assertEqual(circles(rooms(imports({**one_way, "b/e.rs": back}))), [["a", "b"]], (path, back))

    def test_files_of_one_room_are_told_apart_and_a_file_consists_of_those_below_it(self):
        files = {"lib.rs": "mod a;", "a.rs": "mod b;\nmod c;\nuse b::B;\npub use self::c::C;", "a/b.rs": "use super::c::C;", "a/c.rs": "use super::A;"}
        self.assertEqual(circles(imports(files)), [])
        self.assertEqual(circles(imports({**files, "a/c.rs": "use crate::a::b::{self, B};"})), [["a::b", "a::c"]])
        self.assertEqual(circles(rooms(imports({**files, "a/c.rs": "use crate::a::b::{self, B};"}))), [])

    def test_what_is_no_module_of_ours_and_what_only_tests_import_is_no_arrow(self):
        files = {"a.rs": 'use std::b::C;\nconst TEXT: &str = "use b;";', "b.rs": "use crate::a::A;", "b/tests.rs": "use crate::c::C;", "c.rs": "use crate::b;"}
        self.assertEqual(imports(files), {("a",): set(), ("b",): {("a",)}, ("c",): {("b",)}})
