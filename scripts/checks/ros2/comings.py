"""Who comes late, goes, is killed, or asks for more than it is given: between topics and the real ROS 2, over DDS."""

import json
import signal
import time
from contextlib import ExitStack

from checks.ros2.processes import INTERRUPTED, interrupted
from checks.ros2.stage import Ros, account, counts
from horus_appliance.console import ApplianceFailed, detail

# More messages than pass while programs come, or one is killed and another one comes. What is sent after a subscription was killed finds room
# in what is kept for it.
STAYING, STAYING_EVERY_US = 60_000, 2_000
# Messages by which one is seen to go on.
MORE = 500
BACK = 4_000
KEPT = 12
# What is kept for late ones, and what no subscription may ask for: the second bridge of these checks.
SETTINGS = """
[to_ros.vector]
topic = "/kept"
durability = "transient_local"
depth = 8
[to_ros.plain]
topic = "/plain"
reliability = "best_effort"
[to_ros.forgetful]
topic = "/forgetful"
[from_ros.vector_back]
topic = "/kept_back"
durability = "transient_local"
message = "horus/Vector3"
delivery_policy = "reliable"
capacity = 4096
[from_ros.strict]
topic = "/strict"
message = "horus/Vector3"
delivery_policy = "reliable"
[from_ros.longing]
topic = "/longing"
message = "horus/Vector3"
durability = "transient_local"
"""


def late(stage: Ros) -> None:
    """Who comes later gets what comes from then on, without a gap: a subscription of ROS, and one of ours."""
    with ExitStack() as stack:
        run = stack.enter_context
        sender, node = run(stage.peer("send", "vector", "vector", STAYING, 1000)), run(stage.node("send", "/vector_back", "vector", STAYING, 1000))
        for one in (sender, node):
            one.expect("ready")
            one.tell("go")
        run(stage.peer("receive", "vector_back", "vector", STAYING, 50)).expect("begun", 60)  # so the next one is late
        theirs, ours = run(stage.node("receive", "/vector", "vector", MORE, 50, "more")), run(stage.peer("receive", "vector_back", "vector", STAYING, 50))
        ours.expect("begun", 60)
        results = [json.loads(theirs.expect("result", 60))]
        for one in (sender, node):
            one.tell("enough")
            one.expect("sent")
        ours.tell("enough")
        results.append(counts(ours.expect("result", 60)))
        for got, who in zip(results, ("a subscription of ROS", "a subscriber of ours"), strict=True):
            if not 1 < got["first"] < got["last"] or got["wrong"] or got["gaps"]:
                raise ApplianceFailed(f"{who} that came late got {got}")
            detail(f"{who} that came late got messages {got['first']} to {got['last']}")


def restarts(stage: Ros) -> None:
    """Bridge, subscription and publisher are killed in turn and started again, between others that stay."""
    with ExitStack() as stack:
        run = stack.enter_context
        sender, first = run(stage.peer("send", "vector", "vector", STAYING, STAYING_EVERY_US)), run(stage.bridge())
        node = run(stage.node("send", "/vector_back", "vector", STAYING, STAYING_EVERY_US, "keep_last"))
        theirs = run(stage.node("receive", "/vector", "vector", STAYING, 50))
        ours = run(stage.peer("receive", "vector_back", "vector", STAYING, 50, 4096))
        for one in (theirs, ours):
            one.expect("matched")
        for one in (sender, node):
            one.tell("go")
        for one in (theirs, ours):
            one.expect("begun")
        first.kill()
        bridge = run(stage.bridge())
        killed = run(stage.node("receive", "/vector", "vector", STAYING, 50))
        killed.expect("matched")
        killed.kill()
        again = json.loads(run(stage.node("receive", "/vector", "vector", MORE, 50, "more")).expect("result", 60))
        went_on(again, 1, 0, "a subscription that was killed and started again")
        for one in (theirs, ours):
            one.tell("enough")
        went_on(json.loads(theirs.expect("result", 20)), again["first"], 1, "the subscription that stayed")
        went_on(counts(ours.expect("result", 20)), MORE, 1, "our subscriber, of the publisher that stayed,")
        node.kill()
        publisher_again(stage)
        bridge.end()


def stopped(stage: Ros) -> None:
    """The bridge is stopped for a while, as by a debugger: it says so, and both ways go on with those that stayed. What is kept for who comes late still is."""
    settings = stage.write("kept.toml", SETTINGS)
    with ExitStack() as stack:
        run = stack.enter_context
        bridge = run(stage.bridge("ros2", "--dds", "--config", settings))
        sender = run(stage.peer("send", "forgetful", "vector", STAYING, STAYING_EVERY_US))
        node = run(stage.node("send", "/kept_back", "vector", STAYING, STAYING_EVERY_US, "transient_local", "keep_last"))
        theirs, ours = run(stage.node("receive", "/forgetful", "vector", STAYING, 60)), run(stage.peer("receive", "vector_back", "vector", STAYING, 60, 4096))
        kept = run(stage.peer("send", "vector", "vector", KEPT, 1000))
        for one in (theirs, ours):
            one.expect("matched")
        for one in (sender, node, kept):
            one.tell("go")
        kept.expect("sent")
        for one in (theirs, ours):
            one.expect("begun")
        bridge.process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        bridge.process.send_signal(signal.SIGCONT)
        bridge.expect(INTERRUPTED, 20)
        interrupted.clear()
        again = json.loads(run(stage.node("receive", "/forgetful", "vector", MORE, 50, "more")).expect("result", 60))
        went_on(again, 1, 0, "a subscription that came after the bridge was stopped")
        asking = run(stage.node("receive", "/kept", "vector", KEPT, 20, "transient_local"))
        whole(json.loads(asking.expect("result", 30)), KEPT - 7, "one that asks for what was kept before")
        ours.expect("gap", 60)
        for one in (theirs, ours):
            one.tell("enough")
        went_on(json.loads(theirs.expect("result", 20)), again["first"], 1, "the subscription that stayed")
        got = counts(ours.expect("result", 20))
        if (got["wrong"], got["gaps"]) != (0, 1):
            raise ApplianceFailed(f"our subscriber got, of a publisher that stayed while the bridge was stopped, {got}")
        told = account(bridge.end(), "vector_back")
        if told["late"] or told["lost"] != got["absent"]:
            raise ApplianceFailed(f"{got['absent']} messages are absent, and the bridge says {told}")
        detail(f"after the bridge was stopped for a second, both ways went on; {got['absent']} messages from ROS are absent, and counted")


def publisher_again(stage: Ros) -> None:
    """A publisher of ROS is killed in the middle of its messages; one that comes after it begins anew."""
    with stage.peer("receive", "vector_back", "vector", BACK, 40, 4096) as ours:
        with stage.node("send", "/vector_back", "vector", BACK - 1, 1000) as killed:
            ours.expect("matched")
            killed.tell("go")
            ours.expect("begun")
            killed.kill()
        with stage.node("send", "/vector_back", "vector", BACK, 500) as again:
            again.expect("ready")
            again.tell("go")
            went_on(counts(ours.expect("result", 50)), BACK, 1, "our subscriber, of a publisher that was killed and one after it,")


def kept_and_refused(stage: Ros) -> None:
    """What is kept for who comes late is given to it; who asks for more than is given is named, on both ways, with what to do."""
    settings = stage.write("kept.toml", SETTINGS)
    with ExitStack() as stack:
        run = stack.enter_context
        theirs = run(stage.node("send", "/kept_back", "vector", KEPT, 1000, "transient_local"))
        theirs.expect("ready")
        theirs.tell("go")
        theirs.expect("sent")
        ours = run(stage.peer("receive", "vector_back", "vector", KEPT, 40))
        senders = [run(stage.peer("send", topic, "vector", KEPT, 1000, *options)) for topic, *options in (("vector",), ("plain", 16, "latest"), ("forgetful",))]
        bridge = run(stage.bridge("ros2", "--dds", "--config", settings))
        # All of them were sent before the bridge came.
        whole(counts(ours.expect("result", 40)), 1, "our subscriber, of what was kept in ROS 2")
        for one in senders:
            one.tell("go")
            one.expect("sent")
        # Who asks for nothing old gets nothing old: it waits as long as the other one may take.
        volatile = run(stage.node("receive", "/kept", "vector", KEPT, 6))
        got = json.loads(volatile.expect("result", 30))
        if got["last"]:
            raise ApplianceFailed(f"a volatile subscription that came late got what was sent before it: {got}")
        detail("a volatile subscription that came late got nothing of what was sent before it")
        whole(json.loads(run(stage.node("receive", "/kept", "vector", KEPT, 20, "transient_local")).expect("result", 30)), KEPT - 7, "a subscription, of what the bridge keeps")
        for verb, topic, *options in (("receive", "/plain"), ("receive", "/forgetful", "transient_local"), ("send", "/strict", "best_effort"), ("send", "/longing")):
            run(stage.node(verb, topic, "vector", 10, 20, *options))
        wanted = {
            "/plain: reliability does not fit: a subscription asks for reliable", "/forgetful: durability does not fit: a subscription asks for Transient",
            "/strict: reliability does not fit: the bridge asks for reliable", "/longing: durability does not fit: the bridge asks for Transient",
        }  # fmt: skip
        bridge.expect_all(wanted, 30)
        detail("four mismatches are told, with what to write")


def whole(got: dict, first: int, who: str) -> None:
    if got["first"] != first or (got["last"], got["wrong"], got["gaps"]) != (KEPT, 0, 0):
        raise ApplianceFailed(f"{who} got {got}")
    detail(f"{who}: messages {got['first']} to {KEPT}")


def went_on(got: dict, least: int, gaps: int, who: str) -> None:
    """As far as that, with one gap where a program was away, and none else."""
    if got["last"] < least or (got["wrong"], got["gaps"]) != (0, gaps):
        raise ApplianceFailed(f"{who} got {got}")
    detail(f"{who} got messages {got['first']} to {got['last']}, with {got['gaps']} gaps")
