"""The rooms of scripts/: what ships never imports what checks it, rooms stay small, and every test is found by its file's name."""

import re
import unittest
from collections import Counter

from checks.discover import PREFIXES
from horus_appliance.paths import SCRIPTS

FILES_OF_A_ROOM = 15
MODULES = [path for room in ("horus_appliance", "checks") for path in sorted((SCRIPTS / room).rglob("*.py"))]


class Rooms(unittest.TestCase):
    def test_what_ships_never_imports_a_check(self):
        ships = [path for path in MODULES if path.is_relative_to(SCRIPTS / "horus_appliance")]
        self.assertGreater(len(ships), 20)
        self.assertEqual([str(path) for path in ships if re.search(r"^\s*(from|import) checks\b", path.read_text(), re.MULTILINE)], [])

    def test_no_room_has_more_files_than_a_reader_keeps_in_mind(self):
        rooms = Counter(str(path.parent.relative_to(SCRIPTS)) for path in MODULES if path.name != "__init__.py")
        self.assertEqual({room: count for room, count in rooms.items() if count > FILES_OF_A_ROOM}, {})

    def test_every_file_with_tests_has_a_name_by_which_it_is_found(self):
        for path in MODULES:
            has_tests = bool(re.search(r"^    def test_", path.read_text(), re.MULTILINE))
            self.assertEqual(has_tests, path.name.startswith(PREFIXES), path)
