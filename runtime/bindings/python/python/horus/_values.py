"""What topics of values carry beyond MessagePack's own types: how it is put into them, and read again. docs/python.md says what comes back as what.

The compiled module asks here for what it does not know, so dicts of numbers and texts pay nothing for it. Two extensions of MessagePack are used:
its own of a time (type -1), and ours of an array (type 1), whose bytes are a list in MessagePack: the element's type as NumPy writes it, the shape, and
the elements.
"""

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta, timezone
from enum import Enum

from horus import _horus

TIME, ARRAY = -1, 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# The kinds of numbers by their letters of the buffer protocol (PEP 3118), and the sizes that each has here and in other languages.
KINDS = {"?": "b", **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"), "Zf": "c", "Zd": "c"}
LETTERS = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}
ELEMENTS = {*LETTERS, "c8", "c16"}
SCALARS = (bool, int, float, str, bytes)


def to_plain(value):
    """A value that stands for this one: None and the value, or an extension's type and its bytes. None alone for what cannot be sent."""
    if isinstance(value, _horus.Message):
        return None, {name: getattr(value, name) for name in value.__match_args__}
    if isinstance(value, _horus.Array):
        view = memoryview(value)
        return _array(view) if _kind(view) else (None, list(value))
    if isinstance(value, datetime):
        return TIME, _time(value)
    if isinstance(value, Enum):
        return None, value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return None, {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return _of_numpy(value) or _of_buffer(value) or _collection(value)


def _of_numpy(value):
    """NumPy's own numbers and what it makes an array of, such as a tensor."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        item = value.item()
        if type(item) not in SCALARS:
            raise TypeError(f"a {type(value).__name__} cannot be sent as a value: send an array of it, or a float")
        return None, item
    if hasattr(type(value), "__array__") and not (numpy and isinstance(value, numpy.ndarray)):
        import numpy

        return _array(memoryview(numpy.asarray(value)))
    return None


def _of_buffer(value):
    try:
        view = memoryview(value)
    except TypeError:
        return None
    except ValueError as error:  # NumPy has arrays that no other library could read
        raise TypeError(f"this array cannot be sent as a value: {error}") from error
    if isinstance(value, (bytearray, memoryview)) and view.ndim == 1 and view.itemsize == 1:
        return None, bytes(view)
    return _array(view)


def _collection(value):
    if isinstance(value, Mapping):
        return None, dict(value)
    if isinstance(value, (Set, Sequence)):
        return None, list(value)
    return None


def _kind(view):
    return KINDS.get(view.format.lstrip("@=<>"))


def _array(view):
    kind = _kind(view)
    if kind is None:
        raise TypeError(f"an array of {view.format!r} cannot be sent as a value: send one of numbers")
    order = "|" if view.itemsize == 1 else ">" if view.format.startswith(">") or sys.byteorder == "big" and view.format[0] not in "<" else "<"
    return ARRAY, _horus.encode_value([f"{order}{kind}{view.itemsize}", list(view.shape), view.tobytes()])


def _time(value):
    """A time as MessagePack's specification has it: nanoseconds and seconds since 1970, in as few bytes as they take."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError(f"{value!r} has no time zone, so it is another time on another machine: send datetime.now(timezone.utc)")
    since = value - EPOCH
    seconds, nanoseconds = since.days * 86400 + since.seconds, since.microseconds * 1000
    if 0 <= seconds < 1 << 32 and nanoseconds == 0:
        return seconds.to_bytes(4, "big")
    if 0 <= seconds < 1 << 34:
        return (nanoseconds << 34 | seconds).to_bytes(8, "big")
    return nanoseconds.to_bytes(4, "big") + seconds.to_bytes(8, "big", signed=True)


def from_extension(code, data):
    """What these bytes of an extension are. A ValueError says what is wrong with them: any program may have sent them."""
    if code == TIME:
        return _read_time(data)
    if code == ARRAY:
        return _read_array(data)
    raise ValueError(f"it has an extension of type {code}, which none of HORUS has")


def _read_time(data):
    number = int.from_bytes(data, "big")
    match len(data):
        case 4:
            seconds, nanoseconds = number, 0
        case 8:
            seconds, nanoseconds = number & (1 << 34) - 1, number >> 34
        case 12:
            seconds, nanoseconds = int.from_bytes(data[4:], "big", signed=True), number >> 64
        case _:
            raise ValueError(f"a time has 4, 8 or 12 bytes, and not {len(data)}")
    if nanoseconds >= 1_000_000_000:
        raise ValueError("a time has a second of more than a second")
    try:
        return EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    except OverflowError:
        raise ValueError("a time is before the year 1 or after 9999") from None


def _read_array(data):
    said = _horus.decode_inner(data)
    if not isinstance(said, list) or len(said) != 3 or [type(part) for part in said] != [str, list, bytes]:
        raise ValueError("an array is a list of its element's type, its shape and its elements")
    of, shape, elements = said
    if of[:1] not in ("<", ">", "|") or of[1:] not in ELEMENTS:
        raise ValueError(f"an array is of {of[:20]!r}, which is no type of numbers")
    if any(type(length) is not int or length < 0 for length in shape) or len(shape) > 32:
        raise ValueError("the shape of an array is of up to 32 lengths")
    if math.prod(shape) * int(of[2:]) != len(elements):
        raise ValueError(f"an array of shape {shape} has {len(elements)} bytes of elements")
    return _made(of, shape, elements)


def _made(of, shape, elements):
    """An array of NumPy, which may be written; where there is no NumPy, a view of the bytes."""
    try:
        import numpy
    except ImportError:
        if of[0] == ">" or of[1:] not in LETTERS or 0 in shape:
            raise _horus.HorusError(f"an array of {of} and shape {shape} came: install numpy to read it") from None
        return memoryview(elements).cast(LETTERS[of[1:]], shape)
    return numpy.frombuffer(elements, of).reshape(shape).copy()
