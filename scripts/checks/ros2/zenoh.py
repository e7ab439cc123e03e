"""Passes messages between topics and pyzeros over rmw_zenoh's wire: python3 -m checks.ros2.zenoh.

A real rmw_zenoh_cpp is not among the packages of PyPI; docs/ros2.md says so.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.ros2 import places
from checks.ros2.processes import Process
from checks.ros2.rclpy import KINDS, complete, counts
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.paths import BUILD

COUNT = 10_000
EVERY_US = 400
PLACE = "tcp/127.0.0.1:7447"
SETTINGS = f"""
listen = ["{PLACE}"]
[to_ros.vector]
topic = "/vector"
[to_ros.text]
topic = "/text"
[from_ros.vector_back]
topic = "/vector_back"
message = "horus/Vector3"
policy = "reliable"
capacity = 4096
[from_ros.text_back]
topic = "/text_back"
bytes = 256
policy = "reliable"
capacity = 4096
"""


class Stage:
    """Where the programs of the check meet."""

    def __init__(self, place: Path, topics: Path):
        self.python, self.programs, self.topics = BUILD / "ros2" / "bin" / "python", places.BRIDGE / "target" / "debug", topics
        self.settings = place / "bridge.toml"
        self.settings.write_text(SETTINGS)

    def bridge(self) -> Process:
        return Process("the bridge", [self.programs / "horus-bridge", "ros2", "--zenoh", "--config", self.settings], self.topics)

    def peer(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        return Process(f"peer {verb} {topic}", [self.programs / "examples" / "peer", verb, topic, KINDS[kind], *arguments], self.topics)

    def node(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        command = [self.python, Path(__file__).with_name("nodes") / "pyzeros_node.py", verb, topic, kind, *arguments, PLACE]
        # What it compiles for a message is kept with ROS 2, and not in the source tree.
        return Process(f"pyzeros {verb} {topic}", command, self.topics, CYDR_CACHE_DIR=str(BUILD / "ros2" / "cydr"))


def main() -> int:
    if sys.argv[1:] == ["--inside"]:
        return inside()
    places.ros()
    places.programs()
    return places.alone("checks.ros2.zenoh", "--inside")


def inside() -> int:
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        stage = Stage(Path(place), Path(topics))
        with stage.bridge() as bridge:
            wire(stage)
            for kind in ("vector", "text"):
                step(f"{COUNT} messages each way: {kind}")
                with stage.peer("send", kind, kind, COUNT, EVERY_US) as sender, stage.node("receive", f"/{kind}", kind, COUNT, 40) as receiver:
                    receiver.expect("matched")
                    sender.tell("go")
                    complete(json.loads(receiver.expect("result", 60)), COUNT, f"{kind} to pyzeros", sender)
                name = f"{kind}_back"
                with stage.peer("receive", name, kind, COUNT, 40) as receiver, stage.node("send", f"/{name}", kind, COUNT, EVERY_US) as sender:
                    receiver.expect("matched")
                    sender.tell("go")
                    complete(counts(receiver.expect("result", 60)), COUNT, f"{kind} from pyzeros", sender)
            bridge.end()
        restarts(stage)
    print(f"pyzeros and the bridge passed {COUNT} messages of two kinds each way bit for bit, over the wire of rmw_zenoh")
    return 0


def wire(stage: Stage) -> None:
    """Keys, tokens and attachments are those that others expect."""
    with stage.peer("send", "vector", "vector", 1, 1):
        told = json.loads(stage.node("plain", "-", "-", 20, 20).expect("result"))
    said = subprocess.run([stage.programs / "horus-bridge", "messages"], capture_output=True, text=True, check=True).stdout
    hash_ = next(line.split()[0] for line in said.splitlines() if line.endswith("geometry_msgs/msg/Vector3"))
    key = f"0/vector/geometry_msgs::msg::dds_::Vector3_/{hash_}"
    kinds = {token.split("/")[5] for token in told["tokens"]}
    is_right = told["keys"] == [key] and told["lengths"] == [33] and told["are_known"] and told["is_counted"] and told["oldest_s"] < 60
    if not is_right or not {"NN", "MP", "MS"} <= kinds:
        raise ApplianceFailed(f"on the wire stands {told}, and the key should be {key}")
    detail(f"the wire: {key[:60]}…, {len(told['tokens'])} tokens, attachments with the number that pyzeros computes")


def restarts(stage: Stage) -> None:
    """The bridge is killed and started again, while the others stay: the link is made again."""
    with stage.bridge() as first, stage.peer("send", "vector", "vector", 20_000, 1000) as sender:
        with stage.node("receive", "/vector", "vector", 20_000, 45) as receiver:
            receiver.expect("matched")
            sender.tell("go")
            first.kill()
            with stage.bridge():
                got = json.loads(receiver.expect("result", 60))
    if got["wrong"] or got["last"] != 20_000 or got["gaps"] > 1:
        raise ApplianceFailed(f"after the bridge was started again, the same subscription got {got}")
    detail("a bridge that was killed and started again was found again; messages went on")


if __name__ == "__main__":
    run_command(main)
