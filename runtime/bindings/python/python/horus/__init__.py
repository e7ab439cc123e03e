"""Topics, messages and real-time nodes over shared memory. docs/python.md is the guide."""

from horus._horus import Array, HorusError, Loan, Publisher, Subscriber, __version__, wait_any
from horus._message import Message, array, f32, f64, from_layout, i8, i16, i32, i64, i128, message, u8, u16, u32, u64, u128

__all__ = [
    "Array", "HorusError", "Loan", "Message", "Publisher", "Subscriber", "__version__", "array", "f32", "f64", "from_layout", "i8", "i16", "i32", "i64",
    "i128", "message", "u8", "u16", "u32", "u64", "u128", "wait_any",
]  # fmt: skip
