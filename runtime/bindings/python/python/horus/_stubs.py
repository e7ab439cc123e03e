"""Writes messages.pyi, so that editors and type checkers know the messages of the field: python3 -m horus._stubs > python/horus/messages.pyi."""

import sys

from horus import _horus
from horus._documented import quoted
from horus._texts import TEXTS

HEAD = '''# Made by `python3 -m horus._stubs`; a test says when it is not current.
from collections.abc import Mapping, Sequence
from typing import Any

from horus import Array, Message
'''
IMAGE = """    def begin(self, width: int, height: int, encoding: str = "rgb8") -> Any:
        \"\"\"Describes a picture whose rows follow each other without gap, and gives its pixels as a NumPy array, to be written.\"\"\"
    @property
    def encoding(self) -> str | None:
        \"\"\"The name of the encoding; None for a code that means nothing.\"\"\"
"""
COMMAND = """    @classmethod
    def stop(cls) -> CmdVel:
        \"\"\"Neither forward nor a turn.\"\"\"
"""


def of_field_messages():
    """The stubs of all messages of the field."""
    return HEAD + "".join(_stub(text) for text in _horus.field_messages())


def _stub(text):
    lines = text.split("\nmessage ")[0].splitlines()
    name = lines[0].split()[1].rsplit("/", 1)[-1]
    fields = [line.split(None, 1) for line in lines[1:]]
    arguments = ", ".join(f"{field}: {_given(of)} = ..." for field, of in fields)
    about, told = TEXTS[name]
    out = f"\nclass {name}(Message):\n{quoted(about, 4)}\n\n"
    for field, of in fields:
        if _read(of) == _given(of):
            out += f"    {field}: {_read(of)}\n{quoted(told[field], 4)}\n"
            continue
        out += f"    @property\n    def {field}(self) -> {_read(of)}:\n{quoted(told[field], 8)}\n"
        out += f"    @{field}.setter\n    def {field}(self, value: {_given(of)}) -> None: ...\n"
    out += f"    def __init__(self, {arguments}) -> None: ...\n"
    return out + {"encoding_code": IMAGE}.get(next((field for field, _ in fields if field == "encoding_code"), ""), "") + (COMMAND if name == "CmdVel" else "")


def _read(of):
    """What a field of this type is read as."""
    if of.startswith("["):
        return f"Array[{_read(of[1:-1].rsplit(';', 1)[0].strip())}]"
    return {"f32": "float", "f64": "float"}.get(of) or ("int" if of[1:].isdigit() else of.rsplit("/", 1)[-1])


def _given(of):
    """What it can be set to."""
    if of.startswith("["):
        element = of[1:-1].rsplit(";", 1)[0].strip()
        return f"Sequence[{_given(element)}] | Array[{_read(element)}]" + (" | bytes | str" if element == "u8" else "")
    read = _read(of)
    return read if read in ("float", "int") else f"{read} | Sequence[Any] | Mapping[str, Any]"


if __name__ == "__main__":
    sys.stdout.write(of_field_messages())
