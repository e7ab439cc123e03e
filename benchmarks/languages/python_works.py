"""What research_bench_python.py measures: functions that do one thing so many times, by the names that the original HORUS's program of that name has.

A loop of Python is part of each; the floors are the same loop around nothing, and around a call that does nothing.
"""

import socket
from dataclasses import dataclass
from typing import Callable

import horus
import msgpack
import numpy
import python_rivals
from horus.messages import CmdVel, ImageVga, Imu, Pose2D

FLOOR_LOOP, FLOOR_CALL = "floor: an empty loop", "floor: an empty call"
# What the pictures' rows are compared with.
COPY = "np.copy (640x480) baseline"


@dataclass
class Work:
    """Microseconds: what the original publishes for it, and what ours may take."""

    what: str
    does: Callable[[int], None]
    original: float | None = None
    limit: float | None = None


def all_works():
    return [*floors(), *typed(), *iceoryx2(), *dicts(), *images()]


def floors():
    def loop(times):
        for _ in range(times):
            pass

    def call(times):
        nothing = (0.5).conjugate  # a method in C that does nothing
        for _ in range(times):
            nothing()

    return [Work(FLOOR_LOOP, loop), Work(FLOOR_CALL, call)]


def ends(kind, topic, **options):
    return horus.Publisher(kind, topic, **options), horus.Subscriber(kind, topic, **options)


def typed():
    for kind, given, original, limit, built_limit in (
        (CmdVel, {"forward": 0.5, "turn": 0.25}, 1.7, 0.12, 0.3),
        (Pose2D, {"x": 1.0, "y": 2.0, "yaw": 0.5}, 1.7, 0.12, 0.3),
        (Imu, {"stamp_ns": 5}, 1.9, 0.2, 0.5),
    ):
        field = next(iter(given))
        name = f"{kind.__name__} send+recv"
        yield Work(name, sends(kind, kind(**given), field, given[field]), original, limit)
        yield Work(f"{name}, built and read", builds(kind, given, field), None, built_limit)


def iceoryx2():
    return [Work(f"rival: iceoryx2, {what}", does) for what, does in python_rivals.loops()]


def sends(kind, message, field, value):
    publisher, subscriber = ends(kind, f"{kind.__name__}.sent")
    publisher.send(message)
    assert getattr(subscriber.recv(), field) == value, "a figure of what does not work is none"

    def work(times, send=publisher.send, recv=subscriber.recv):
        for _ in range(times):
            send(message)
            recv()

    return work


def builds(kind, given, field):
    """Compiled, so that arguments and field are written in the loop as in a program."""
    publisher, subscriber = ends(kind, f"{kind.__name__}.built")
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    source = f"def work(times, send=send, recv=recv, Kind=Kind):\n for _ in range(times):\n  send(Kind({arguments}))\n  recv().{field}\n"
    names = {"send": publisher.send, "recv": subscriber.recv, "Kind": kind}
    exec(source, names)
    return names["work"]


def dicts():
    fifty = {f"key_{number}": number + 0.5 for number in range(50)}
    for topic, what, value, original, limit in (
        ("one", "dict {v: 1.0}", {"v": 1.0}, 6.2, 0.7),
        ("four", "dict {x,y,z,w}", dict.fromkeys("xyzw", 1.0), 12.4, 1.2),
        ("fifty", "dict 50 keys (~1KB)", fifty, 111, 10),
    ):
        publisher, subscriber = ends(dict, f"dict.{topic}", maximum=2048)
        publisher.send(value)
        assert subscriber.recv() == value
        yield Work(what, passes(publisher, subscriber, value), original, limit)
        yield Work(f"rival: msgpack + socket, {what}", over_socket(value))


def passes(publisher, subscriber, value):
    def work(times, send=publisher.send, recv=subscriber.recv):
        for _ in range(times):
            send(value)
            recv()

    return work


def over_socket(value):
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def work(times, send=left.send, recv=right.recv, pack=msgpack.packb, unpack=msgpack.unpackb):
        for _ in range(times):
            send(pack(value))
            unpack(recv(4096))

    work.sockets = left, right  # they live as long as the work
    return work


def images():
    publisher, subscriber = ends(ImageVga, "camera", latest=4)
    with publisher.loan() as image:
        image.begin(640, 480)[:] = 7
    image, pixels = subscriber.borrow(), numpy.full((480, 640, 3), 7, numpy.uint8)
    assert image.to_numpy().sum() == numpy.from_dlpack(image).sum() == pixels.sum()

    def to_numpy(times):
        for _ in range(times):
            image.to_numpy()

    def takes(what, take):
        def work(times):
            for _ in range(times):
                take(what)

        return work

    return [
        Work("Image.to_numpy (640x480)", to_numpy, 3.0, 0.5),
        Work("np.from_dlpack (640x480)", takes(image, numpy.from_dlpack), 1.1, 0.5),
        Work("floor: np.from_dlpack of an array of NumPy", takes(pixels, numpy.from_dlpack)),
        Work(COPY, takes(pixels, numpy.copy), 14.0),
    ]
