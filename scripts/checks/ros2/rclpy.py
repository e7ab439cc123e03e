"""Passes messages between topics and the real rclpy: python3 -m checks.ros2.rclpy.

Both ways 10,000 messages are compared bit for bit; each side is restarted, or comes late; pictures of 1 MB go at 100 Hz; the hashes of all messages
are those that ROS 2 says. It all happens in a network of its own.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.ros2 import places
from checks.ros2.processes import Process
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.paths import BUILD, REPOSITORY

GUIDE = REPOSITORY / "docs" / "ros2.md"
COUNT = 10_000
EVERY_US = 400
CYCLONE = 2_000
PICTURES = 300
PICTURE_EVERY_US = 10_000
SETTINGS = """
[to_ros.imu]
topic = "/imu"
[to_ros.vector]
topic = "/vector"
[to_ros.text]
topic = "/text"
[to_ros.image]
topic = "/image"
reliability = "reliable"
[from_ros.imu_back]
topic = "/imu_back"
message = "horus/Imu"
policy = "reliable"
capacity = 4096
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
[from_ros.image_back]
topic = "/image_back"
message = "horus/ImageHd"
capacity = 8
"""
# Our message, and how the node of the checks calls it.
KINDS = {"imu": "horus/Imu", "vector": "horus/Vector3", "text": "bytes", "image": "horus/ImageHd", "command": "horus/CmdVel"}


class Stage:
    """Where the programs of a check meet: topics, settings, and how each program is started."""

    def __init__(self, place: Path, topics: Path):
        self.python, self.programs, self.topics = BUILD / "ros2" / "bin" / "python", places.BRIDGE / "target" / "debug", topics
        self.settings, self.profile = place / "bridge.toml", place / "fast-dds.xml"
        self.settings.write_text(SETTINGS)
        # What Fast DDS has to be told so that a picture's datagrams have room until it looks.
        self.profile.write_text(re.search(r"^```xml\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)[1])

    def bridge(self, *arguments) -> Process:
        arguments = arguments or ("ros2", "--dds", "--config", self.settings)
        return Process("the bridge", [self.programs / "horus-bridge", *arguments], self.topics)

    def peer(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        return Process(f"peer {verb} {topic}", [self.programs / "examples" / "peer", verb, topic, KINDS[kind], *arguments], self.topics)

    def node(self, verb: str, topic: str, kind: str, *arguments, node: str = "ros.py") -> Process:
        command = [self.python, Path(__file__).with_name("nodes") / node, verb, topic, kind, *arguments]
        return Process(f"{node} {verb} {topic}", command, self.topics, FASTDDS_DEFAULT_PROFILES_FILE=str(self.profile))


def main() -> int:
    if sys.argv[1:] == ["--inside"]:
        return inside()
    places.ros()
    places.programs()
    return places.alone("checks.ros2.rclpy", "--inside")


def inside() -> int:
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        stage = Stage(Path(place), Path(topics))
        hashes(stage)
        converters(stage)
        with stage.bridge() as bridge:
            sees(stage)
            for kind in ("vector", "imu", "text"):
                step(f"{COUNT} messages each way: {kind}")
                to_ros(stage, kind, COUNT, EVERY_US)
                from_ros(stage, kind, f"{kind}_back", f"/{kind}_back", COUNT, EVERY_US)
            step(f"{CYCLONE} messages each way, Cyclone DDS")
            for kind in ("vector", "text"):
                to_ros(stage, kind, CYCLONE, EVERY_US, node="cyclone.py")
                from_ros(stage, kind, f"{kind}_back", f"/{kind}_back", CYCLONE, EVERY_US, node="cyclone.py")
            step("late comers")
            comes_late(stage)
            step(f"{PICTURES} pictures of 1 MB each way, 100 a second")
            to_ros(stage, "image", PICTURES, PICTURE_EVERY_US, 8, "latest")
            from_ros(stage, "image", "image_back", "/image_back", PICTURES, PICTURE_EVERY_US, 8, "latest")
            said = bridge.end()
        if " 0 lost" not in said and "journal" not in said:
            raise ApplianceFailed(f"the bridge did not say what it did:\n{said[-2000:]}")
        restarts(stage)
        mismatch(stage)
        guide(stage)
    print(f"rclpy and the bridge passed {COUNT} messages of three kinds each way bit for bit, and {PICTURES} pictures")
    return 0


def hashes(stage: Stage) -> None:
    """The hash of each message is the one that ROS 2's own packages say."""
    said = subprocess.run([stage.programs / "horus-bridge", "messages"], capture_output=True, text=True, check=True).stdout
    share, compared, unknown = BUILD / "ros2" / "share", 0, []
    for line in said.splitlines():
        ours, name = line.split()
        package, _, message = name.split("/")
        file = share / package / "msg" / f"{message}.json"
        if not file.exists():
            unknown.append(name)
            continue
        theirs = {known["type_name"]: known["hash_string"] for known in json.loads(file.read_text())["type_hashes"]}
        if theirs[name] != ours:
            raise ApplianceFailed(f"{name} has the hash {ours} here, and {theirs[name]} in ROS 2")
        compared += 1
    if compared < 45:
        raise ApplianceFailed(f"only {compared} messages were compared: is {share} complete?")
    detail(f"the hashes of {compared} messages are ROS 2's; it lacks {', '.join(unknown) or 'none'}")


def converters(stage: Stage) -> None:
    """What each converter writes is what ROS 2 reads; what ROS 2 writes comes back as it was."""
    program = stage.programs / "examples" / "convert"
    written = subprocess.run([program, "write"], capture_output=True, text=True, check=True).stdout
    script = Path(__file__).with_name("nodes") / "convert.py"
    again = subprocess.run([stage.python, script], input=written, capture_output=True, text=True, check=False, timeout=60)
    if again.returncode != 0:
        raise ApplianceFailed(f"ROS 2 does not read what a converter wrote:\n{again.stderr[-3000:]}")
    read = subprocess.run([program, "read"], input=again.stdout, capture_output=True, text=True, check=True).stdout
    differing = [line for line in read.splitlines() if line.endswith("differs")]
    same = sum(line.endswith("same") for line in read.splitlines())
    if differing or same < 17:
        raise ApplianceFailed(f"{same} messages came back from ROS 2 as they went there, and these did not: {differing}\n{again.stderr}")
    detail(f"{same} messages of converters went to ROS 2's own types and back; {again.stderr.strip() or 'all are known there'}")


def sees(stage: Stage) -> None:
    """ROS 2 sees the bridge as a node with its topics; the hash of a living rclpy publisher is ours."""
    with stage.peer("send", "imu", "imu", 1, 1):
        told = json.loads(stage.node("info", "/imu", "imu", 0, 0).expect("result"))
    ours = subprocess.run([stage.programs / "horus-bridge", "messages"], capture_output=True, text=True, check=True).stdout
    wanted = {"node": "horus_bridge", "type": "sensor_msgs/msg/Imu", "reliability": "RELIABLE"}
    if any(told[key] != value for key, value in wanted.items()) or f"{told['hash']} sensor_msgs/msg/Imu" not in ours:
        raise ApplianceFailed(f"ROS 2 sees {told}")
    detail(f"ROS 2 sees {', '.join(sorted(told['topics']))} of {told['node']}")


def to_ros(stage: Stage, kind: str, count: int, every_us: int, *topic, node: str = "ros.py") -> None:
    receive = ("receive", f"/{kind}", kind, count, 40)
    with stage.peer("send", kind, kind, count, every_us, *topic) as sender, stage.node(*receive, node=node) as receiver:
        receiver.expect("matched")
        sender.tell("go")
        complete(json.loads(receiver.expect("result", 60)), count, f"{kind} to ROS 2", sender)


def from_ros(stage: Stage, kind: str, topic: str, name: str, count: int, every_us: int, *options, node: str = "ros.py") -> None:
    send = ("send", name, kind, count, every_us)
    with stage.peer("receive", topic, kind, count, 40, *options) as receiver, stage.node(*send, node=node) as sender:
        receiver.expect("matched")
        sender.tell("go")
        complete(counts(receiver.expect("result", 60)), count, f"{kind} from ROS 2", sender)


def counts(line: str) -> dict:
    return {word.split()[0]: int(word.split()[1]) for word in line.split(", ")}


def complete(got: dict, count: int, what: str, sender: Process) -> None:
    if (got["first"], got["last"], got["wrong"], got["gaps"]) != (1, count, 0, 0):
        raise ApplianceFailed(f"{what}: of {count} messages came {got}\n{sender.tail()}")
    detail(f"{what}: {count} messages, each as it was sent")


def comes_late(stage: Stage) -> None:
    """Who comes later gets what comes from then on, without a gap."""
    with stage.peer("send", "vector", "vector", 4000, 1000) as sender:
        sender.expect("ready")
        sender.tell("go")
        with stage.node("receive", "/vector", "vector", 4000, 30) as late:
            got = json.loads(late.expect("result", 40))
    if got["first"] <= 1 or got["last"] != 4000 or got["wrong"] or got["gaps"]:
        raise ApplianceFailed(f"a subscription that came late got {got}")
    detail(f"a subscription that came late got messages {got['first']} to 4000")


def restarts(stage: Stage) -> None:
    """The bridge is killed and started again, between others that stay; then the node is."""
    with stage.peer("send", "vector", "vector", 30_000, 1000) as sender, stage.bridge() as first:
        with stage.node("receive", "/vector", "vector", 30_000, 35) as receiver:
            receiver.expect("matched")
            sender.tell("go")
            first.kill()
            with stage.bridge(), stage.node("receive", "/vector", "vector", 8000, 30) as second:
                got = json.loads(second.expect("result", 40))
            if got["wrong"] or got["gaps"] or got["last"] != 8000:
                raise ApplianceFailed(f"after the bridge was started again, a new subscription got {got}")
        detail(f"a bridge that was killed and started again carried messages {got['first']} to 8000")


def mismatch(stage: Stage) -> None:
    """A publisher that gives less than the bridge asks for is named with what to do."""
    with stage.bridge("ros2", "--dds", "--to-ros", "plain=/plain") as bridge, stage.peer("send", "plain", "vector", 10, 1000, 16, "latest"):
        with stage.node("receive", "/plain", "vector", 10, 8):
            told = bridge.expect("reliability does not fit", 20)
    detail(f"a mismatch is told:{told[:60]}…")


def guide(stage: Stage) -> None:
    """The guide's first command and its settings, as they are printed."""
    text = GUIDE.read_text()
    command = shlex.split(re.search(r"^```sh\n(horus bridge ros2 .*)$", text, re.MULTILINE)[1])
    if command[:2] != ["horus", "bridge"]:
        raise ApplianceFailed(f"{GUIDE.name} begins with {command}")
    with stage.bridge(*command[2:]):
        to_ros(stage, "imu", 100, 1000)
        from_ros(stage, "command", "base.cmd", "/cmd_vel", 100, 1000, 16, "latest")
    settings = re.search(r"^```toml\n(domain = .*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    stage.settings.write_text(settings)
    os.environ["IMU_FRAME"] = "imu_link"  # as the guide has it
    with stage.bridge():
        to_ros(stage, "imu", 100, 1000)
    detail("the guide's commands do what it says")


if __name__ == "__main__":
    run_command(main)
