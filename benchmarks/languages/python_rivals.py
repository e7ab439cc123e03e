"""The rival iceoryx2 in the loops of python_works.py: the same messages as ctypes structures, sent and received by one thread."""

import ctypes
import os

import iceoryx2

# Fields as horus.messages has them; of Imu, as many bytes.
FIELDS = {
    "CmdVel": [("forward", ctypes.c_double), ("turn", ctypes.c_double)],
    "Pose2D": [("x", ctypes.c_double), ("y", ctypes.c_double), ("yaw", ctypes.c_double)],
    "Imu": [("stamp_ns", ctypes.c_uint64), ("rest", ctypes.c_uint64 * 37)],
}


def loops():
    """By name: functions that send and receive so many times, and that also build the message and read a field."""
    iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
    node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
    for name, fields in FIELDS.items():
        kind = type(name, (ctypes.Structure,), {"_fields_": fields, "type_name": staticmethod(lambda name=name: name)})
        service = node.service_builder(iceoryx2.ServiceName.new(f"benchmark/{os.getpid()}/{name}")).publish_subscribe(kind).open_or_create()
        publisher, subscriber = service.publisher_builder().create(), service.subscriber_builder().create()
        yield f"{name} send+recv", copies(kind(), publisher, subscriber)
        yield f"{name}, built and read", builds(kind, fields[0][0], publisher, subscriber)


def copies(message, publisher, subscriber):
    def work(times, send=publisher.send_copy, receive=subscriber.receive):
        for _ in range(times):
            send(message)
            receive()

    work.ends = publisher, subscriber  # they live as long as the work
    return work


def builds(kind, field, publisher, subscriber):
    """Compiled, so that the field is written in the loop as in a program."""
    source = f"def work(times, loan=loan, receive=receive, Kind=Kind):\n for _ in range(times):\n  loan().write_payload(Kind({field}=1)).send()\n"
    source += f"  receive().payload().contents.{field}\n"
    names = {"loan": publisher.loan_uninit, "receive": subscriber.receive, "Kind": kind}
    exec(source, names)
    return names["work"]
