"""Three appliances that share topics over a line that is slow, loses packets, and is cut: python3 -m checks.ros2.fleet.

Each is a network namespace of its own, joined by a bridge. Where the kernel has netem, packets are delayed and lost.
"""

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from checks.ros2 import places
from checks.ros2.processes import Process
from checks.ros2.rclpy import KINDS, counts
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system

ROBOTS = ("robot1", "robot2", "robot3")
COUNT = 5_000
EVERY_US = 1000


class Robot:
    """A network namespace with an address, held by a process that does nothing, and topics of its own."""

    def __init__(self, number: int, stack: ExitStack):
        self.name, self.address = f"robot{number}", f"10.77.0.{number}"
        self.topics = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo here; exec sleep 300"], stdout=subprocess.PIPE, text=True)
        stack.callback(self.end)
        self.holder.stdout.readline()
        self.line = f"line{number}"
        run(["ip", "link", "add", self.line, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid)])
        run(["ip", "link", "set", self.line, "master", "hub", "up"])
        for words in ("link set lo up", f"address add {self.address}/24 dev eth0", "link set eth0 up"):
            run([*self.inside(), "ip", *words.split()])

    def inside(self) -> list:
        return ["nsenter", "--net", f"--target={self.holder.pid}"]

    def start(self, name: str, program: Path, *arguments) -> Process:
        return Process(f"{name} of {self.name}", [*self.inside(), program, *arguments], self.topics)

    def bridge(self, others: list, *arguments) -> Process:
        connect = [word for other in others for word in ("--connect", f"tcp/{other.address}:7447")]
        words = ["zenoh", "--name", self.name, "--listen", f"tcp/{self.address}:7447", *connect, *arguments]
        return self.start("the bridge", places.BRIDGE / "target" / "debug" / "horus-bridge", *words)

    def peer(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        return self.start(f"peer {verb} {topic}", places.BRIDGE / "target" / "debug" / "examples" / "peer", verb, topic, KINDS[kind], *arguments)

    def end(self) -> None:
        self.holder.kill()
        self.holder.wait(10)


def run(command: list) -> bool:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "netem" not in command:
        raise ApplianceFailed(f"'{' '.join(map(str, command))}': {done.stderr}")
    return done.returncode == 0


def main() -> int:
    if sys.argv[1:] == ["--inside"]:
        return inside()
    for command, package in (("nsenter", "util-linux"), ("tc", "iproute2")):
        system.ensure_command(command, package)
    places.programs()
    return places.alone("checks.ros2.fleet", "--inside")


def inside() -> int:
    with ExitStack() as stack:
        run(["ip", "link", "add", "hub", "type", "bridge"])
        run(["ip", "link", "set", "hub", "up"])
        one, two, three = (Robot(number, stack) for number in (1, 2, 3))
        # The third one is reached through the others: it is told of the first only.
        stack.enter_context(one.bridge([], "--share", "imu"))
        stack.enter_context(two.bridge([one], "--share", "vector", "--take", "robot1/imu=robot1.imu"))
        stack.enter_context(three.bridge([one], "--take", "robot1/imu=robot1.imu", "--take", "robot2/vector=robot2.vector"))
        step("two topics among three appliances")
        passes(one, [two, three], "imu", "robot1.imu", "imu")
        passes(two, [three], "vector", "robot2.vector", "vector")
        has_netem = all(run(["tc", "qdisc", "add", "dev", robot.line, "root", "netem", "delay", "20ms", "5ms", "loss", "2%"]) for robot in (one, two, three))
        if has_netem:
            step("the same with 20 ms of delay and 2 % of packets lost")
            passes(one, [two, three], "imu", "robot1.imu", "imu")
        else:
            detail("this kernel has no netem: without delay and loss")
        step("a line is cut and joined again")
        cut(one, two)
    print("three appliances found each other, passed their topics, and went on after a cut line" + ("" if has_netem else "; without netem"))
    return 0


def passes(sender: Robot, receivers: list, topic: str, taken: str, kind: str) -> None:
    with ExitStack() as stack:
        # The sender first: a receiver learns from it what the topic is.
        sending = stack.enter_context(sender.peer("send", topic, kind, COUNT, EVERY_US))
        receiving = [stack.enter_context(robot.peer("receive", taken, kind, COUNT, 40, 16, "latest")) for robot in receivers]
        for one in receiving:
            one.expect("matched")
        sending.tell("go")
        for one, robot in zip(receiving, receivers, strict=True):
            got = counts(one.expect("result", 60))
            if got["wrong"] or got["last"] != COUNT:
                raise ApplianceFailed(f"{robot.name} got of {taken} {got}\n{sending.tail()}")
            detail(f"{robot.name} got {taken}: {got['last']} messages, {got['missed']} overwritten before they were read")


def cut(one: Robot, two: Robot) -> None:
    with one.peer("send", "imu", "imu", 20_000, 1000) as sending, two.peer("receive", "robot1.imu", "imu", 20_000, 50, 16, "latest") as receiving:
        receiving.expect("matched")
        sending.tell("go")
        run(["ip", "link", "set", two.line, "down"])
        subprocess.run(["sleep", "3"], check=True)
        run(["ip", "link", "set", two.line, "up"])
        got = counts(receiving.expect("result", 70))
    if got["wrong"] or got["last"] != 20_000:
        raise ApplianceFailed(f"after the line was joined again, {two.name} got {got}\n{sending.tail()}")
    detail(f"after 3 s without a line {two.name} got the rest, up to message {got['last']}")


if __name__ == "__main__":
    run_command(main)
