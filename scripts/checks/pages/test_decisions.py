"""The index of docs/decisions: it has a row for each page, and says of each what the page says of itself."""

import re
import unittest

from horus_appliance.paths import REPOSITORY

FOLDER = REPOSITORY / "docs" / "decisions"
PAGES = {int(path.name[:4]): path for path in FOLDER.glob("[0-9][0-9][0-9][0-9]-*.md")}
ROW = re.compile(r"^\| \[(\d+)\]\((.+?)\) \| (.+) \| (.+?) \|$", re.MULTILINE)
ROWS = ROW.findall((FOLDER / "README.md").read_text())
STATE = re.compile(r"holds|(amended|replaced) by \d+(, \d+)*")
CHANGED = re.compile(r"\*\*(Amended|Replaced) by (.+?)\.\*\*")


def numbers(text: str) -> list:
    return [int(number) for number in re.findall(r"\d+", text)]


class Decisions(unittest.TestCase):
    def test_every_page_has_a_row_and_every_row_a_page_in_order(self):
        self.assertEqual([(int(number), name) for number, name, _, _ in ROWS], sorted((number, path.name) for number, path in PAGES.items()))

    def test_every_file_of_the_folder_is_a_page_or_the_index(self):
        self.assertEqual({path.name for path in FOLDER.iterdir()} - {path.name for path in PAGES.values()}, {"README.md"})

    def test_every_page_has_its_number_in_its_heading(self):
        for number, path in PAGES.items():
            self.assertTrue(path.read_text().startswith(f"# {number}. "), path.name)

    def test_every_state_is_one_of_three_and_names_decisions_that_are_there(self):
        for number, _, _, state in ROWS:
            with self.subTest(decision=number):
                self.assertRegex(state, f"^({STATE.pattern})$")
                self.assertLessEqual(set(numbers(state)), set(PAGES) - {int(number)})

    def test_a_page_says_at_its_top_what_changed_it_and_how_as_the_index_does(self):
        for number, name, _, state in ROWS:
            with self.subTest(decision=number):
                top = " ".join(PAGES[int(number)].read_text().split("\n\n")[1].split())
                changed = CHANGED.match(top)
                self.assertEqual(state == "holds", changed is None)
                if changed:
                    self.assertEqual(state.partition(" ")[0], changed[1].lower())
                    links = re.findall(r"\[(\d+)\]\((\d+)-", changed[2])
                    self.assertEqual([int(shown) for shown, _ in links], numbers(state))
                    self.assertTrue(all(int(shown) == int(target) for shown, target in links), name)
                    self.assertRegex(top[changed.end() :], r"\w+.*\.$", "a sentence says how")
