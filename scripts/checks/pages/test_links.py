"""Every link of a page in this repository leads to a file, and every anchor to a heading."""

import re
import subprocess
import unittest
from functools import cache
from pathlib import Path

from horus_appliance.paths import REPOSITORY

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def pages() -> list:
    """The pages that are in git, or would be."""
    found = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return [path for name in found.stdout.splitlines() if (path := REPOSITORY / name).exists()]


def broken(page: Path, text: str) -> list:
    """The links of `text`, which stands in `page`, that lead nowhere."""
    found = []
    for path, anchor in LINK.findall(CODE.sub("", text)):
        target = (page.parent / path).resolve() if path else page
        if re.match(r"[a-z]+:", path):
            continue
        if not target.exists() or anchor and target.suffix == ".md" and anchor not in anchors(target):
            found.append(f"{path}#{anchor}" if anchor else path)
    return found


@cache
def anchors(page: Path) -> set:
    """The headings of `page` as GitHub spells their anchors."""
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        found = pages()
        self.assertGreater(len(found), 50)
        self.assertEqual({str(page.relative_to(REPOSITORY)): links for page in found if (links := broken(page, page.read_text()))}, {})

    def test_a_link_that_leads_nowhere_is_found(self):
        for link, is_broken in (
            ("[a](architecture.md)", False), ("[a](architecture.md#the-rooms-of-scripts)", False), ("[a](https://example.org/no.md)", False),
            ("`[a](no.md)`", False), ("[a](no.md)", True), ("[a](architecture.md#no)", True),
        ):  # fmt: skip
            with self.subTest(link=link):
                self.assertEqual(bool(broken(REPOSITORY / "docs" / "page.md", link)), is_broken)
