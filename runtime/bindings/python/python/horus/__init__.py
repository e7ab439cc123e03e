"""Topics, messages and real-time nodes over shared memory. docs/python.md is the guide."""

import sys as _sys

INTERFACE = 8

if "t" in getattr(_sys, "abiflags", ""):
    raise ImportError("this Python has no GIL, and horus needs one: use the ordinary build of the same version, such as python3.14 and not python3.14t")

try:
    import horus._horus as _horus
except ModuleNotFoundError as _missing:
    raise ImportError(
        "horus._horus is not there: install a wheel of horus-rt (docs/python.md), or build `cargo build --release -p horus-python` and copy lib_horus.so "
        "to horus/_horus.abi3.so"
    ) from _missing
if _horus.INTERFACE != INTERFACE:
    raise ImportError(f"horus._horus has interface {_horus.INTERFACE}, and the package wants {INTERFACE}: install both from one wheel")

from horus._action import act
from horus._app import App
from horus._horus import (
    ActionClient,
    ActionServer,
    Array,
    Broadcaster,
    Client,
    Cycle,
    Frames,
    Goal,
    HorusError,
    Input,
    Loan,
    Lost,
    NodeServer,
    Outcome,
    Output,
    Param,
    ParamChange,
    Parameter,
    Pending,
    Publisher,
    SentGoal,
    Server,
    StaticBroadcaster,
    Subscriber,
    Tally,
    Transform,
    Watch,
    World,
    __version__,
    wait_any,
)
from horus._message import Message, array, f32, f64, from_layout, i8, i16, i32, i64, i128, message, u8, u16, u32, u64, u128
from horus._params import Params, param, params
from horus._program import action, action_client, client, input, node, output, run, server, service
from horus._service import call

from horus import messages  # noqa: E402, I001 (its classes are made of what stands above)

__all__ = [
    "ActionClient", "ActionServer", "App", "Array", "Broadcaster", "Client", "Cycle", "Frames", "Goal", "HorusError", "Input", "Loan", "Lost",
    "Message", "NodeServer", "Outcome", "Output", "Param", "ParamChange", "Parameter", "Params", "Pending", "Publisher", "SentGoal", "Server",
    "StaticBroadcaster", "Subscriber", "Tally", "Transform", "Watch", "World", "__version__", "act", "action", "action_client", "array", "call",
    "client", "f32", "f64", "from_layout", "i128", "i16", "i32", "i64", "i8", "input", "message", "messages", "node", "output", "param", "params",
    "run", "server", "service", "u128", "u16", "u32", "u64", "u8", "wait_any",
]  # fmt: skip
