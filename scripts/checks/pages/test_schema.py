"""Editors check node.toml and robot.toml by the files of docs/schema: each of the repository is valid by its own, and wrong ones are not."""

import json
import re
import tomllib
import unittest

from checks.pages.schema import complaints
from horus_appliance.paths import REPOSITORY as ROOT

SCHEMA = json.loads((ROOT / "docs/schema/node.toml.json").read_text())
OF_ROBOTS = json.loads((ROOT / "docs/schema/robot.toml.json").read_text())
# What stands in a template until a project is made of it.
FILLED = {"NAME": "balance", "SOURCE": "src/main.rs", "PERIOD": "1 ms", "BUDGET": "150 us", "DEADLINE": "800 us"}
LEFT_OUT = {"target", ".git", "build", ".venv", "node_modules"}


def of_the_repository() -> dict:
    found = {}
    for path in [*ROOT.rglob("node.toml"), *ROOT.rglob("node.toml.in")]:
        if not LEFT_OUT & set(path.relative_to(ROOT).parts):
            found[str(path.relative_to(ROOT))] = re.sub("@([A-Z]+)@", lambda word: FILLED[word[1]], path.read_text())
    return found


def of_the_pages() -> dict:
    """Fenced blocks that are whole settings, or a part of them."""
    found = {}
    for page in (ROOT / "docs").glob("*.md"):
        for number, block in enumerate(re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)):
            if re.search(r"^(\[node\.|\[topics\]|\[params\])", block, re.MULTILINE):
                found[f"{page.name}, block {number}"] = block
    return found


class OfNodeToml(unittest.TestCase):
    def test_every_one_of_the_repository_and_of_its_pages_is_valid(self):
        files, blocks = of_the_repository(), of_the_pages()
        self.assertTrue(files and blocks, "the test looks at the wrong files")
        for place, text in {**files, **blocks}.items():
            with self.subTest(place=place):
                self.assertEqual(complaints(tomllib.loads(text), SCHEMA, SCHEMA), [])

    def test_wrong_ones_are_refused(self):
        wrong = (ROOT / "runtime/horus/tests/wrong_settings.txt").read_text().split("\n---\n")
        self.assertGreater(len(wrong), 25)
        for text in wrong:
            with self.subTest(text=text):
                self.assertNotEqual(complaints(tomllib.loads(text), SCHEMA, SCHEMA), [])

    def test_every_example_is_valid_where_it_stands(self):
        for schema, least in ((SCHEMA, 20), (OF_ROBOTS, 11)):
            count, pending = 0, [schema]
            while pending:
                each = pending.pop()
                if isinstance(each, dict):
                    for example in each.get("examples", []) if isinstance(each.get("examples"), list) else []:
                        self.assertEqual(complaints(example, each, schema), [])
                        count += 1
                pending += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
            self.assertGreater(count, least)

    def test_the_validator_passes_over_nothing(self):
        with self.assertRaises(KeyError):
            complaints({}, {"minProperties": 1}, {})
        for value, schema in ((True, {"type": "integer"}), ({"a": 1}, {"additionalProperties": False}), ("x", {"pattern": "^y"}), (3, {"maximum": 2})):
            self.assertNotEqual(complaints(value, schema, {}), [])


class OfRobotToml(unittest.TestCase):
    def test_every_one_of_the_repository_and_of_its_pages_is_valid(self):
        found = {str(path): path.read_text() for path in ROOT.rglob("robot.toml") if not LEFT_OUT & set(path.relative_to(ROOT).parts)}
        for page in (ROOT / "docs").glob("*.md"):
            blocks = re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
            # A block may be a part of a file: its programs alone.
            found.update({f"{page.name}: {block}": block for block in blocks if re.search(r"^\[programs\.", block, re.MULTILINE)})
        self.assertGreater(len(found), 1)
        for place, text in found.items():
            with self.subTest(place=place):
                self.assertEqual(complaints(tomllib.loads(text), OF_ROBOTS, OF_ROBOTS), [])

    def test_wrong_ones_are_refused(self):
        wrong = (ROOT / "runtime/launch/tests/wrong_robots.txt").read_text().split("\n---\n")
        self.assertGreater(len(wrong), 10)
        for text in wrong:
            with self.subTest(text=text):
                self.assertNotEqual(complaints(tomllib.loads(text), OF_ROBOTS, OF_ROBOTS), [])
