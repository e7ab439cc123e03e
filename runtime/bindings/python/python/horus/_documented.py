"""Gives a stub the docstrings of what it describes, so that editors show them also of the compiled module.

    python3 -m horus._documented python/horus/__init__.pyi
"""

import ast
import sys
import textwrap
from pathlib import Path

LINE = 150


def documented(text, module):
    """The text of a stub with the docstrings of what is public in it, and the names of what has none in `module`."""
    lines, bare = text.split("\n"), []
    for node, told, name, indent in reversed(list(_public(ast.parse(text).body, module, ""))):
        doc = " ".join((told or "").split())
        if not doc:
            bare.append(name)
            continue
        first = node.body[0]
        new = quoted(doc, indent).split("\n")
        if ast.get_docstring(node) is not None:
            lines[first.lineno - 1 : first.end_lineno] = new
        elif isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...:
            lines[first.lineno - 1] = lines[first.lineno - 1].removesuffix("...").rstrip()
            lines[first.lineno : first.lineno] = new
        else:
            at = min(one.lineno for one in (first, *getattr(first, "decorator_list", ()))) - 1
            while lines[at - 1].lstrip().startswith("#"):
                at -= 1
            lines[at:at] = [*new, ""]
    return "\n".join(lines), bare[::-1]


def _public(nodes, owner, path):
    """Classes and functions of a stub with their docstrings, in the order of its lines; of overloads the first."""
    before = None
    for node in nodes:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_") or node.name == before:
            continue
        before = node.name
        there = vars(owner).get(node.name, getattr(owner, node.name, None))
        there = getattr(there, "__func__", there)  # what a static method says of itself is of static methods
        told = None if there is None else getattr(there, "__doc__", None)  # None has a docstring of its own since Python 3.13
        yield node, told, f"{path}{node.name}", node.col_offset + 4
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body, there, f"{path}{node.name}.")


def quoted(doc, indent):
    """A docstring of short lines, indented."""
    doc = doc.replace("\\", "\\\\")
    if len(doc) + indent + 6 > LINE + 10:
        doc = "\n" + "\n".join(textwrap.wrap(doc, LINE - indent, break_long_words=False, break_on_hyphens=False)) + "\n"
    return textwrap.indent(f'"""{doc}"""', " " * indent)


if __name__ == "__main__":
    import horus

    stub = Path(sys.argv[1])
    made, bare = documented(stub.read_text(), horus)
    stub.write_text(made)
    sys.exit(f"without a docstring: {', '.join(bare)}" if bare else 0)
