"""Three appliances that share topics over a line that is slow, loses packets, and is cut: python3 -m checks.ros2.fleet.

Each is a network namespace of its own, joined by a bridge. Where the kernel has netem, packets are delayed and lost. Everywhere a relay delays what
goes between two of them, and cuts it; it cannot lose a part, because there is no loss in a stream of TCP.
"""

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from checks.ros2 import places
from checks.ros2.processes import Process
from checks.ros2.stage import KINDS, account, counts
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system

COUNT = 5_000
EVERY_US = 1000
# Messages while a line is cut for so long.
CUT_COUNT = 12_000
CUT_SECONDS = 3
DELAY_MS, JITTER_MS = 20, 5
RELAY_PORT = 7500


class Robot:
    """A network namespace with an address, held by a process that does nothing, and topics of its own."""

    def __init__(self, number: int, stack: ExitStack):
        self.name, self.address, self.variables = f"robot{number}", f"10.77.0.{number}", {}
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
        return Process(f"{name} of {self.name}", [*self.inside(), program, *arguments], self.topics, **self.variables)

    def bridge(self, others: list, *arguments) -> Process:
        connect = [word for other in others for word in ("--connect", f"tcp/{other.address}:7447")]
        return self.bridge_by("--listen", f"tcp/{self.address}:7447", *connect, *arguments)

    def bridge_by(self, *arguments) -> Process:
        words = ["zenoh", "--name", self.name, *arguments]
        return self.start("the bridge", places.PROGRAMS / "horus-bridge", *words)

    def peer(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        return self.start(f"peer {verb} {topic}", places.PROGRAMS / "examples" / "peer", verb, topic, KINDS[kind], *arguments)

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
        # Its topics are in a namespace, which is a part of the key.
        three.variables = {"HORUS_NAMESPACE": "arm"}
        sharing = stack.enter_context(one.bridge([], "--share", "imu", "--take", "robot3/arm/vector=robot3.vector"))
        taking = stack.enter_context(two.bridge([one], "--share", "vector", "--take", "robot1/imu=robot1.imu"))
        # The third one is reached through the others: it is told of the first only.
        take = ("--share", "vector", "--take", "robot1/imu=robot1.imu", "--take", "robot2/vector=robot2.vector")
        stack.enter_context(three.bridge([one], *take))
        step("three topics among three appliances, one of them in a namespace")
        lost = passes(one, [two, three], "imu", "robot1.imu", "imu")
        passes(two, [three], "vector", "robot2.vector", "vector")
        passes(three, [one], "vector", "robot3.vector", "vector")
        has_netem = all(run(["tc", "qdisc", "add", "dev", robot.line, "root", "netem", "delay", "20ms", "5ms", "loss", "2%"]) for robot in (one, two, three))
        if has_netem:
            step("the same with 20 ms of delay and 2 % of packets lost")
            lost += passes(one, [two, three], "imu", "robot1.imu", "imu")
        else:
            detail("this kernel has no netem: packets are not lost here")
        step("a line is cut and joined again")
        cut(one, two, lambda is_up: run(["ip", "link", "set", two.line, "up" if is_up else "down"]), sharing, taking, COUNT * (2 if has_netem else 1), lost)
        step(f"a line of {DELAY_MS} to {DELAY_MS + JITTER_MS} ms, which is cut")
        slow(one, two)
    print("three appliances found each other, passed their topics, and went on after a cut and slow line" + ("" if has_netem else "; without netem"))
    return 0


def slow(one: Robot, two: Robot) -> None:
    """Two appliances that reach each other through a relay only: all is late, and what was sent while it was cut is lost and counted."""
    script = Path(__file__).with_name("nodes") / "relay.py"
    line = (f"{one.address}:{RELAY_PORT}", "127.0.0.1:7447", DELAY_MS, JITTER_MS)
    with ExitStack() as stack:
        relay = stack.enter_context(one.start("the relay", Path(sys.executable), script, *line))
        relay.expect("ready")
        sharing = stack.enter_context(one.bridge_by("--listen", "tcp/127.0.0.1:7447", "--share", "imu"))
        taking = stack.enter_context(two.bridge_by("--connect", f"tcp/{one.address}:{RELAY_PORT}", "--take", "robot1/imu=robot1.imu"))
        lost = passes(one, [two], "imu", "robot1.imu", "imu")

        def set_line(is_up: bool) -> None:
            relay.tell("join" if is_up else "cut")
            relay.expect("joined" if is_up else "cut")

        cut(one, two, set_line, sharing, taking, COUNT, lost)
        relay.tell("say")
        held = dict(word.split("=") for word in relay.expect("held").split())
    # What came did come through it, and nothing sooner than it says.
    if int(held["bytes"]) < COUNT * 296 or float(held["least_ms"]) < DELAY_MS:
        raise ApplianceFailed(f"the relay held {held}")
    detail(f"the relay held {int(held['bytes']) // 1000} kB, each for {held['least_ms']} ms at least")


def passes(sender: Robot, receivers: list, topic: str, taken: str, kind: str) -> int:
    """How many messages the first receiver did not get: Zenoh drops some where a busy machine makes a line wait."""
    lost = []
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
            lost.append(COUNT - got["received"] - got["missed"])
            detail(f"{robot.name} got {taken}: {got['received']} of {COUNT} messages, {got['missed']} overwritten before they were read")
    return lost[0]


def cut(one: Robot, two: Robot, set_line, sharing: Process, taking: Process, passed: int, lost: int) -> None:
    """What was sent while the line was cut is lost, all of it is counted, and what comes after it comes in order. `passed` were sent before,
    of which `lost` were lost on the way.
    """
    with one.peer("send", "imu", "imu", CUT_COUNT, 1000) as sending, two.peer("receive", "robot1.imu", "imu", CUT_COUNT, 50, 16, "latest") as receiving:
        receiving.expect("matched")
        sending.tell("go")
        time.sleep(0.5)
        set_line(False)
        time.sleep(CUT_SECONDS)
        set_line(True)
        got = counts(receiving.expect("result", 70))
    if got["wrong"] or (got["first"], got["last"]) != (1, CUT_COUNT):
        raise ApplianceFailed(f"after the line was joined again, {two.name} got {got}\n{sending.tail()}")
    sent, came = account(sharing.end(), "imu"), account(taking.end(), "robot1.imu")
    counted = sent["missed"] + sent["lost"] + came["lost"] + got["missed"] - lost
    # A message 0, which only says that a sender is there, may be lost while two ends find each other: the bridges count it, the
    # receiver does not.
    zeros = sent["carried"] + sent["missed"] - passed - CUT_COUNT
    if not 0 < got["absent"] <= counted <= got["absent"] + zeros or came["late"] or came["refused"]:
        raise ApplianceFailed(f"{got['absent']} messages are absent, and {counted} were counted: {two.name} got {got}; its bridge says {came}, that of {one.name} {sent}")
    detail(f"after {CUT_SECONDS} s without a line {two.name} got the rest; {got['absent']} messages are absent, and the bridges counted {counted}")


if __name__ == "__main__":
    run_command(main)
