from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from types import TracebackType
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeAlias, dataclass_transform, final, overload

from typing_extensions import Buffer, TypeVar, disjoint_base

from horus import messages as messages

__version__: str
INTERFACE: int

f32: TypeAlias = Annotated[float, "f32"]
f64: TypeAlias = Annotated[float, "f64"]
u8: TypeAlias = Annotated[int, "u8"]
u16: TypeAlias = Annotated[int, "u16"]
u32: TypeAlias = Annotated[int, "u32"]
u64: TypeAlias = Annotated[int, "u64"]
u128: TypeAlias = Annotated[int, "u128"]
i8: TypeAlias = Annotated[int, "i8"]
i16: TypeAlias = Annotated[int, "i16"]
i32: TypeAlias = Annotated[int, "i32"]
i64: TypeAlias = Annotated[int, "i64"]
i128: TypeAlias = Annotated[int, "i128"]

_M = TypeVar("_M")
_Q = TypeVar("_Q", bound=Message)
_A = TypeVar("_A", bound=Message)
_T = TypeVar("_T")
_P = TypeVar("_P", bool, int, float, str)
_E = TypeVar("_E", default=Any)
_F = TypeVar("_F")
_Serves: TypeAlias = Callable[[_Q], _A | Iterator[_A] | None]
_Span: TypeAlias = float | str | timedelta
_Reaction: TypeAlias = Literal["count", "warn", "skip", "safe_state", "stop"]
_OnMiss: TypeAlias = _Reaction | dict[Literal["count", "warn", "skip", "safe_state", "stop", "degrade"], dict[Literal["after", "within", "every"], int]]

class HorusError(Exception):
    """What a topic, a message or a program of nodes refuses, and what to do about it."""

@disjoint_base
class Message:
    """A message: its fields are attributes, by keyword or in their order when it is made, and zero otherwise."""

    TYPE_NAME: ClassVar[str]
    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The message of these bytes. Raises HorusError when they are not as many as it has."""
    @classmethod
    def layout(cls) -> str:
        """The text of the layout, as other languages have it."""
    @classmethod
    def layout_hash(cls) -> int:
        """The hash of the layout, 64 bits: programs whose hashes differ mean other fields."""
    @classmethod
    def dtype(cls) -> Any:
        """NumPy's structured type of such a message."""
    def to_numpy(self) -> Any:
        """A NumPy array over the same bytes, which are not copied: an image's pixels, a cloud's points, else a structured array."""
    def asdict(self) -> dict[str, Any]:
        """The fields as a dict; messages inside as dicts, arrays as lists."""
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __setitem__(self, index: int, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Array(Sequence[_E]):
    """An array of a message: a view, so that a write to an element changes the message. `Array[int]` is for annotations."""

    # For type checkers alone: what a field of this type can be set to.
    def __get__(self, instance: object, owner: type | None = None, /) -> Self: ...
    def __set__(
        self, instance: object, value: Sequence[_E] | Sequence[Sequence[Any]] | Sequence[Mapping[str, Any]] | Buffer | str, /
    ) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> _E: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[_E]: ...
    def __setitem__(self, index: int | slice, value: Any, /) -> None: ...
    def tolist(self) -> list[Any]:
        """The elements as a list; those of arrays inside as lists, too."""
    def tobytes(self) -> bytes:
        """A copy of the bytes, in the order of the machine."""
    def to_numpy(self) -> Any:
        """A NumPy array over the same bytes, which are not copied: an image's pixels, a cloud's points, else a structured array."""
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def array(of: Any, length: int) -> Any:
    """What a field of `length` of the same is: ticks: horus.Array[int] = horus.array(horus.i16, 4)."""
def from_layout(text: str, *, module: str | None = None, namespace: dict[str, Any] | None = None) -> type[Any]:
    """A class of messages of the text of a layout: `message package/Name`, then `field type` on a line each. Raises HorusError for what is none."""
@dataclass_transform()
def message(type_name: str) -> Callable[[type[_T]], type[_T]]:
    """
    Makes a class of messages of a class with annotated fields: horus.f64, horus.array(horus.i16, 3), or another class of messages. The name, such as
    "package/Name", is what all programs know the message by. Raises TypeError for a field that is none.
    """

@final
class Publisher(Generic[_M]):
    """
    The publishing end of a topic, for messages of a class, bytes or dicts; docs/python.md has its options. One thread at a time uses it. Raises
    HorusError when others mean another message by the topic.
    """

    def __init__(
        self,
        carries: type[_M],
        topic: str,
        *,
        reliable: int | None = None,
        latest: int | None = None,
        publishers: int | None = None,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        wait_strategy: str | None = None,
        stamped: bool = False,
        never_wake: bool = False,
        latched: bool = False,
        maximum: int | None = None,
    ) -> None: ...
    @property
    def topic(self) -> str:
        """The topic's name."""
    def send(self, message: _M, timeout: _Span | None = None) -> None:
        """
        Sends a message. On a reliable topic it waits for room, at most `timeout` seconds; then, or at once on a `latest` topic all of whose messages
        are held, it raises HorusError.
        """
    def try_send(self, message: _M) -> bool:
        """Sends a message if there is room for it; whether there was."""
    def loan(self, timeout: _Span | None = None) -> Loan[_M]:
        """
        Lends the place of the next message, for a `with` block that fills it; at its end the message is sent. With `timeout`, the block waits for
        room at its beginning, at most so many seconds. Without room it raises HorusError.
        """
    def subscribers(self) -> int:
        """How many living subscribers the topic has."""
    def reap_dead_subscribers(self) -> int:
        """Takes dead subscribers off the topic, so that they hold it no longer; how many."""
    def close(self) -> None:
        """Leaves the topic. What is used after that raises HorusError."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class Loan(Generic[_M]):
    """The place of the next message, for a `with` block: at its end the message is sent, and with an exception it is not."""

    def __enter__(self) -> _M: ...
    def __exit__(
        self, error: type[BaseException] | None, _value: BaseException | None = None, _trace: TracebackType | None = None
    ) -> None: ...

@final
class Subscriber(Generic[_M]):
    """
    A subscribing end of a topic, for messages of a class, bytes or dicts; docs/python.md has its options. One thread at a time uses it. Raises
    HorusError when others mean another message by the topic.
    """

    def __init__(
        self,
        carries: type[_M],
        topic: str,
        *,
        reliable: int | None = None,
        latest: int | None = None,
        publishers: int | None = None,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        history: int | None = None,
        wait_strategy: str | None = None,
        never_wake: bool = False,
        latched: bool = False,
        maximum: int | None = None,
    ) -> None: ...
    @property
    def topic(self) -> str:
        """The topic's name."""
    @property
    def missed(self) -> int:
        """How many messages were overwritten before this subscriber got to them, since it joined."""
    @property
    def sequence(self) -> int:
        """The number of the message that was received last, in its publisher's lane."""
    @property
    def sent_ns(self) -> int:
        """When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher gave no time."""
    @property
    def publisher(self) -> int:
        """The number of the publisher that sent it, in the topic's lanes from 0."""
    def try_recv(self) -> _M | None:
        """The next message, or None when it has not been sent yet."""
    @overload
    def recv(self, timeout: None = None) -> _M:
        """Waits for the next message, at most `timeout`: seconds, or a text such as "10 ms". None when the time is up."""
    @overload
    def recv(self, timeout: _Span) -> _M | None: ...
    def wait(self, timeout: _Span | None = None) -> bool:
        """Waits until there is something to receive, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there is."""
    def try_borrow(self) -> _M | None:
        """As `borrow`, but None at once when there is no message yet."""
    @overload
    def borrow(self, timeout: None = None) -> _M:
        """
        Waits for the next message, at most `timeout` seconds, and lends it in its place, to be read; None when the time is up. Messages below 4096
        bytes are copied. The subscriber receives nothing else, and a publisher may find no room, until the message and all arrays of it are gone.
        """
    @overload
    def borrow(self, timeout: _Span) -> _M | None: ...
    def is_published(self) -> bool:
        """Whether a living process publishes the topic."""
    def close(self) -> None:
        """Leaves the topic. What is used after that raises HorusError."""
    def __iter__(self) -> Iterator[_M]: ...
    def __next__(self) -> _M: ...
    @overload
    def recv_async(self, timeout: None = None) -> Coroutine[Any, Any, _M]:
        """The next message, awaited by the event loop that runs; None when `timeout` seconds are over. Cancelling it loses no message."""
    @overload
    def recv_async(self, timeout: _Span) -> Coroutine[Any, Any, _M | None]: ...
    def __aiter__(self) -> AsyncIterator[_M]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

def wait_any(subscribers: Sequence[Subscriber[Any]], timeout: _Span | None = None) -> Subscriber[Any] | None:
    """
    Waits until one of the subscribers has something to receive, and returns it; None when the time is up. Looks at them in order: while an earlier
    one has messages, later ones are not looked at.
    """

@final
class Server(Generic[_Q, _A]):
    """
    The answering end of a service, whose requests and answers are of classes of messages. There is one at a time, unless all say `shared=True`. One
    thread at a time uses it. Options are group, directory and wait_strategy, as those of topics, shared, and clients: for how many it makes room, 8
    if not said otherwise. Raises HorusError when another server lives.
    """

    def __init__(
        self,
        requests: type[_Q],
        answers: type[_A],
        service: str,
        *,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        wait_strategy: str | None = None,
        shared: bool = False,
        clients: int = 8,
    ) -> None: ...
    @property
    def service(self) -> str:
        """The service's name."""
    @property
    def undelivered(self) -> int:
        """Messages that had no room, because their client did not look."""
    def serve(self, handler: Callable[[_Q], _A | Iterator[_A] | None], timeout: _Span | None = None) -> bool:
        """
        Waits for a request, at most `timeout`: seconds, or a text such as "10 ms". Calls `handler` with it, and sends what that returns, or all that
        it yields. None says to the client that there is no answer, and so does an exception, which is raised here. False when the time is up.
        """
    def close(self) -> None:
        """Stops serving. Clients that wait are told. What is used after that raises HorusError."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class NodeServer(Generic[_Q, _A]):
    """
    The answering end of a service in a node, whose requests and answers are of classes of messages: what App.server gives. Only the steps of its node
    use it, and no thread after the program has ended.
    """

    @property
    def service(self) -> str:
        """The service's name."""
    @property
    def undelivered(self) -> int:
        """Messages that had no room, because their client did not look."""
    def serve(self, handler: Callable[[_Q], _A | Iterator[_A] | None]) -> bool:
        """
        Calls `handler` with the next request, and sends what that returns, or all that it yields. None says to the client that there is no answer,
        and so does an exception, which is raised here. False when there is no request: it does not wait.
        """

@final
class Client(Generic[_Q, _A]):
    """
    The asking end of a service, whose requests and answers are of classes of messages. One thread at a time uses it. Options are group, directory and
    wait_strategy, as those of topics, and shared: what its servers say. Raises HorusError when others mean other messages by the service.
    """

    def __init__(
        self,
        requests: type[_Q],
        answers: type[_A],
        service: str,
        *,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        wait_strategy: str | None = None,
        shared: bool = False,
    ) -> None: ...
    @property
    def service(self) -> str:
        """The service's name."""
    @property
    def late(self) -> int:
        """Messages for calls that were given up."""
    def call(self, request: _Q, timeout: _Span | None = None) -> _A:
        """
        Asks, and waits for the answer at most `timeout`: seconds, or a text such as "10 ms"; 1 s if not said otherwise. Raises HorusError when there
        is none, at once where no program serves.
        """
    def stream(self, request: _Q, timeout: _Span | None = None) -> Iterator[_A]:
        """
        Asks, and gives the parts of the answer as they come: waits for each at most `timeout`, 1 s if not said otherwise. Raises HorusError as `call`
        does, behind the parts that came.
        """
    def call_async(self, request: _Q, timeout: _Span | None = None) -> Coroutine[Any, Any, _A]:
        """As `call`, awaited by the event loop that runs. Cancelling it gives the call up."""
    def ask(self, request: _Q) -> Pending[_A]:
        """Asks, and does not wait: what this gives is asked for the answer later. A client may have 16 calls on their way."""
    def wait(self, timeout: _Span | None = None) -> bool:
        """Waits for a message from the server, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there is one."""
    def wait_until_served(self, timeout: _Span | None = None) -> bool:
        """Waits until a living program serves it, at most `timeout`: seconds, or a text such as "10 ms". False when the time is up."""
    def check_server(self) -> bool:
        """Asks the kernel whether the server lives, and gives the answer; if it does not, all calls on their way get their error."""
    def close(self) -> None:
        """Leaves the service. What is used after that raises HorusError."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class Pending(Generic[_A]):
    """A call that is on its way. If it goes, the call is given up, and its answer is dropped."""

    def try_answer(self) -> _A | None:
        """The answer, or None when it has not come yet. Raises HorusError when none will come."""
    def try_part(self) -> _A | None:
        """
        The next part of an answer that has several, or None: then `is_over` says whether all were told, or the next one has not come yet. Raises
        HorusError when no more will come, behind those that came.
        """
    @property
    def is_over(self) -> bool:
        """Whether `try_part` has told all parts."""
    def _time_out(self, limit: Any) -> None: ...

def call(
    service: str,
    request: Message,
    answers: type[_A],
    timeout: _Span = 1.0,
    *,
    group: str | int | None = None,
    directory: str | PathLike[str] | None = None,
    wait_strategy: str | None = None,
    shared: bool = False,
) -> _A:
    """
    Asks a service once: `answers` is the class of its answers. Waits at most `timeout` for the answer. Raises HorusError when there is none. Who asks
    often keeps a Client.
    """

_G = TypeVar("_G", bound=Message)
_B = TypeVar("_B", bound=Message)
_R = TypeVar("_R", bound=Message)
_Preemption: TypeAlias = Literal["refuse", "queue", "replace"]

@final
class ActionServer(Generic[_G, _B, _R]):
    """
    The end of an action that works on goals; goals, feedbacks and results are of classes of messages. There is one at a time. One thread at a time
    uses it. `preemption` says what becomes of a goal that comes while another one runs: "refuse", "queue" or "replace". `at_once` goals run at a
    time. `client_gone` is "cancel" or "continue". `accept` is called with each goal, and gives None to accept it, or a text: why not. `cancel` is
    called with a goal that is to be canceled, and gives whether it may. Raises HorusError when another server lives.
    """

    def __init__(
        self,
        goals: type[_G],
        feedbacks: type[_B],
        results: type[_R],
        action: str,
        *,
        preemption: _Preemption = "refuse",
        at_once: int = 1,
        client_gone: Literal["cancel", "continue"] = "cancel",
        accept: Callable[[_G], str | None] | None = None,
        cancel: Callable[[_G], bool] | None = None,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        wait_strategy: str | None = None,
    ) -> None: ...
    @property
    def action(self) -> str:
        """The action's name."""
    @property
    def waiting(self) -> int:
        """Goals that were accepted and wait for their turn."""
    @property
    def undelivered(self) -> int:
        """Messages that had no room, because their client did not look."""
    def goal(self) -> Goal[_G, _B, _R] | None:
        """
        Takes in what came, and gives the goal that runs, or None; of several the one that was accepted first. It does not wait: it is for the steps
        of nodes.
        """
    def goals(self) -> list[Goal[_G, _B, _R]]:
        """Takes in what came, and gives all goals that run."""
    def next_goal(self, timeout: _Span | None = None) -> Goal[_G, _B, _R] | None:
        """Waits until a goal runs, at most `timeout`: seconds, or a text such as "10 ms". None when the time is up. Not for the steps of nodes."""
    def drive(self, handler: Callable[[Goal[_G, _B, _R]], Generator[_B | None, None, _R | None] | _R | None]) -> None:
        """
        Has `handler` go on with each goal that runs, once a call: for the steps of nodes. `handler` is called with a goal, and is a generator
        function: what it yields is told as feedback, and what it returns is the result. When `goal.is_canceling` is true it returns soon; its goal is
        canceled then. What it raises aborts the goal, and is raised here.
        """
    def serve(
        self, handler: Callable[[Goal[_G, _B, _R]], Generator[_B | None, None, _R | None] | _R | None], timeout: _Span | None = None
    ) -> bool:
        """
        Waits for a goal, at most `timeout`: seconds, or a text such as "10 ms". Has `handler` work on it to its end, as `drive` does. False when the
        time is up.
        """
    def wait(self, timeout: _Span | None = None) -> bool:
        """Waits until something came, at most `timeout`: a goal, a request to cancel, or the news that a client is gone. Gives whether something did."""
    def close(self) -> None:
        """Stops serving. Clients that wait are told. What is used after that raises HorusError."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class Goal(Generic[_G, _B, _R]):
    """A goal that a program works on: `value` is what is to be reached."""

    @property
    def value(self) -> _G:
        """What is to be reached."""
    @property
    def id(self) -> str:
        """What the goal is known by: 32 hexadecimal digits."""
    @property
    def status(self) -> str:
        """Where it stands: "executing", "canceling", "succeeded", "canceled" or "aborted"."""
    @property
    def is_new(self) -> bool:
        """Whether the program is handed the goal for the first time."""
    @property
    def is_canceling(self) -> bool:
        """Whether it is to be canceled, as far as was taken in: by `wait`, and by the server's `goal` and `drive`."""
    @property
    def is_abandoned(self) -> bool:
        """Whether it is to be canceled because its client is gone."""
    @property
    def is_over(self) -> bool:
        """Whether it has ended: by this program, or because another goal took its place."""
    def feedback(self, feedback: _B) -> None:
        """Tells how far it is."""
    def wait(self, timeout: _Span | None = None) -> str:
        """Waits for something to come, at most `timeout`: seconds, or a text such as "10 ms". Gives where the goal stands then. Not for the steps of nodes."""
    def succeed(self, result: _R) -> None:
        """Ends the goal: it was reached."""
    def canceled(self, result: _R | None = None) -> None:
        """Ends the goal: it was canceled. Raises HorusError when no client asked for that."""
    def abort(self, reason: str, result: _R | None = None) -> None:
        """Ends the goal: the program gives it up, for this reason."""

@final
class ActionClient(Generic[_G, _B, _R]):
    """
    The end of an action that sends goals; goals, feedbacks and results are of classes of messages. One thread at a time uses it. Options are group,
    directory and wait_strategy, as those of topics. When it is closed, its goals that are not over are canceled, unless their server says otherwise.
    Raises HorusError when others mean other messages by the action.
    """

    def __init__(
        self,
        goals: type[_G],
        feedbacks: type[_B],
        results: type[_R],
        action: str,
        *,
        group: str | int | None = None,
        directory: str | PathLike[str] | None = None,
        wait_strategy: str | None = None,
    ) -> None: ...
    @property
    def action(self) -> str:
        """The action's name."""
    @property
    def missed(self) -> int:
        """Feedbacks that were overwritten before they were looked at."""
    def send(self, goal: _G) -> SentGoal[_B, _R]:
        """Sends a goal, and does not wait: what this gives is asked what becomes of the goal. A client may have 16 goals that are not over."""
    def act(self, goal: _G, timeout: _Span | None = None, told: Callable[[_B], object] | None = None) -> Outcome[_R]:
        """
        Sends a goal and waits for its outcome, at most `timeout`: seconds, or a text such as "10 s"; as long as it takes if not said otherwise. Calls
        `told` with each feedback. Raises HorusError when there is no outcome; when the time is up, the goal is to be canceled.
        """
    def follow(self, goal: _G, timeout: _Span | None = None) -> AsyncGenerator[_B | Outcome[_R], None]:
        """
        As `act`, for the event loop that runs: an asynchronous iterator that gives each feedback, and at last the outcome. Ending it early cancels
        the goal.
        """
    def cancel(self, goal: str | None = None, timeout: _Span | None = None) -> list[str]:
        """
        Asks for a goal to be canceled, any client's, or for all goals of the action, and waits for the answer at most `timeout`; 1 s if not said
        otherwise. Gives the numbers of the goals that are canceling. Not for the steps of nodes, which have `SentGoal.cancel`.
        """
    def wait(self, timeout: _Span | None = None) -> bool:
        """Waits for news of goals, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there are some."""
    def wait_until_served(self, timeout: _Span | None = None) -> bool:
        """Waits until a living program serves it, at most `timeout`: seconds, or a text such as "10 ms". False when the time is up."""
    def check_server(self) -> bool:
        """Asks the kernel whether the server lives, and gives the answer; if it does not, all goals that are not over get their error."""
    def _not_served(self) -> None: ...
    def _time_out(self, limit: Any) -> None: ...
    def close(self) -> None:
        """Leaves the action. What is used after that raises HorusError."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class SentGoal(Generic[_B, _R]):
    """A goal that was sent. If it goes, the goal goes on, and its outcome is dropped; `cancel` cancels it."""

    @property
    def id(self) -> str:
        """What the goal is known by: 32 hexadecimal digits."""
    @property
    def is_accepted(self) -> bool:
        """Whether the server has taken it, as far as `look` was told."""
    @property
    def is_over(self) -> bool:
        """Whether `look` has told its end."""
    def look(self) -> _B | Outcome[_R] | None:
        """
        What is new of the goal, and does not wait: its next feedback, or its Outcome at last; None when there is nothing yet. Raises HorusError when
        the server rejected it, or no outcome will come.
        """
    def cancel(self) -> None:
        """Asks for the goal to be canceled, and does not wait: its outcome tells."""

@final
class Outcome(Generic[_R]):
    """
    How a goal ended: `status` is "succeeded", "canceled" or "aborted"; `result` is None where the goal ended without one; `cause` is a word for
    programs, such as "replaced", and `reason` a sentence for people.
    """

    @property
    def status(self) -> Literal["succeeded", "canceled", "aborted"]:
        """"succeeded", "canceled" or "aborted"."""
    @property
    def result(self) -> _R | None:
        """The result, or None."""
    @property
    def cause(self) -> str:
        """What ended it: "program", "replaced", "client_gone", "canceled" or "no_result"."""
    @property
    def reason(self) -> str:
        """What ended it, for people."""

def act(
    action: str,
    goal: _G,
    feedbacks: type[_B],
    results: type[_R],
    timeout: _Span | None = None,
    told: Callable[[_B], object] | None = None,
    *,
    group: str | int | None = None,
    directory: str | PathLike[str] | None = None,
    wait_strategy: str | None = None,
) -> Outcome[_R]:
    """
    Sends one goal to an action and waits for its outcome: `feedbacks` and `results` are classes. Waits at most `timeout`, or as long as it takes, and
    calls `told` with each feedback. Raises HorusError when there is no outcome. Who sends often keeps an ActionClient.
    """

@final
class Cycle:
    """What a node is told about the cycle that it is in. Times are nanoseconds on CLOCK_MONOTONIC."""

    @property
    def number(self) -> int:
        """Counts the releases; one that was skipped uses up its number."""
    @property
    def release_ns(self) -> int:
        """The point of the grid, or the time of the event, in nanoseconds on CLOCK_MONOTONIC: what control laws use."""
    @property
    def wake_ns(self) -> int:
        """When the loop was running again, in nanoseconds on CLOCK_MONOTONIC."""
    @property
    def deadline_ns(self) -> int:
        """When the work must be done, in nanoseconds on CLOCK_MONOTONIC."""
    def log(self, level: Literal["debug", "info", "warn", "error"], text: str, *values: object) -> None:
        """
        Has a line written to the journal by a thread beside the loop: cycle.log("warn", "wheel {} slips by {:.2} m", wheel, slip). The level is
        debug, info, warn or error. The text has up to 120 bytes and a place for each of up to 8 values. A line that finds no room is counted and
        told. A text that does not fit its values is an error in the journal, in place of the line.
        """

@final
class Input(Generic[_M]):
    """The end of a topic that a node reads. Only the steps of its node use it, and no thread after the program has ended."""

    def latest(self) -> _M | None:
        """The newest message that has come; None before the first one."""
    def fresh(self) -> _M | None:
        """The newest message, if it came since the last look."""
    def messages(self) -> Iterator[_M]:
        """The messages that came and were not read yet, each once, the oldest first."""
    @property
    def missed(self) -> int:
        """How many messages were overwritten before they were read."""
    @property
    def sent_ns(self) -> int:
        """When the message that was read last was sent, in nanoseconds on CLOCK_MONOTONIC; 0 before the first one."""
    @property
    def sequence(self) -> int:
        """The number of that message in its publisher's lane."""

@final
class Lost:
    """Messages that an output did not publish, by their cause."""

    @property
    def full(self) -> int:
        """They found the topic full: a subscriber of a reliable one has yet to read, or subscribers hold what stands in their place."""
    @property
    def beyond(self) -> int:
        """They were more than the topic holds in one step."""
    @property
    def discarded(self) -> int:
        """Of a step whose outcome was discarded: it raised, or a monitor took its place."""
    @property
    def outside(self) -> int:
        """They were set while no step could."""
    @property
    def invalid(self) -> int:
        """They were no messages of the topic: bytes or a value, and longer than its maximum."""

@final
class Output(Generic[_M]):
    """The end of a topic that a node writes. Only the steps of its node use it, and no thread after the program has ended."""

    def set(self, message: _M) -> bool:
        """Sets a message, which is published when the step returns; gives whether there was room for it. One that is not taken is counted by `lost`."""
    @property
    def lost(self) -> Lost:
        """What was set on this output and not published, by its cause, since the program began."""

class App:
    """
    A program of nodes. Its settings are those of `node.toml`, and it understands the options of every program of nodes: --describe, --releases N,
    --strict.
    """

    def __init__(self, name: str, arguments: Sequence[str] | None = None) -> None: ...
    @property
    def name(self) -> str:
        """The program's name."""
    def input(
        self,
        carries: type[_M],
        topic: str,
        *,
        reliable: int | None = None,
        latest: int | None = None,
        history: int | None = None,
        publishers: int | None = None,
        group: str | int | None = None,
        maximum: int | None = None,
    ) -> Input[_M]:
        """
        An input of the next node, for messages of a class, bytes or dicts, with the options of docs/python.md. The topic need not be there yet.
        Raises HorusError when others mean another message by it.
        """
    def output(
        self,
        carries: type[_M],
        topic: str,
        *,
        reliable: int | None = None,
        latest: int | None = None,
        publishers: int | None = None,
        group: str | int | None = None,
        maximum: int | None = None,
    ) -> Output[_M]:
        """An output of the next node: of a `latest` topic that holds 16 messages, unless the options say otherwise. Raises HorusError as `input` does."""
    def node(
        self,
        name: str | None = None,
        *,
        period: _Span | None = None,
        rate: float | None = None,
        phase: _Span | None = None,
        on: str | None = None,
        min_inter_arrival: _Span | None = None,
        budget: _Span | None = None,
        deadline: _Span | None = None,
        stale_after: _Span | Mapping[str, _Span] | None = None,
        monitor_limit: _Span | None = None,
        cpu: str | int | None = None,
        scheduling_policy: str | None = None,
        on_miss: _OnMiss | None = None,
        safe_state: Callable[[Cycle], object] | None = None,
        logical_execution_time: bool = False,
    ) -> Callable[[_F], _F]:
        """
        Makes a node of the function below, or of an object with a `step` and perhaps a `safe_state`; its name is the function's. The options have the
        names of `node.toml`. Times are seconds, or a text such as "800 us". A wrong option raises TypeError or ValueError.
        """
    def param(
        self,
        name: str,
        default: _P,
        *,
        unit: str = "",
        range: tuple[_P, _P] | None = None,
        about: str = "",
        read_only: bool = False,
    ) -> Param[_P]:
        """
        A parameter of the next node, whose step reads its `value`: a bool, an int, a float or a str, with `unit`, `range=(least, greatest)`, `about`
        and `read_only`. Other programs set it while this one runs.
        """
    def params(self, declared: type[_T]) -> _T:
        """
        Parameters of the next node, one for each attribute of the class `declared` that has a default. Gives an object of the class whose attributes
        a step reads: all of one cycle are of one set.
        """
    def param_group(self, group: str | int) -> None:
        """Has the members of a group alone set the parameters, if `node.toml` names no other one; who may use the program's topics may read them."""
    def service(
        self,
        requests: type[_Q],
        answers: type[_A],
        service: str,
        *,
        shared: bool = False,
        clients: int | None = None,
        group: str | int | None = None,
        min_inter_arrival: _Span | None = None,
        budget: _Span | None = None,
        deadline: _Span | None = None,
        monitor_limit: _Span | None = None,
        cpu: str | int | None = None,
        scheduling_policy: str | None = None,
        on_miss: _OnMiss | None = None,
    ) -> Callable[[_Serves[_Q, _A]], _Serves[_Q, _A]]:
        """
        Makes a node of the function below, which serves a service and has its name: it is called with each request, in a cycle that the request
        releases. What it returns is the answer, and what a generator yields are its parts; None says that there is no answer. The options are those
        of `node`. Inputs and outputs that were opened before remain those of the next node. Raises HorusError when another server lives, unless all
        say `shared`.
        """
    def server(
        self,
        requests: type[_Q],
        answers: type[_A],
        service: str,
        *,
        shared: bool = False,
        clients: int | None = None,
        group: str | int | None = None,
    ) -> NodeServer[_Q, _A]:
        """
        The answering end of a service, for the next node, which serves it among its other work: `on=` with the service's name releases it by
        requests. Raises HorusError as `service` does.
        """
    def client(
        self,
        requests: type[_Q],
        answers: type[_A],
        service: str,
        *,
        shared: bool = False,
        group: str | int | None = None,
    ) -> Client[_Q, _A]:
        """
        The asking end of a service, for the steps of the next node: one asks, and a later one looks. A server that is killed is told within about 0.3
        s. Raises HorusError when others mean other messages by the service.
        """
    def action(
        self,
        goals: type[_G],
        feedbacks: type[_B],
        results: type[_R],
        action: str,
        *,
        preemption: _Preemption = "refuse",
        at_once: int = 1,
        client_gone: Literal["cancel", "continue"] = "cancel",
        accept: Callable[[_G], str | None] | None = None,
        cancel: Callable[[_G], bool] | None = None,
        group: str | int | None = None,
    ) -> ActionServer[_G, _B, _R]:
        """
        The end of an action that works on goals, for the next node, whose steps call its `goal` or `drive`. The options are those of ActionServer.
        Raises HorusError when another server lives.
        """
    def action_client(
        self, goals: type[_G], feedbacks: type[_B], results: type[_R], action: str, *, group: str | int | None = None
    ) -> ActionClient[_G, _B, _R]:
        """
        The end of an action that sends goals, for the steps of the next node: one sends, and later ones look. Raises HorusError when others mean
        other messages by the action.
        """
    def chain(self, nodes: Sequence[str], *, end_to_end: _Span) -> None:
        """Names nodes that hand data on to each other, the first one first; a graph that may take longer than `end_to_end` seconds is refused."""
    def releases(self, releases: int) -> None:
        """Ends the program after so many releases of each node."""
    def grace(self, grace: _Span) -> None:
        """
        Has a second SIGTERM or Ctrl-C within this time of the first one change nothing: seconds, or a text such as "500 ms"; 1 s if neither this nor
        `node.toml` says otherwise.
        """
    def strict(self) -> None:
        """Does not start unless the system grants everything that a node asks for."""
    def run(self) -> None:
        """
        Runs the nodes until SIGTERM or Ctrl-C, until they have used up their releases, or until one of them ends the program, and prints their
        accounts. Raises what a step raised, and HorusError when the nodes are refused.
        """

def input(carries: type[_M], topic: str, **options: Any) -> Input[_M]:
    """As App.input, of the script's program."""
def output(carries: type[_M], topic: str, **options: Any) -> Output[_M]:
    """As App.output, of the script's program."""
def node(name: str | None = None, **options: Any) -> Callable[[_F], _F]:
    """As App.node, of the script's program."""
def service(requests: type[_Q], answers: type[_A], service: str, **options: Any) -> Callable[[_Serves[_Q, _A]], _Serves[_Q, _A]]:
    """As App.service, of the script's program."""
def server(requests: type[_Q], answers: type[_A], service: str, **options: Any) -> NodeServer[_Q, _A]:
    """As App.server, of the script's program."""
def client(requests: type[_Q], answers: type[_A], service: str, **options: Any) -> Client[_Q, _A]:
    """As App.client, of the script's program."""
def action(
    goals: type[_G],
    feedbacks: type[_B],
    results: type[_R],
    action: str,
    *,
    preemption: _Preemption = "refuse",
    at_once: int = 1,
    client_gone: Literal["cancel", "continue"] = "cancel",
    accept: Callable[[_G], str | None] | None = None,
    cancel: Callable[[_G], bool] | None = None,
    group: str | int | None = None,
) -> ActionServer[_G, _B, _R]:
    """As App.action, of the script's program."""
def action_client(
    goals: type[_G], feedbacks: type[_B], results: type[_R], action: str, *, group: str | int | None = None
) -> ActionClient[_G, _B, _R]:
    """As App.action_client, of the script's program."""
def run() -> None:
    """As App.run, of the script's program."""

@final
class Tally:
    """What was counted of a node."""

    @property
    def cycles(self) -> int:
        """Cycles that ran to completion."""
    @property
    def misses(self) -> int:
        """Cycles that completed late, and skipped releases."""
    @property
    def skipped(self) -> int:
        """Releases that were skipped; contained in `misses`."""
    @property
    def max_consecutive(self) -> int:
        """The longest run of consecutive releases that were missed."""
    @property
    def max_response_ns(self) -> int:
        """The longest response time, in nanoseconds."""
    @property
    def max_jitter_ns(self) -> int:
        """The largest release jitter, in nanoseconds."""

@final
class World:
    """
    The nodes of a program in virtual time: step by step, faster than real time, the same each time. `declare` is called with the App that declares
    them, and `settings` is a node.toml. Raises HorusError when they are refused. The thread that made it uses it.
    """

    def __init__(self, declare: Callable[[App], object], settings: str | PathLike[str] | None = None) -> None: ...
    @property
    def now_ns(self) -> int:
        """The time that has passed, in nanoseconds."""
    @property
    def journal(self) -> list[str]:
        """What the journal would say, in its order."""
    def run_for(self, span: _Span) -> None:
        """Lets time pass, seconds or a text such as "10 ms", in which the nodes run; raises what a step raises."""
    def publish(self, topic: str, message: Any, *, of: type[Any] | None = None, maximum: int | None = None) -> None:
        """
        Publishes a message, as another program would. Raises HorusError when the topic carries another one. A message of a class, bytes, a dict and a
        list say what the topic carries; for any other value, give `of=object`. Bytes and values have at most `maximum` bytes, 4096 if not said
        otherwise.
        """
    def last(self, of: type[_M], topic: str, *, maximum: int | None = None) -> _M | None:
        """
        The newest message of a topic, which carries a class of messages, bytes or dicts; None while there is none. Bytes and values have at most
        `maximum` bytes, 4096 if not said otherwise.
        """
    def set_param(self, node: str, name: str, value: bool | int | float | str) -> None:
        """
        Sets a parameter of a node, as `horus param set` does; the node has it from its next step on. Raises HorusError when there is none of this
        name, or it may not have this value; nothing changes then.
        """
    def delay(self, node: str, lateness: _Span, cycles: int | None = None) -> None:
        """Has a node wake up so long after its releases, seconds or a text such as "5 ms", for so many cycles or for ever."""
    def takes(self, node: str, execution_time: _Span, cycles: int | None = None) -> None:
        """Has a node's steps take so long, seconds or a text such as "5 ms", for so many cycles or for ever."""
    def lose(self, topic: str, messages: int) -> None:
        """Has the next so many messages of a topic never come to the inputs of the program."""
    def tally(self, node: str) -> Tally:
        """The account of a node."""
    def state(self, node: str) -> Literal["starting", "running", "degraded", "safe", "stopped", "ended"]:
        """What a node does: "starting", "running", "degraded", "safe", "stopped" or "ended"."""

@final
class Param(Generic[_P]):
    """A parameter of a node. Its step reads it."""

    @property
    def value(self) -> _P:
        """Its value in this cycle."""

@final
class Parameter:
    """A parameter of a program that runs, at one moment."""

    @property
    def node(self) -> str:
        """The node that it belongs to."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def kind(self) -> Literal["bool", "int", "float", "str"]:
        """What it is: "bool", "int", "float" or "str"."""
    @property
    def value(self) -> bool | int | float | str | None:
        """Its value; None where the program's memory holds none that it can be."""
    @property
    def default(self) -> bool | int | float | str:
        """The program's own value."""
    @property
    def unit(self) -> str:
        """Its unit; empty where it has none."""
    @property
    def about(self) -> str:
        """What it is for; empty where the program does not say."""
    @property
    def range(self) -> tuple[int, int] | tuple[float, float] | None:
        """The least and the greatest value; None where all are possible."""
    @property
    def read_only(self) -> bool:
        """Whether it changes at the program's start alone."""
    @property
    def source(self) -> str:
        """Where the value came from: "program", "command", "saved", or the path of a node.toml."""
    @property
    def user(self) -> int | None:
        """The number of the user that set it; None where that was none."""
    @property
    def set_at(self) -> int | None:
        """When it was set, in seconds since 1970; None where it came from the program or node.toml."""
    @property
    def saved_at(self) -> int | None:
        """When the value was set that the program has saved, in seconds since 1970; None where it has saved none."""

@final
class ParamChange:
    """A parameter that has another value than before."""

    @property
    def before(self) -> bool | int | float | str | None:
        """What the value was."""
    @property
    def now(self) -> Parameter:
        """What it is now, and where that came from."""

@final
class Watch(Iterator[ParamChange]):
    """The changes of a program's parameters, as they come: an iterator that ends when the program ends."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> ParamChange: ...

class Params:
    """
    The parameters of a program that runs, or of one of its nodes. `params.gain` is a value, `params.gain = 1.2` sets it, and the methods do the rest.
    What is refused raises HorusError, and changes nothing.
    """

    def __init__(self, name: str) -> None: ...
    def list(self) -> _Parameters:
        """All of them at one moment."""
    def get(self, name: str) -> Parameter:
        """One of them, with what it may be and where its value came from: "gain", or "drive.gain" where several nodes have it."""
    def set(self, values: Mapping[str, bool | int | float | str] | None = None, **named: bool | int | float | str) -> None:
        """Sets several, all of them or none: `set(gain=1.2, turn=3)`, or `set({"drive.gain": 1.2})`."""
    def watch(self) -> Watch:
        """Changes from now on, as they come: an iterator that ends when the program ends."""
    def save(self, *names: str) -> str:
        """Has the program save these, so that it begins with them when it starts again; without names those that were set. Says in which file."""
    def load(self, *names: str) -> str:
        """Has the program set these to what is saved, without names all; all of them or none. Says of which file."""
    def forget(self, *names: str) -> str:
        """Has the program drop what is saved of these, without names all; their values stay until it ends. Says of which file."""
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: bool | int | float | str) -> None: ...

_Parameters: TypeAlias = list[Parameter]

def param(
    default: _P,
    *,
    unit: str = "",
    range: tuple[_P, _P] | None = None,
    about: str = "",
    read_only: bool = False,
) -> _P:
    """
    The default of a parameter in a class for `App.params`, with its unit, the least and the greatest value, and a sentence without its end. A
    read-only one changes at the program's start alone.
    """
def params(name: str) -> Params:
    """The parameters of a program that runs, "nav", or of one of its nodes, "nav/drive". Raises HorusError when there are none."""

@final
class Transform:
    """
    How a frame is moved and turned in another one: it takes coordinates in the child to those in the parent. The translation is x, y, z in metres,
    the rotation a unit quaternion x, y, z, w.
    """

    def __new__(
        cls, translation: tuple[float, float, float] = ..., rotation: tuple[float, float, float, float] = ...
    ) -> Self: ...
    @staticmethod
    def planar(x: float, y: float, yaw: float = 0.0) -> Transform:
        """Moved by x and y metres on the ground, and turned by `yaw` radians counter-clockwise."""
    @property
    def translation(self) -> tuple[float, float, float]:
        """From the parent's origin to the child's, metres along the parent's axes."""
    @property
    def rotation(self) -> tuple[float, float, float, float]:
        """How the child is turned in the parent: a unit quaternion x, y, z, w."""
    @property
    def yaw(self) -> float:
        """How far it is turned about the z axis, radians from -pi to pi."""
    def inverse(self) -> Transform:
        """The other way round: the parent in the child."""
    def apply(self, point: tuple[float, float, float]) -> tuple[float, float, float]:
        """The coordinates in the parent of a point that has these in the child."""
    def distance(self, other: Transform) -> float:
        """How far the origins of two frames are apart that are both in the same parent, metres."""
    def __mul__(self, inner: Transform, /) -> Transform:
        """`a_in_map * b_in_a` is b in map."""
    def __rmul__(self, value: Any, /) -> Any: ...

@final
class Broadcaster:
    """
    Sends where a moving frame is in its parent. The frame goes with `close`, with the end of a `with` block, and with this object. Raises HorusError
    when another program sends the frame, or the tree would have a loop.
    """

    def __new__(cls, parent: str, child: str, *, directory: str | PathLike[str] | None = None) -> Self: ...
    def send(self, time_ns: int, transform: Transform) -> None:
        """Sends where the frame was at `time_ns`, nanoseconds of CLOCK_MONOTONIC (`time.monotonic_ns()`), which is after that of the transform before."""
    def close(self) -> None:
        """Withdraws the frame. Once more is nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...

@final
class StaticBroadcaster:
    """
    Sends static frames, each once: how a sensor is mounted. They are known at every time, until `close`, the end of a `with` block, or the end of
    this object.
    """

    def __new__(cls, *, directory: str | PathLike[str] | None = None) -> Self: ...
    def add(self, parent: str, child: str, transform: Transform) -> None:
        """Adds the frame `child` in `parent`."""
    def add_urdf(self, path: str | PathLike[str]) -> int:
        """Adds the fixed joints of a URDF file, and says how many there are. All of them or none."""
    def close(self) -> None:
        """Withdraws the frames. Once more is nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...

@final
class Frames:
    """All frames of a namespace, to be looked up. One thread at a time uses it."""

    def __new__(cls, *, directory: str | PathLike[str] | None = None) -> Self: ...
    def at(self, target: str, source: str, time_ns: int) -> Transform:
        """
        The frame `source` in the frame `target` at `time_ns`, nanoseconds of CLOCK_MONOTONIC. Raises HorusError with what is in the way: an unknown
        name, two trees, or by how much the time is outside of what is held.
        """
    def newest(self, target: str, source: str) -> tuple[Transform, int | None]:
        """As `at`, at the latest time for which every frame between the two is known; and that time, which is None when all of them are static."""
    def wait(self, target: str, source: str, time_ns: int, timeout: _Span) -> Transform:
        """As `at`, but waits until the transform is known, at most `timeout`: seconds, or a text such as "10 ms"."""
