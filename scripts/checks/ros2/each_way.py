"""Messages of a kind from topics to ROS 2 and back, each compared: what the checks over DDS and over Zenoh have in common."""

import json
import sys

from checks.ros2 import places
from checks.ros2.processes import Process, interrupted
from checks.ros2.stage import Stage, complete, counts
from horus_appliance.console import ApplianceFailed, detail

COUNT = 10_000
EVERY_US = 400
# Seconds that a receiver waits for its last message at most: others' programs are slow on a busy machine.
LIMIT = 100
# Checks that may begin again, because the machine was frozen in them.
FREEZES = 2
# No message of these is lost, so their rings are long.
SETTINGS = """
[to_ros.vector]
topic = "/vector"
[to_ros.text]
topic = "/text"
[from_ros.vector_back]
topic = "/vector_back"
message = "horus/Vector3"
delivery_policy = "reliable"
capacity = 4096
[from_ros.text_back]
topic = "/text_back"
bytes = 256
delivery_policy = "reliable"
capacity = 4096
"""


def alone(module: str, inside) -> int:
    """Runs `inside` of a check's module in a network that nothing leaves, with all that it needs there."""
    if sys.argv[1:] == ["--inside"]:
        return unless_frozen(inside)
    places.ros()
    places.programs()
    return places.alone(module, "--inside")


def unless_frozen(inside) -> int:
    """A bridge loses messages where the machine is frozen for a moment, as docs/ros2.md says: a check that fails then says nothing, and begins again."""
    for _ in range(FREEZES):
        interrupted.clear()
        try:
            return inside()
        except ApplianceFailed as error:
            if not interrupted:
                raise
            detail(f"{error}\nThe waits of {interrupted[0]} were interrupted meanwhile, so this machine was frozen: the check begins again.")
    return inside()


def to_ros(stage: Stage, kind: str, count: int = COUNT, every_us: int = EVERY_US, *topic, **node) -> None:
    """All messages of a topic arrive at a node of the others, `node` of them, as they were sent."""
    receive = ("receive", f"/{kind}", kind, count, LIMIT)
    with stage.peer("send", kind, kind, count, every_us, *topic) as sender, stage.node(*receive, **node) as receiver:
        complete(json.loads(passed(sender, receiver)), count, f"{kind} to {stage.others}", sender)


def from_ros(stage: Stage, kind: str, count: int = COUNT, every_us: int = EVERY_US, *options, then=None, **node) -> None:
    """The other way; `then` is called with the node that sent."""
    send = ("send", f"/{kind}_back", kind, count, every_us)
    with stage.peer("receive", f"{kind}_back", kind, count, LIMIT, *options) as receiver, stage.node(*send, **node) as sender:
        complete(counts(passed(sender, receiver)), count, f"{kind} from {stage.others}", sender)
        if then:
            then(sender)


def passed(sender: Process, receiver: Process) -> str:
    """Has one send as soon as the other is there; gives what the other says of all that came."""
    receiver.expect("matched")
    sender.tell("go")
    return receiver.expect("result", 1.5 * LIMIT)
