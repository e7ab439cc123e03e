"""Every public item of the crates that others stand on is used: by a crate, a test, a page or a binding, be it only by its name.

The compiler tells of what is private and unused, and of a public item it cannot know. An item that its own crate alone uses is none of these.
"""

import re
import unittest
from collections import Counter

from checks import manifests
from horus_appliance.paths import REPOSITORY

CRATES = (
    "runtime/sys", "runtime/shm", "runtime/measure", "runtime/horus", "runtime/witness", "runtime/audit", "runtime/evidence", "runtime/launch", "runtime/update",
)  # fmt: skip
SPOKEN = (".rs", ".md", ".py", ".c", ".cpp", ".h", ".hpp", ".cs", ".in", ".toml")
# They tell what was, and are no use of an item that is left.
HISTORY = ("docs/data/", "docs/decisions/", "CHANGELOG.md")
KINDS = "fn|struct|enum|union|trait|type|static|const|mod"
PUBLIC = re.compile(rf'^\s*pub (?:const |unsafe |async |extern "C" )*(?:{KINDS}) (\w+)', re.MULTILINE)
DEFINED = re.compile(rf"\b(?:{KINDS}) (?!fn |unsafe )(\w+)")
# Comments but those of documentation; and names that are only passed on.
NO_USE = re.compile(r"^\s*//(?![/!]).*$|^\s*pub use .*;$", re.MULTILINE)
# Items that nothing names, with the reason.
EXCEPTIONS = {
    "macro_util": "zerocopy's derive names it, by the path that the macro of messages gives it",
}


def unused(sources: dict, public: dict) -> list:
    """The names of `public`, by file, that stand in `sources`, text by file, only where something is defined."""
    named, defined = Counter(), Counter()
    for name, text in sources.items():
        text = NO_USE.sub("", text) if name.endswith(".rs") else text
        named.update(re.findall(r"\w+", text))
        defined.update(DEFINED.findall(text) if name.endswith(".rs") else ())
    return [f"{file}: {name}" for file, names in public.items() for name in names if named[name] <= defined[name]]


def sources() -> dict:
    """What may use an item, by its path."""
    names = [name for name in manifests.tracked() if name.endswith(SPOKEN) and not name.startswith(HISTORY)]
    return {name: (REPOSITORY / name).read_text() for name in names}


class UnusedItems(unittest.TestCase):
    def test_every_public_item_is_used_or_has_its_reason(self):
        texts = sources()
        public = {name: PUBLIC.findall(text) for name, text in texts.items() if name.startswith(tuple(f"{crate}/src/" for crate in CRATES))}
        names = {name for found in public.values() for name in found}
        self.assertGreater(len(names), 500)
        self.assertEqual(set(EXCEPTIONS) - names, set(), "these are gone")
        left = {file: [name for name in found if name not in EXCEPTIONS] for file, found in public.items()}
        self.assertEqual(unused({name: text for name, text in texts.items() if not name.endswith(__name__.rpartition(".")[2] + ".py")}, left), [])

    def test_an_item_that_is_only_defined_passed_on_or_told_of_in_a_comment_is_found(self):
        text = "pub struct Lonely;\npub use lonely::Lonely;\n// Lonely is alone.\nimpl A {\n    pub const fn twice(&self) {}\n}\nimpl B {\n    pub fn twice(&self) {}\n}\n"
        found = PUBLIC.findall(text)
        self.assertEqual(found, ["Lonely", "twice", "twice"])
        self.assertEqual(unused({"a.rs": text}, {"a.rs": found}), ["a.rs: Lonely", "a.rs: twice", "a.rs: twice"])
        for use in ("x.twice(); Lonely", "/// [`Lonely`], `twice`"):
            self.assertEqual(unused({"a.rs": text, "b.rs": use}, {"a.rs": found}), [])
