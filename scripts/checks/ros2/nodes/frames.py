"""Frames by Cyclone DDS, another DDS than the bridge's, with the names that tf2 has for them: python frames.py.

send PARENT CHILD X moving|static   publishes a transform; a moving one twenty times a second until the next line
late CHILD moving|static            subscribes, and says the transform of that frame, and which ones were in the same message: `result` and JSON

PyPI has no tf2_msgs for rclpy, so its types are written down here.
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

PATIENCE = 20


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: types.int32
    nanosec: types.uint32


@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Vector(IdlStruct, typename="geometry_msgs.msg.dds_.Vector3_"):
    x: types.float64
    y: types.float64
    z: types.float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs.msg.dds_.Quaternion_"):
    x: types.float64
    y: types.float64
    z: types.float64
    w: types.float64


@dataclass
class Transform(IdlStruct, typename="geometry_msgs.msg.dds_.Transform_"):
    translation: Vector
    rotation: Quaternion


@dataclass
class Stamped(IdlStruct, typename="geometry_msgs.msg.dds_.TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class Message(IdlStruct, typename="tf2_msgs.msg.dds_.TFMessage_"):
    transforms: types.sequence[Stamped]


def quality(is_static: bool):
    durability = Policy.Durability.TransientLocal if is_static else Policy.Durability.Volatile
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepLast(1 if is_static else 100), durability,
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )  # fmt: skip


class Frames:
    def __init__(self):
        self.participant, self.writers, self.moving = DomainParticipant(0), {}, []
        self.topics = {kind: Topic(self.participant, f"rt/tf{suffix}", Message) for kind, suffix in (("moving", ""), ("static", "_static"))}
        threading.Thread(target=self.send_on, daemon=True).start()

    def send_on(self) -> None:
        while True:
            for frame in list(self.moving):
                self.publish(*frame, "moving")
            time.sleep(0.05)

    def publish(self, parent: str, child: str, x: str, kind: str) -> None:
        if kind not in self.writers:
            self.writers[kind] = DataWriter(self.participant, self.topics[kind], qos=quality(kind == "static"))
        now = time.time_ns()
        stamp = Time(now // 10**9, now % 10**9)
        transform = Transform(Vector(float(x), 2.0, 3.0), Quaternion(0.0, 0.0, 0.0, 1.0))
        self.writers[kind].write(Message([Stamped(Header(stamp, parent), child, transform)]))

    def send(self, parent: str, child: str, x: str, kind: str) -> dict:
        if kind == "moving":
            self.moving = [(parent, child, x)]
        else:
            self.publish(parent, child, x, kind)
        return {"sent": child}

    def late(self, child: str, kind: str) -> dict:
        reader, end = DataReader(self.participant, self.topics[kind], qos=quality(kind == "static")), time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for message in reader.take(N=100):
                for one in message.transforms:
                    if one.child_frame_id == child:
                        place, stamp = one.transform.translation, one.header.stamp
                        age = time.time() - stamp.sec - stamp.nanosec / 1e9
                        return {"parent": one.header.frame_id, "x": place.x, "y": place.y, "age": age, "beside": [other.child_frame_id for other in message.transforms]}
            time.sleep(0.01)
        return {"parent": None}


def main() -> None:
    frames = Frames()
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        print("result", json.dumps(getattr(frames, verb)(*words)), flush=True)


main()
