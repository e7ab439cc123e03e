"""How late pictures are by the bridge, beside rclpy to rclpy in the same run: python3 -m checks.ros2.pictures [--csv FILE], two minutes, in no list of checks.

A picture of 320x240 goes 50 times a second from rclpy to rclpy, and by a bridge into a topic and by a second one out of it. It is reliable, as rclpy has
it by default. Fast DDS has its usual settings, and then the room that docs/ros2.md gives it.
"""

import csv
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from checks.ros2 import places
from checks.ros2.stage import Ros
from horus_appliance.console import run_command, step

COUNT, EVERY_US = 500, 20_000
REPETITIONS = 2
SETTINGS = {
    "one": '[from_ros.picture]\ntopic = "/direct"\nmessage = "horus/ImageVga"\ncapacity = 16\n',
    "two": '[to_ros.picture]\ntopic = "/bridged"\nreliability = "reliable"\n',
}
COLUMNS = ("fast_dds", "way", "repetition", "sent", "received", "p50_us", "p90_us", "p99_us", "max_us")


def main() -> int:
    inside, arguments = sys.argv[1:2] == ["--inside"], sys.argv[1:]
    if not inside:
        places.ros()
        places.programs()
        file = [str(Path(arguments[1]).resolve())] if arguments[:1] == ["--csv"] else []
        return places.alone("checks.ros2.pictures", "--inside", *file)
    rows = [row for fast_dds in ("usual", "with room") for repetition in range(REPETITIONS) for row in measure(fast_dds, repetition)]
    for row in rows:
        print("  ".join(f"{column} {value}" for column, value in zip(COLUMNS, row, strict=True)))
    if file := arguments[1:]:
        with Path(file[0]).open("w", newline="") as out:
            csv.writer(out).writerows([COLUMNS, *rows])
    return 0


def measure(fast_dds: str, repetition: int) -> list:
    step(f"pictures, Fast DDS {fast_dds}, {repetition + 1} of {REPETITIONS}")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics, ExitStack() as stack:
        stage = Ros(Path(place), Path(topics))
        variables = {"FASTDDS_DEFAULT_PROFILES_FILE": str(stage.profile) if fast_dds == "with room" else ""}
        for node, text in SETTINGS.items():
            stack.enter_context(stage.bridge("ros2", "--dds", "--node", node, "--config", stage.write(f"{node}.toml", text)))

        def node(verb: str, topic: str, time_word: int):
            return stack.enter_context(stage.node(verb, topic, COUNT, time_word, node="picture.py", **variables))

        sender = node("send", "/direct", EVERY_US)
        sender.expect("ready")
        receivers = {way: node("receive", topic, 60) for way, topic in (("rclpy to rclpy", "/direct"), ("two bridges between", "/bridged"))}
        for receiver in receivers.values():
            receiver.expect("matched")
        time.sleep(2)  # until each has found each
        sender.tell("go")
        return [[fast_dds, way, repetition, COUNT, *figures(receiver)] for way, receiver in receivers.items()]


def figures(receiver) -> list:
    ages = sorted(json.loads(receiver.expect("result", 90)))
    return [len(ages), *(ages[min(len(ages) - 1, int(share * len(ages)))] if ages else "" for share in (0.5, 0.9, 0.99, 1))]


if __name__ == "__main__":
    run_command(main)
