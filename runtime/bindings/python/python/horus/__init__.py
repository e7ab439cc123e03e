"""Topics, messages and real-time nodes over shared memory. docs/python.md is the guide."""

from horus._app import App
from horus._horus import Array, Cycle, HorusError, Input, Loan, Output, Publisher, Subscriber, Tally, World, __version__, wait_any
from horus._message import Message, array, f32, f64, from_layout, i8, i16, i32, i64, i128, message, u8, u16, u32, u64, u128
from horus._program import input, node, output, run

__all__ = [
    "App", "Array", "Cycle", "HorusError", "Input", "Loan", "Message", "Output", "Publisher", "Subscriber", "Tally", "World", "__version__", "array",
    "f32", "f64", "from_layout", "i8", "i16", "i32", "i64", "i128", "input", "message", "node", "output", "run", "u8", "u16", "u32", "u64", "u128",
    "wait_any",
]  # fmt: skip
