"""Passes messages between topics and pyzeros over rmw_zenoh's wire: python3 -m checks.ros2.zenoh.

A real rmw_zenoh_cpp is not among the packages of PyPI; docs/ros2.md says so.
"""

import json
import tempfile
from pathlib import Path

from checks.ros2 import bad_input, each_way, guide
from checks.ros2.each_way import COUNT, EVERY_US, from_ros, to_ros
from checks.ros2.processes import Process
from checks.ros2.stage import Zeros, account, complete, counts
from horus_appliance.console import ApplianceFailed, detail, run_command, step

# More messages than pass while a program is killed and another one comes, and those by which one is seen to go on.
STAYING, MORE = 60_000, 500
SETTINGS = f"""
listen = ["{Zeros.zenoh}"]
{each_way.SETTINGS}
[to_ros.plain]
topic = "/plain"
reliability = "best_effort"
"""


def inside() -> int:
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        stage = Zeros(Path(place), Path(topics), SETTINGS)
        with stage.bridge() as bridge:
            bridge.expect("comes from /vector_back")
            step(f"{COUNT} messages each way at once, by eclipse-zenoh alone")
            wire(stage)
            for kind in ("vector", "text"):
                step(f"{COUNT} messages each way: {kind}")
                to_ros(stage, kind)
                from_ros(stage, kind)
            step("what is no message, and who asks for more than it is given")
            bad_input.connections(bridge)
            bad_input.spoiled_by_zenoh(stage, key(stage, "vector_back"))
            mismatches(stage, bridge)
            told = account(bridge.end(), "vector_back")
        if told["refused"] != bad_input.SPOILED or told["lost"] or told["late"] or told["carried"] < 2 * COUNT:
            raise ApplianceFailed(f"of vector_back, of which {bad_input.SPOILED} messages were none, the bridge says {told}")
        if "messages come without the number" not in "\n".join(bridge.said):
            raise ApplianceFailed(f"the bridge did not tell of messages without a number:\n{bridge.tail()}")
        step("restarts")
        restarts(stage)
        step("the guide")
        guide.over_zenoh(stage)
    print(f"pyzeros, eclipse-zenoh and the bridge passed {COUNT} messages each way bit for bit, over the wire of rmw_zenoh")
    return 0


def key(stage: Zeros, topic: str) -> str:
    """The key of vectors of a topic."""
    hash_ = next(line.split()[0] for line in stage.messages().splitlines() if line.endswith("geometry_msgs/msg/Vector3"))
    return f"0/{topic}/geometry_msgs::msg::dds_::Vector3_/{hash_}"


def wire(stage: Zeros) -> None:
    """Keys, tokens, attachments and payloads are those that others expect; both ways at once."""
    with stage.peer("receive", "vector_back", "vector", COUNT, 40) as ours, stage.peer("send", "vector", "vector", COUNT, EVERY_US) as sender:
        with stage.node("plain", key(stage, "vector_back"), "-", COUNT, 20) as plain:
            plain.expect("ready")
            ours.expect("matched")
            for one in (sender, plain):
                one.tell("go")
            complete(counts(ours.expect("result", 60)), COUNT, "vector from eclipse-zenoh", plain)
            told = json.loads(plain.expect("result", 60))
    kinds = {token.split("/")[5] for token in told["tokens"]}
    is_right = told["keys"] == [key(stage, "vector")] and told["lengths"] == [33] and told["are_known"] and told["is_counted"] and told["oldest_s"] < 60
    if not is_right or not {"NN", "MP", "MS"} <= kinds or told["got"] != [1, COUNT, 0]:
        raise ApplianceFailed(f"on the wire stands {told}, and the key should be {key(stage, 'vector')}")
    detail(f"vector to eclipse-zenoh: {COUNT} messages, each as it was sent, under {told['keys'][0][:40]}…, with the number that pyzeros computes")


def mismatches(stage: Zeros, bridge: Process) -> None:
    """Over Zenoh messages go all the same, and the journal says what does not fit."""
    name, hash_ = key(stage, "vector").split("/")[2:]
    # pyzeros has no durability yet, so this one is a token only.
    longing = f"@ros2_lv/0/{'1' * 32}/0/11/MS/%/%/longing/%vector/{name}/{hash_}/:1:,10:,:,:,,"
    for verb, topic, options, told in (
        ("token", longing, (), "/vector: durability does not fit: a subscription asks for transient_local"),
        ("send", "/vector_back", ("best_effort",), "/vector_back: reliability does not fit: the bridge asks for reliable"),
    ):  # fmt: skip
        with stage.node(verb, topic, "vector", 1, 20, *options) as node:
            node.expect("ready")
            bridge.expect(told, 20)
    with stage.peer("send", "plain", "vector", 1, 1, 16, "latest"), stage.node("receive", "/plain", "vector", 1, 20):
        bridge.expect("/plain: reliability does not fit: a subscription asks for reliable", 20)
    detail("three mismatches are told")


def restarts(stage: Zeros) -> None:
    """The bridge is killed and started again while the others stay, and the link is made again; then the node is, which comes late."""
    with stage.bridge() as first, stage.peer("send", "vector", "vector", STAYING, 1000) as sender:
        with stage.node("receive", "/vector", "vector", STAYING, 45) as receiver:
            receiver.expect("matched")
            sender.tell("go")
            receiver.expect("begun")
            first.kill()
            with stage.bridge():
                with stage.node("receive", "/vector", "vector", STAYING, 45) as killed:
                    killed.expect("matched")
                    killed.kill()
                with stage.node("receive", "/vector", "vector", MORE, 45, "more") as again:
                    late = json.loads(again.expect("result", 60))
                receiver.tell("enough")
                stayed = json.loads(receiver.expect("result", 20))
    for got, least, gaps, who in (
        (late, 1, 0, "a node that was killed and started again"), (stayed, late["last"], 1, "the node that stayed while the bridge was killed"),
    ):  # fmt: skip
        if got["last"] < least or (got["wrong"], got["gaps"]) != (0, gaps):
            raise ApplianceFailed(f"{who} got {got}")
        detail(f"{who} got messages {got['first']} to {got['last']}, with {gaps} gaps")


if __name__ == "__main__":
    run_command(lambda: each_way.alone("checks.ros2.zenoh", inside))
