"""Services, actions, parameters, transforms and latched topics of a real ROS 2: python3 -m checks.ros2.exchange.

One bridge, one node of rclpy, one program of Cyclone DDS (for tf2's messages, which PyPI lacks for rclpy) and programs of ours meet in a network of
their own.
"""

import json
import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from checks.ros2 import each_way
from checks.ros2.processes import Process
from checks.ros2.stage import NODES, Ros, is_well
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.paths import BUILD

CALLS, FLOOD = 200, 10_000
# Of the definition of an action that PyPI has for rclpy.
ACTION = BUILD / "ros2" / "share" / "test_msgs" / "action" / "Fibonacci.action"
FIBONACCI = [0, 1, 1, 2, 3, 5]
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
SETTINGS = f"""
definitions = ["{ACTION}"]
[service_to_ros."plan.make"]
service = "/make_plan"
type = "nav_msgs/srv/GetPlan"
[service_to_ros."plan.never"]
service = "/never_plan"
type = "nav_msgs/srv/GetPlan"
limit_ms = 500
[service_from_ros."plan.ask"]
service = "/ros_plan"
type = "nav_msgs/srv/GetPlan"
[service_from_ros."plan.slow"]
service = "/slow_plan"
type = "nav_msgs/srv/GetPlan"
limit_ms = 300
[action_to_ros."drive.to"]
action = "/drive_to"
type = "test_msgs/action/Fibonacci"
[action_from_ros."ros.drive"]
action = "/ros_drive"
type = "test_msgs/action/Fibonacci"
[parameters.nav]
[transforms]
to_ros = true
from_ros = true
[to_ros.map]
topic = "/map"
type = "nav_msgs/msg/OccupancyGrid"
[from_ros.map_back]
topic = "/map_back"
type = "nav_msgs/msg/OccupancyGrid"
"""


class Meeting(Ros):
    def robot(self, *words) -> Process:
        """A program of ours."""
        return Process(f"robot {' '.join(words)}", [self.programs / "examples" / "robot", *words], self.topics)

    def of_ros(self, script: str) -> Process:
        profile = {"FASTDDS_DEFAULT_PROFILES_FILE": str(self.profile)}
        return Process(script, [self.python, NODES / script], self.topics, **profile)


def ask(process: Process, *words) -> dict:
    """Has a node do something; gives what it says."""
    process.tell(" ".join(map(str, words)))
    return json.loads(process.expect("result", 60))


def order(process: Process, *words) -> None:
    process.tell(" ".join(map(str, words)))
    process.expect("done")


def is_so(got, wanted, what: str) -> None:
    if got != wanted:
        raise ApplianceFailed(f"{what}: {got}, and not {wanted}")


def inside() -> int:
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir="/dev/shm") as topics, ExitStack() as stack:
        stage = Meeting(Path(place), Path(topics), SETTINGS)
        # A map that is there before the bridge comes goes to ROS, too.
        with stage.robot("map", "send", "map", "7") as sender:
            sender.expect("sent")
            sender.process.wait(10)
        bridge = stack.enter_context(stage.bridge())
        ros, frames = stack.enter_context(stage.of_ros("robot.py")), stack.enter_context(stage.of_ros("frames.py"))
        for one in (ros, frames):
            one.expect("ready")
        step("latched topics")
        latched(stage, ros)
        step("transforms")
        transforms(stage, frames)
        step("services of ours")
        ours(stage, ros, bridge)
        step("services of ROS 2")
        theirs(stage, ros)
        step("actions")
        actions_of_ours(stage, ros)
        actions_of_theirs(stage, ros)
        step("parameters")
        parameters(stage, ros)
        is_well(bridge)
        said = bridge.end()
        answered(said)
    print(f"services, actions, parameters, transforms and latched topics passed between rclpy and the bridge, {CALLS} calls each way")
    return 0


def latched(stage: Meeting, ros: Process) -> None:
    is_so(ask(ros, "late", "/map", 7), {"value": 7, "width": 300}, "a late subscription of ROS 2 gets the map of a program that has ended")
    with stage.robot("map", "send", "map", "9") as sender:
        sender.expect("sent")
    for what in ("stay", "", "stay"):
        is_so(ask(ros, "late", "/map", 9, what), {"value": 9, "width": 300}, "one more subscription, also when another one has gone")
    order(ros, "latch", "/map_back", 5)
    for who in ("the first", "a late one"):
        with stage.robot("map", "receive", "map_back", "5") as receiver:
            is_so(receiver.expect("result"), "the map 5 came", f"a map of ROS 2, {who}")
    detail("late subscriptions get the newest map, each way, also of a program that has ended")


def transforms(stage: Meeting, frames: Process) -> None:
    with stage.robot("frames") as robot:
        robot.expect("ready")
        fixed = ask(frames, "late", "lidar", "static")
        is_so((fixed["parent"], fixed.get("x")), ("base", 0.5), "a static frame of ours, to who comes late")
        moving = ask(frames, "late", "base", "moving")
        is_so((moving["parent"], moving.get("y")), ("odom", 1.0), "a moving frame of ours")
        if not -1 < moving["age"] < 5:
            raise ApplianceFailed(f"a transform that was just sent has an age of {moving['age']} s in ROS 2")
        ask(frames, "send", "base", "camera", 4, "static")
        ask(frames, "send", "map", "odom", 10, "moving")
        is_so(looked(robot, "base camera"), ("4.000", "2.000", "fixed"), "a static frame of ROS 2")
        is_so(looked(robot, "map odom"), ("10.000", "2.000", "moving"), "a moving frame of ROS 2")
        looked(robot, "map lidar")
        ask(frames, "send", "base", "camera", 6, "static")
        while looked(robot, "base camera")[0] != "6.000":
            pass  # `looked` ends by itself
        # What came from ROS does not go there again.
        again = ask(frames, "late", "lidar", "static")
        is_so(again["beside"], ["lidar"], "static frames of ours, without those of ROS 2")
    detail("frames of both sides are known on both sides, the static ones to who comes late")


def looked(robot: Process, frames: str) -> tuple:
    """What a program of ours is told of a frame of ROS 2, as soon as it is known."""
    for _ in range(400):
        robot.tell(frames)
        line = robot.expect_all({" "})  # `found …` or `none …`
        if line.startswith("found"):
            return tuple(line.split()[1:])
        time.sleep(0.05)
    raise ApplianceFailed(f"{frames} is not known: {line}")


def ours(stage: Meeting, ros: Process, bridge: Process) -> None:
    with stage.robot("serve", "plan.make") as server:
        server.expect("ready")
        is_so(ask(ros, "call", "/make_plan", CALLS), {"right": CALLS, "unanswered": 0}, "calls of rclpy to a server of ours")
        with stage.robot("serve", "plan.never", "silent") as silent:
            silent.expect("ready")
            before = memory(bridge)
            is_so(ask(ros, "flood", "/never_plan", FLOOD), {"asked": FLOOD, "answered": 0}, "calls that are never answered")
            is_so(ask(ros, "call", "/make_plan", CALLS), {"right": CALLS, "unanswered": 0}, "calls beside them")
            if (more := memory(bridge) - before) > 64 << 10:
                raise ApplianceFailed(f"{FLOOD} calls that were never answered left {more} kB in the bridge")
            is_so(ask(ros, "call", "/make_plan", CALLS), {"right": CALLS, "unanswered": 0}, "calls after them")
    for _ in range(2):
        is_so(ask(ros, "gone", "/make_plan"), {"gone": True}, "a server of ours that ended, as ROS 2 sees it")
        with stage.robot("serve", "plan.make") as server:
            server.expect("ready")
            is_so(ask(ros, "call", "/make_plan", CALLS), {"right": CALLS, "unanswered": 0}, "calls of rclpy to a server of ours that came again")
    detail(f"rclpy called a server of ours {5 * CALLS} times, beside {FLOOD} calls that had no answer, and saw it end and come again")


def memory(process: Process) -> int:
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])


def theirs(stage: Meeting, ros: Process) -> None:
    order(ros, "serve", "/ros_plan")
    with stage.robot("call", "plan.ask", str(CALLS), "20000") as client:
        is_so(client.expect("result", 60), f"right {CALLS}, wrong 0, failed 0:", "calls of ours to a server of rclpy")
    order(ros, "serve", "/slow_plan", 1)
    with stage.robot("call", "plan.slow", "2", "20000") as client:
        told = client.expect("result", 60)
        if not re.match(r"right 0, wrong 0, failed \d: the server of plan.slow gave no answer", told):
            raise ApplianceFailed(f"a server of rclpy that is too slow: {told}")
    with stage.robot("call", "plan.ask", "100000", "20000") as client:
        client.expect("ready")
        client.expect("begun")
        order(ros, "unserve", "/ros_plan")
        told = client.expect("result", 60)
        if "the server of plan.ask stopped before it answered" not in told and "has no server" not in told:
            raise ApplianceFailed(f"a server of rclpy that went: {told}")
    detail(f"programs of ours called a server of rclpy {CALLS} times, and were told that one gave no answer in time, and that one went")


def actions_of_ours(stage: Meeting, ros: Process) -> None:
    """An ActionClient of rclpy drives a server of ours."""
    with stage.robot("act", "drive.to", str(ACTION)) as server:
        server.expect("ready")
        told = ask(ros, "drive", "/drive_to", 5)
        is_so(told, {"accepted": True, "status": SUCCEEDED, "sequence": FIBONACCI, "heard": True, "seen": True}, "a goal of rclpy")
        told = ask(ros, "drive", "/drive_to", 100, "cancel")
        is_so([told["canceling"], told["status"], told["heard"], told["seen"], told["sequence"][:3]], [[True], CANCELED, True, True, FIBONACCI[:3]], "one that was canceled")
        told = ask(ros, "drive", "/drive_to", 0)
        is_so([told["accepted"], told["status"], told["sequence"]], [True, ABORTED, []], "one that was aborted")
        ros.tell("drive /drive_to 100 stay")
        ros.expect("runs")
        server.kill()
        told = json.loads(ros.expect("result", 60))
        is_so([told["status"], told["sequence"]], [ABORTED, []], "one whose server was killed")
    detail("an ActionClient of rclpy drove a server of ours: a goal succeeded, one was canceled, one aborted, and one ended with its server")


def actions_of_theirs(stage: Meeting, ros: Process) -> None:
    """A client of ours drives an ActionServer of rclpy."""
    order(ros, "act", "/ros_drive")
    with stage.robot("drive", "ros.drive", str(ACTION)) as client:
        client.expect("begun")
        for line, wanted in (
            ("5", f"heard succeeded {FIBONACCI}"),
            ("100 cancel", "heard canceled [0, 1, 1"),
            ("0", "unheard aborted [] the server in ROS gave it up"),
            ("2000", "unheard aborted [] the server in ROS rejected the goal"),
        ):
            client.tell(line)
            told = client.expect("result", 60)
            if not told.startswith(wanted):
                raise ApplianceFailed(f"a goal {line} of ours to a server of rclpy: {told}, and not {wanted}")
        client.tell("100 stay")
        client.expect("runs")
        order(ros, "unact", "/ros_drive")
        told = client.expect("result", 60)
        if "its server in ROS is gone" not in told:
            raise ApplianceFailed(f"a goal whose server of rclpy went: {told}")
    detail("a client of ours drove an ActionServer of rclpy: a goal succeeded, one was canceled, one aborted, one rejected, and one ended with its server")


def parameters(stage: Meeting, ros: Process) -> None:
    with stage.robot("parameters", "nav") as program:
        program.expect_all({"drive 0.8 slow", "spin 3 false"})
        told = ask(ros, "parameters", "nav")
        program.expect_all({"drive 3.5 fast"})
    wanted = {
        "there": True,
        "names": ["drive.gain", "drive.mode", "spin.armed", "spin.model", "spin.turns"],
        "prefixes": ["drive", "spin"],
        "within": ["spin.armed", "spin.model", "spin.turns"],
        "values": [0.8, "slow", 3, False, None],
        "types": [3, 4, 2, 1, 0],
        "gain": ["speed for a metre of distance", "unit: 1/s", False, [[0.0, 4.0]]],
        "turns": [[0, 10]],
        "model": True,
        "set": [[True, ""], [False, "turns may be a whole number from 0 to 10; it stays 3"], [True, ""]],
        "refused together": [[False, "turns may be a whole number from 0 to 10; it stays 3"]],
        "after that": [1.5, "slow", 3, True, None],
        "together": [[True, ""]],
        "at last": [3.5, "fast", 3, True, None],
        "no list": [[False, "drive.gain is a truth value, a whole number, a number or a text: it can be no list, and cannot be removed"]],
        "events": ["drive.gain", "drive.mode", "spin.armed"],
    }
    for key, value in wanted.items():
        is_so(told[key], value, f"parameters, {key}")
    detail("rclpy listed, described, got and set the parameters of a program, together or not at all")


def answered(said: str) -> None:
    """The bridge tells what became of calls."""
    if not (found := re.search(r"plan\.never: (\d+) calls answered, (\d+) unanswered, (\d+) refused", said)):
        raise ApplianceFailed(f"the bridge does not tell of calls that were not answered:\n{said[-3000:]}")
    if int(found[1]) or not 0 < int(found[2]) + int(found[3]) <= FLOOD:
        raise ApplianceFailed(f"of {FLOOD} calls that were not answered the bridge says: {found[0]}")


if __name__ == "__main__":
    run_command(lambda: each_way.alone("checks.ros2.exchange", inside))
