"""A program of Cyclone DDS, another DDS than that of the real rclpy: python cyclone.py receive|send TOPIC KIND COUNT SECONDS|EVERY_US.

It says what ros.py says. Its types are written down here, as a program without ROS would have them.
"""

import json
import sys
import threading
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
class Text(IdlStruct, typename="std_msgs.msg.dds_.String_"):
    data: str


@dataclass
class Vector(IdlStruct, typename="geometry_msgs.msg.dds_.Vector3_"):
    x: types.float64
    y: types.float64
    z: types.float64


KINDS = {
    "text": (Text, lambda number: Text(f"message {number} {'ä' * (number % 50)}"), lambda message: int(message.data.split()[1])),
    "vector": (Vector, lambda number: Vector(*(float(number * 1000 + index) for index in range(3))), lambda message: int(message.x) // 1000),
}
QUALITY = Qos(
    Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepAll, Policy.Durability.Volatile,
    Policy.DataRepresentation(use_cdrv0_representation=True),
)  # fmt: skip


def main() -> None:
    verb, topic, kind, count, time_word = sys.argv[1:]
    participant = DomainParticipant(0)
    type_, make, number_of = KINDS[kind]
    place = Topic(participant, f"rt{topic}", type_)
    if verb == "send":
        send(DataWriter(participant, place, qos=QUALITY), make, int(count), int(time_word))
    else:
        receive(DataReader(participant, place, qos=QUALITY), make, number_of, int(count), float(time_word))


def receive(reader, make, number_of, count: int, seconds: float) -> None:
    print("ready", flush=True)
    first, last, wrong, gaps, is_matched = 0, 0, 0, 0, False
    end = time.monotonic() + seconds
    while last < count and time.monotonic() < end:
        messages = reader.take(N=100)
        if not messages:
            time.sleep(0.005)
        for message in messages:
            number = number_of(message)
            if not is_matched:
                is_matched = True
                print("matched", flush=True)
            if number == 0:
                continue
            if first == 0:
                print("begun", flush=True)
            wrong += message != make(number)
            gaps += first != 0 and number != last + 1
            first, last = first or number, number
    print("result", json.dumps({"first": first, "last": last, "wrong": wrong, "gaps": gaps}), flush=True)


def send(writer, make, count: int, every_us: int) -> None:
    go = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), go.set()), daemon=True).start()
    print("ready", flush=True)
    while not go.wait(0.05):
        writer.write(make(0))
    start = time.monotonic()
    for number in range(1, count + 1):
        time.sleep(max(0.0, start + number * every_us / 1e6 - time.monotonic()))
        writer.write(make(number))
    print("sent", round(time.monotonic() - start, 2), flush=True)
    sys.stdin.readline()


main()
