"""The prose of the pages and of the code: no line is too wide to read, and every sentence says who or what."""

import re
import subprocess
import unittest
from pathlib import Path

from horus_appliance.paths import REPOSITORY

WIDTH = 150
PLACES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md")
PAGES = [page for place in PLACES for page in sorted(REPOSITORY.glob(place))]
# What programs print, and what a tool writes between its marks, is theirs.
NOT_PROSE = re.compile(r"^ *```.*?^ *```$|^<!-- generated.*?^<!-- end generated -->$", re.MULTILINE | re.DOTALL)
# A noun in their place says whom the sentence is about.
UNNAMED = re.compile(r"\b(nobody|somebody|whoever|anybody|everybody|someone|anyone|wherever)\b", re.IGNORECASE)
# The same in comments, errors and help. Code is looked at in whole lines, so names such as the culprit's kind `Nobody` count, too.
CODE = ("*.rs", "*.py", "*.h", "*.hpp", "*.cs", "*.toml", "*.c", "*.cpp", "*.pyi", "conf", "scripts", "recipes")
UNNAMED_IN_CODE = re.compile(r"\b(nobody|somebody|whoever|wherever)\b", re.IGNORECASE)
# So many lines at most. Lower it with each that goes: a new one finds a noun.
MOST_IN_CODE = 39
# The texts of errors, as they are printed.
QUOTED = ("everybody may write to …",)


def prose(text: str) -> list:
    """The lines of a page that people wrote, with their numbers; the others are empty."""
    return list(enumerate(NOT_PROSE.sub(lambda found: "\n" * found[0].count("\n"), text).splitlines(), 1))


def too_wide(text: str) -> list:
    return [number for number, line in prose(text) if len(line) > WIDTH and not re.match(r" *[|<#!]", line)]


def unnamed(text: str) -> list:
    for quoted in QUOTED:
        text = text.replace(quoted, "")
    return [(number, found[0]) for number, line in prose(text) if (found := UNNAMED.search(re.sub(r"`[^`]*`", "", line)))]


def unnamed_in_code(text: str) -> list:
    return [number for number, line in enumerate(text.splitlines(), 1) if UNNAMED_IN_CODE.search(line)]


def code() -> list:
    """The files of code that git has, but for this one, which names the words."""
    found = subprocess.run(["git", "ls-files", "-z", "--", *CODE], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    files = [REPOSITORY / name for name in found.split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink() and file != Path(__file__).resolve()]


class Prose(unittest.TestCase):
    def test_no_line_is_wider_than_a_screen(self):
        self.assertGreater(len(PAGES), 80)
        self.assertEqual({page.name: lines for page in PAGES if (lines := too_wide(page.read_text()))}, {})

    def test_every_sentence_says_whom_it_is_about(self):
        self.assertEqual({page.name: lines for page in PAGES if (lines := unnamed(page.read_text()))}, {})

    def test_code_says_it_too_and_gets_no_worse(self):
        files = code()
        self.assertGreater(len(files), 1000)
        places = [f"{file.relative_to(REPOSITORY)}:{line}" for file in files for line in unnamed_in_code(file.read_text(errors="replace"))]
        self.assertLessEqual(len(places), MOST_IN_CODE, "\n".join(places))
        self.assertEqual(unnamed_in_code("// Nobody waits.\nfn as_nobody()\n# whoever\n"), [1, 3])

    def test_what_breaks_the_rules_is_found_and_what_is_no_prose_is_not(self):
        wide = "word " * 40
        self.assertEqual((too_wide(wide), too_wide(f"```\n{wide}\n```\n"), too_wide(f"| {wide} |")), ([1], [], []))
        self.assertEqual(too_wide(f"<!-- generated: a -->\n{wide}\n<!-- end generated -->\n{wide}"), [4])
        self.assertEqual((unnamed("It disturbs\nnobody."), unnamed("`nobody`"), unnamed("```\nnobody\n```")), ([(2, "nobody")], [], []))
