"""Passes messages between topics and the real rclpy: python3 -m checks.ros2.rclpy.

Both ways 10,000 messages are compared bit for bit; each side is restarted, or comes late; pictures of 1 MB go at 100 Hz; the hashes of all messages
are those that ROS 2 says; what is no message is counted. It all happens in a network of its own.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from checks.ros2 import bad_input, comings, each_way, guide
from checks.ros2.each_way import COUNT, from_ros, to_ros
from checks.ros2.processes import Process
from checks.ros2.stage import NODES, Ros, account, counts, is_well
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.paths import BUILD

# Cyclone's programs keep up with it.
CYCLONE_EVERY_US = 200
# Of these, messages whose ends are missing follow those that are whole.
SPOILED = ("imu", "text")
PICTURES = 300
PICTURE_EVERY_US = (10_000, 20_000, 40_000)
SETTINGS = f"""
{each_way.SETTINGS}
[to_ros.imu]
topic = "/imu"
[to_ros.image]
topic = "/image"
reliability = "reliable"
[from_ros.imu_back]
topic = "/imu_back"
message = "horus/Imu"
delivery_policy = "reliable"
capacity = 4096
[from_ros.lossy]
topic = "/lossy"
message = "horus/ImageHd"
delivery_policy = "reliable"
capacity = 8
reliability = "best_effort"
[from_ros.image_back]
topic = "/image_back"
message = "horus/ImageHd"
delivery_policy = "reliable"
capacity = 8
"""


def inside() -> int:
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        stage = Ros(Path(place), Path(topics), SETTINGS)
        hashes(stage)
        converters(stage)
        with stage.bridge() as bridge:
            sees(stage)
            for kind in ("vector", "imu", "text"):
                step(f"{COUNT} messages each way: {kind}")
                to_ros(stage, kind)
                from_ros(stage, kind, then=bad_input.spoiled if kind in SPOILED else None)
            step(f"{COUNT} messages each way, Cyclone DDS")
            for kind in ("vector", "text"):
                to_ros(stage, kind, COUNT, CYCLONE_EVERY_US, node="cyclone.py")
                from_ros(stage, kind, COUNT, CYCLONE_EVERY_US, node="cyclone.py")
            step("what is no message, and late comers")
            bad_input.datagrams(bridge)
            comings.late(stage)
            step(f"{PICTURES} pictures of 1 MB each way, 100 a second if this machine can")
            for way in (to_ros, from_ros):
                pictures(stage, way)
            is_well(bridge)
            step(f"{PICTURES} pictures as fast as ROS 2 sends them")
            absent, said = losses(stage, bridge)
        for kind in ("imu", "text", "vector"):
            topic, spoiled = f"{kind}_back", bad_input.SPOILED if kind in SPOILED else 0
            told = account(said, topic)
            if told["refused"] != spoiled or told["lost"] or told["carried"] < COUNT:
                raise ApplianceFailed(f"of {topic}, of which {spoiled} messages were none, the bridge says {told}")
        if (told := account(said, "lossy"))["lost"] != absent:
            raise ApplianceFailed(f"{absent} messages from ROS 2 are absent, and the bridge says {told}")
        detail(f"{absent} messages from ROS 2 were lost on the way, and the bridge counts as many")
        step("restarts")
        comings.restarts(stage)
        comings.stopped(stage)
        comings.kept_and_refused(stage)
        step("the guide")
        guide.over_dds(stage)
    print(f"rclpy and the bridge passed {COUNT} messages of three kinds each way bit for bit, and {PICTURES} pictures")
    return 0


def pictures(stage: Ros, way) -> None:
    """No more pictures are kept for ROS 2 than 64 MB: a machine that is held up for a quarter of a second loses some. It passes slower ones."""
    for every_us in PICTURE_EVERY_US[:-1]:
        try:
            return way(stage, "image", PICTURES, every_us, 8)
        except ApplianceFailed as error:
            if "'wrong': 0" not in str(error):
                raise
            detail(f"once more, at half the rate: {error}")
    return way(stage, "image", PICTURES, PICTURE_EVERY_US[-1], 8)


def losses(stage: Ros, bridge: Process) -> tuple[int, str]:
    """How many pictures of a best-effort publisher were lost on the way, which sends as fast as it can; and all that the bridge said until its end."""
    send = ("send", "/lossy", "image", PICTURES, 0, "best_effort")
    with stage.peer("receive", "lossy", "image", PICTURES + 1, 40, 8) as receiver, stage.node(*send) as sender:
        receiver.expect("matched")
        sender.tell("go")
        sender.expect("sent")
        time.sleep(3)  # until those that are on their way have come: most of them
        said = bridge.end()  # what comes now is on neither account
        receiver.tell("enough")
        got = counts(receiver.expect("result", 60))
    if got["wrong"]:
        raise ApplianceFailed(f"of pictures that are sent as fast as it can be, our subscriber got {got}")
    return got["highest"] - got["received"] - got["missed"], said  # what came and was overwritten was not lost on the way


def hashes(stage: Ros) -> None:
    """The hash of each message is the one that ROS 2's own packages say."""
    said = stage.messages()
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
    if compared < 95:
        raise ApplianceFailed(f"only {compared} messages were compared: is {share} complete?")
    detail(f"the hashes of {compared} messages are ROS 2's; it lacks {', '.join(unknown) or 'none'}")


def converters(stage: Ros) -> None:
    """What each converter writes is what ROS 2 reads; what ROS 2 writes comes back as it was."""
    program = stage.programs / "examples" / "convert"
    written = subprocess.run([program, "write"], capture_output=True, text=True, check=True).stdout
    script = NODES / "convert.py"
    again = subprocess.run([stage.python, script], input=written, capture_output=True, text=True, check=False, timeout=60)
    if again.returncode != 0:
        raise ApplianceFailed(f"ROS 2 does not read what a converter wrote:\n{again.stderr[-3000:]}")
    read = subprocess.run([program, "read"], input=again.stdout, capture_output=True, text=True, check=True).stdout
    differing = [line for line in read.splitlines() if line.endswith("differs")]
    same = sum(line.endswith("same") for line in read.splitlines())
    if differing or same < 26:
        raise ApplianceFailed(f"{same} messages came back from ROS 2 as they went there, and these did not: {differing}\n{again.stderr}")
    detail(f"{same} messages of converters went to ROS 2's own types and back; {again.stderr.strip() or 'all are known there'}")


def sees(stage: Ros) -> None:
    """ROS 2 sees the bridge as a node with its topics; the hash of a living rclpy publisher is ours."""
    with stage.peer("send", "imu", "imu", 1, 1):
        told = json.loads(stage.node("info", "/imu", "imu", 0, 0).expect("result"))
    ours = stage.messages()
    wanted = {"node": "horus_bridge", "type": "sensor_msgs/msg/Imu", "reliability": "RELIABLE"}
    if any(told[key] != value for key, value in wanted.items()) or f"{told['hash']} sensor_msgs/msg/Imu" not in ours:
        raise ApplianceFailed(f"ROS 2 sees {told}")
    detail(f"ROS 2 sees {', '.join(sorted(told['topics']))} of {told['node']}")


if __name__ == "__main__":
    run_command(lambda: each_way.alone("checks.ros2.rclpy", inside))
